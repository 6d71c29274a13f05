# The warnings that every target of ours is built with. -Werror comes from the presets
# (CMAKE_COMPILE_WARNING_AS_ERROR), never from here, so that a new compiler breaks nobody's build.
add_library(bawn_warnings INTERFACE)
target_compile_options(bawn_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Wimplicit-fallthrough
  $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>)
