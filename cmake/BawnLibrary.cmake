# bawn_library(<layer> [HEADERS ..] [SOURCES ..] [PUBLIC ..] [PRIVATE ..])
# One folder = one static library bawn_<layer>, alias and export name bawn::<layer>. Headers live in
# include/ and are installed; everything in src/ is private.
function(bawn_library layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;SOURCES;PUBLIC;PRIVATE")
  add_library(bawn_${layer} STATIC)
  add_library(bawn::${layer} ALIAS bawn_${layer})
  set_target_properties(bawn_${layer} PROPERTIES EXPORT_NAME ${layer})
  target_sources(bawn_${layer}
    PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${arg_HEADERS}
    PRIVATE ${arg_SOURCES})
  target_include_directories(bawn_${layer} PRIVATE src)
  target_compile_features(bawn_${layer} PUBLIC cxx_std_23)
  target_link_libraries(bawn_${layer} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:bawn_warnings>)
  install(TARGETS bawn_${layer} EXPORT bawnTargets FILE_SET HEADERS)
endfunction()

# bawn_program(<target> [DESTINATION dir])
# A program that users get: part of the target `programs` and of the install component of that name.
add_custom_target(programs)
function(bawn_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DESTINATION" "")
  if(NOT arg_DESTINATION)
    set(arg_DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
  add_dependencies(programs ${target})
  install(TARGETS ${target} DESTINATION ${arg_DESTINATION} COMPONENT programs)
endfunction()

# bawn_discover_tests(<target> <variant> PROPERTIES <property> <value> ..): all of the program's tests, named
# target.[variant.]test. Their properties come from a file of our own: gtest_discover_tests takes a value that is a
# list apart, and the rest of it for another property (CMake 3.25).
function(bawn_discover_tests target variant)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" PROPERTIES)
  set(name ${target})
  if(variant)
    string(APPEND name ".${variant}")
  endif()
  # One list that comes late stops ctest as a whole: a busy machine or a sanitizer makes it late.
  gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}."
    TEST_LIST ${name}.tests)
  set(words "")
  foreach(word IN LISTS arg_PROPERTIES)
    string(APPEND words " [==[${word}]==]")
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.properties.cmake)
  file(GENERATE OUTPUT ${file} CONTENT "set_tests_properties(\${${name}.tests} PROPERTIES${words})\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()

# bawn_test(<name> SOURCES .. [LIBRARIES ..] [LABELS ..] [TIMEOUT seconds] [ENVIRONMENT ..] [FIXTURES ..] [ALONE])
# ALONE: while no other test runs, since it changes what belongs to the whole machine.
# A GoogleTest program whose tests ctest lists one by one, each in a process of its own.
function(bawn_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "TIMEOUT" "SOURCES;LIBRARIES;LABELS;ENVIRONMENT;FIXTURES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} bawn_test_support bawn_warnings
    GTest::gmock_main)
  # A list among the values has its separator escaped.
  set(properties TIMEOUT ${arg_TIMEOUT})
  foreach(name_of_list LABELS ENVIRONMENT)
    if(arg_${name_of_list})
      string(REPLACE ";" "\\;" value "${arg_${name_of_list}}")
      list(APPEND properties ${name_of_list} "${value}")
    endif()
  endforeach()
  if(arg_ALONE)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  if(arg_FIXTURES)
    list(APPEND properties FIXTURES_REQUIRED "${arg_FIXTURES}")
  endif()
  bawn_discover_tests(${name} "" PROPERTIES ${properties})
endfunction()
