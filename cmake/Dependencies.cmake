# Third-party libraries, linked statically into programs where Debian ships an archive: `bawn run` is
# started for every command, and a dynamic linker's work over libstdc++, libseccomp, RE2 and libcrypto
# was measured at about the cost of starting the command itself.
option(BAWN_STATIC_DEPENDENCIES "Link third-party libraries and libstdc++ statically" ON)
if(BAWN_STATIC_DEPENDENCIES)
  set(OPENSSL_USE_STATIC_LIBS TRUE)
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers: Asio for the egress proxy, with Beast for HTTP
find_package(CURL 7.85 REQUIRED)   # remote MCP servers
find_package(PkgConfig REQUIRED)
pkg_check_modules(seccomp REQUIRED IMPORTED_TARGET libseccomp)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)

# bawn_prefer_archive(<imported target> <archive name>)
function(bawn_prefer_archive target archive)
  find_library(bawn_archive_${archive} NAMES lib${archive}.a)
  if(BAWN_STATIC_DEPENDENCIES AND bawn_archive_${archive})
    set_target_properties(${target} PROPERTIES
      INTERFACE_LINK_LIBRARIES "${bawn_archive_${archive}};Threads::Threads")
  endif()
endfunction()
bawn_prefer_archive(PkgConfig::seccomp seccomp)
bawn_prefer_archive(PkgConfig::re2 re2)

if(BAWN_STATIC_DEPENDENCIES)
  add_library(bawn_fmt STATIC cmake/fmt_static.cpp)
  target_compile_features(bawn_fmt PUBLIC cxx_std_17)
  set_target_properties(bawn_fmt PROPERTIES EXPORT_NAME fmt)
  add_library(fmt::fmt ALIAS bawn_fmt)
  install(TARGETS bawn_fmt EXPORT bawnTargets)
else()
  find_package(fmt 9 REQUIRED)
endif()
