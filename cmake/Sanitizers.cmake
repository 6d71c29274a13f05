# Sanitizers for everything but targets whose property BAWN_PLAIN is set: the warden and tests/programs
# run under filters that a sanitizer runtime does not survive.
set(BAWN_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread; empty for none")
if(BAWN_SANITIZE)
  add_compile_options(
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>:-fsanitize=${BAWN_SANITIZE}>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>:-fno-sanitize-recover=all>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>:-fno-omit-frame-pointer>)
  add_link_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:BAWN_PLAIN>>>:-fsanitize=${BAWN_SANITIZE}>)
endif()
