# Finds the headers of the libraries that the bench compares with. Only headers: the libraries are
# opened when the bench runs, which may be on another machine. A peer without headers is left out,
# and the bench says so.
set(GPUFILTER_NPP_ROOT "" CACHE PATH
    "Folder that holds npp.h or include/npp.h; the unpacked wheel nvidia-npp will do")
set(GPUFILTER_COMMIT "" CACHE STRING "Commit that the bench's results are marked with")

find_path(GPUFILTER_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_path(GPUFILTER_NPP_INCLUDE npp.h
  HINTS ${GPUFILTER_NPP_ROOT} ${CUDAToolkit_INCLUDE_DIRS}
  PATH_SUFFIXES include nvidia/cu13/include nvidia/npp/include)

# gpufilter_peer(TARGET NAME INCLUDE STANDIN SOURCES ...): adds the peer's sources to TARGET, with
# the headers in the folder INCLUDE; where that was not found, STANDIN in their place.
function(gpufilter_peer target name include standin)
  if(include)
    message(STATUS "bench: headers of ${name} in ${include}")
    target_include_directories(${target} SYSTEM PRIVATE ${include})
    target_sources(${target} PRIVATE ${ARGN})
  else()
    message(STATUS "bench: no headers of ${name}, which will not be compared with")
    target_sources(${target} PRIVATE ${standin})
  endif()
endfunction()
