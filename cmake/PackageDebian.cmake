# Run by CPack between installing the files into a folder and packing them: what Debian's policy wants otherwise than
# "cmake --install" does it.
set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
set(doc ${usr}/share/doc/gpufilter)

# Licences are referred to, in a file of Debian's own (12.5), and not copied.
file(REMOVE ${doc}/LICENSE)
file(STRINGS ${CPACK_GPUFILTER_SOURCE}/NOTICE notice REGEX "^Copyright ")
string(REGEX REPLACE "^Copyright " "" holder "${notice}")
file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gpufilter

Files: *
Copyright: ${holder}
License: Apache-2.0
 On Debian systems the full text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0. What NOTICE says goes with it.
")

# The changelog of the package, and as ${doc}/changelog that of the program (12.7). The date is that of SOURCE_DATE_EPOCH
# where that is given, so that packages can be made again to the bit.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${doc}/changelog.Debian
"gpufilter (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Package of gpufilter ${CPACK_PACKAGE_VERSION}; changelog.gz has its changes.

 -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}
")
file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)

file(GLOB manuals ${usr}/share/man/man*/*)
execute_process(COMMAND gzip -9n ${manuals} ${doc}/changelog ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(GLOB compressed ${usr}/share/man/man*/*.gz ${doc}/*)
file(CHMOD ${compressed} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)

# Debian's zsh looks for site-functions below /usr/local only.
if(EXISTS ${usr}/share/zsh/site-functions)
  file(RENAME ${usr}/share/zsh/site-functions ${usr}/share/zsh/vendor-completions)
endif()
