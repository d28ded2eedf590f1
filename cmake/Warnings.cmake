# Warnings are errors, in every room; sanitizers for host code.
add_library(gpufilter_warnings INTERFACE)
set(host_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Werror)
target_compile_options(gpufilter_warnings INTERFACE "$<$<COMPILE_LANGUAGE:C>:${host_flags}>")

if(GPUFILTER_SANITIZE)
  set(sanitize -fsanitize=${GPUFILTER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitize}>")
  add_link_options(${sanitize})
else()
  add_compile_options("$<$<COMPILE_LANG_AND_ID:C,GNU,Clang>:-fstack-protector-strong>")
  add_compile_definitions($<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
endif()
