# Sanitizers for everything but targets whose property BAWN_PLAIN is set: the warden and tests/programs
# run under filters that a sanitizer runtime does not survive.
set(BAWN_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread; empty for none")
# Much of a sanitized build is code that nobody changed. What is compiled without sees no report, and
# ThreadSanitizer, which has to see every lock and counter, then reports what is none: leave it empty there.
set(BAWN_SANITIZE_TARGETS "" CACHE STRING "Only these targets are compiled with them; empty for all")
if(BAWN_SANITIZE)
  set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>)
  set(compiled ${sanitized})
  if(BAWN_SANITIZE_TARGETS)
    set(compiled "$<AND:${sanitized},$<IN_LIST:$<TARGET_PROPERTY:NAME>,${BAWN_SANITIZE_TARGETS}>>")
  endif()
  add_compile_options(
    "$<${compiled}:-fsanitize=${BAWN_SANITIZE}>"
    "$<${compiled}:-fno-sanitize-recover=all>"
    "$<${compiled}:-fno-omit-frame-pointer>")
  # GCC 12's ThreadSanitizer does not model fences and warns where Asio has some, beside its locks.
  if(BAWN_SANITIZE MATCHES thread)
    add_compile_options($<${compiled}:-Wno-tsan>)
  endif()
  add_link_options($<${sanitized}:-fsanitize=${BAWN_SANITIZE}>)
endif()
