# Warnings are errors, in every room, unless a compiler that is newer than the code finds more; sanitizers for host code.
option(GPUFILTER_WERROR "warnings are errors" ON)
add_library(gpufilter_warnings INTERFACE)
set(host_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla)
if(GPUFILTER_WERROR)
  list(APPEND host_flags -Werror)
endif()
target_compile_options(gpufilter_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C>:${host_flags}>")

if(GPUFILTER_SANITIZE)
  # Reports name lines and functions; to describe variables, too, takes a third of the time that it takes to build.
  set(sanitize -fsanitize=${GPUFILTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  add_link_options(${sanitize})
else()
  add_compile_options("$<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-fstack-protector-strong>")
  if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE") # as distributions have it
    add_compile_definitions($<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
  endif()
endif()
