# What is installed beside the program and its manual pages, and packages of it:
#
#   cmake --build build/release && cpack --config build/release/CPackConfig.cmake -G DEB
#
# makes gpufilter_VERSION-1_ARCH.deb. The package has the files of "cmake --install"; what Debian wants otherwise
# (compressed, in other folders, its own changelog and copyright) is done to them by PackageDebian.cmake. Archives
# (-G TGZ) have the files as they are, below gpufilter-VERSION-SYSTEM-ARCH; sources are packed with
#
#   cpack --config build/release/CPackSourceConfig.cmake
set(GPUFILTER_MAINTAINER "The gpufilter authors <gpufilter@gpufilter.invalid>" CACHE STRING
    "Who answers for the Debian package: NAME <ADDRESS>")

install(FILES LICENSE NOTICE CHANGELOG.md TYPE DOC)

# The scripts are the program's own words, written when it is linked (app/CMakeLists.txt).
if(GPUFILTER_COMPLETES)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  install(FILES ${completions}/gpufilter.bash RENAME gpufilter
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/gpufilter.zsh RENAME _gpufilter
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/gpufilter.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gpufilter)
set(CPACK_PACKAGE_VENDOR "The gpufilter authors")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/PackageKinds.cmake)
set(CPACK_GPUFILTER_SOURCE ${PROJECT_SOURCE_DIR})
string(TOLOWER ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_SYSTEM_NAME)

# What builds leave and git keeps is no source; paths are whole, so that no folder above counts.
set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME gpufilter-${PROJECT_VERSION})
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_SOURCE_IGNORE_FILES "\\.o$")
foreach(path ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/build ${PROJECT_SOURCE_DIR}/.git
    ${PROJECT_SOURCE_DIR}/.cache ${PROJECT_SOURCE_DIR}/compile_commands.json)
  string(REGEX REPLACE "([][+.*()^?$|\\])" "\\\\\\1" path "${path}")
  list(APPEND CPACK_SOURCE_IGNORE_FILES "^${path}(/|$)")
endforeach()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${GPUFILTER_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "filters pictures with convolution kernels")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"gpufilter applies kernels to PNG and JPEG pictures and NumPy arrays: blurs,
sharpens, edges, banks of filters, kernels of your own, and the layers and
networks that were learned with PyTorch.

Whole directories are filtered in one call, on an NVIDIA GPU where the program
was built with CUDA, else on the CPU, with results that do not depend on which.")
if(GPUFILTER_HAVE_CUDA)
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS libcuda1) # the driver; without it the CPU is used
endif()
include(CPack)
