# The exported package: find_package(bawn) gives bawn::contract, bawn::sandbox, bawn::shell, bawn::mcp.
include(CMakePackageConfigHelpers)
install(EXPORT bawnTargets NAMESPACE bawn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bawn)
configure_package_config_file(cmake/bawnConfig.cmake.in bawnConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bawn)
write_basic_package_version_file(bawnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bawnConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/bawnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bawn)
