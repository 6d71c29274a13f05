# Fuzz targets. Each is one function LLVMFuzzerTestOneInput(data, size), as libFuzzer has it, and a
# folder of starting inputs. They are linked with the small coverage-guided driver of tests/fuzz/driver,
# because libFuzzer needs Clang.
option(BAWN_FUZZ "Compile everything so that the fuzz driver sees which code an input reaches" OFF)
if(BAWN_FUZZ)
  add_compile_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>:-fsanitize-coverage=trace-pc>)
endif()

# bawn_fuzz(<name> SOURCES .. [LIBRARIES ..] [CORPUS <folder>])
# The program fuzz_<name>, built by the target `fuzzers` and run by `./x fuzz`. The corpus (by default
# corpus/<name> beside the caller's CMakeLists.txt) is replayed by the ordinary test
# fuzz.<name>.corpus, so that an input that once broke something stays a test.
function(bawn_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LIBRARIES")
  if(NOT arg_CORPUS)
    set(arg_CORPUS ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name})
  endif()
  add_executable(fuzz_${name} ${arg_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE ${arg_LIBRARIES} bawn_fuzz_driver bawn_warnings)
  add_dependencies(fuzzers fuzz_${name})
  set_property(GLOBAL APPEND PROPERTY BAWN_FUZZ_TARGETS "${name}\t${arg_CORPUS}")
  add_test(NAME fuzz.${name}.corpus COMMAND fuzz_${name} --replay ${arg_CORPUS})
  set_tests_properties(fuzz.${name}.corpus PROPERTIES LABELS "unit;fuzz" TIMEOUT 60)
endfunction()

# Writes build/fuzzers.txt for `./x fuzz`: one target a line, its name and its corpus.
function(bawn_list_fuzzers)
  get_property(targets GLOBAL PROPERTY BAWN_FUZZ_TARGETS)
  list(JOIN targets "\n" lines)
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/fuzzers.txt CONTENT "${lines}\n")
endfunction()
