/* cuDNN's functions, found when the program runs. For the files that need cuDNN's headers. */
#pragma once

#include <cudnn.h>

#include "common/status.h"

#define CUDNN_FUNCTIONS(X)                                                                         \
    X(cudnnGetVersion)                                                                             \
    X(cudnnGetErrorString)                                                                         \
    X(cudnnCreate)                                                                                 \
    X(cudnnDestroy)                                                                                \
    X(cudnnSetStream)                                                                              \
    X(cudnnCreateTensorDescriptor)                                                                 \
    X(cudnnDestroyTensorDescriptor)                                                                \
    X(cudnnSetTensor4dDescriptor)                                                                  \
    X(cudnnCreateFilterDescriptor)                                                                 \
    X(cudnnDestroyFilterDescriptor)                                                                \
    X(cudnnSetFilter4dDescriptor)                                                                  \
    X(cudnnCreateConvolutionDescriptor)                                                            \
    X(cudnnDestroyConvolutionDescriptor)                                                           \
    X(cudnnSetConvolution2dDescriptor)                                                             \
    X(cudnnSetConvolutionMathType)                                                                 \
    X(cudnnSetConvolutionGroupCount)                                                               \
    X(cudnnFindConvolutionForwardAlgorithmEx)                                                      \
    X(cudnnConvolutionForward)                                                                     \
    X(cudnnCreateActivationDescriptor)                                                             \
    X(cudnnDestroyActivationDescriptor)                                                            \
    X(cudnnSetActivationDescriptor)                                                                \
    X(cudnnActivationForward)                                                                      \
    X(cudnnCreatePoolingDescriptor)                                                                \
    X(cudnnDestroyPoolingDescriptor)                                                               \
    X(cudnnSetPooling2dDescriptor)                                                                 \
    X(cudnnPoolingForward)                                                                         \
    X(cudnnBackendCreateDescriptor)                                                                \
    X(cudnnBackendDestroyDescriptor)                                                               \
    X(cudnnBackendFinalize)                                                                        \
    X(cudnnBackendSetAttribute)                                                                    \
    X(cudnnBackendGetAttribute)                                                                    \
    X(cudnnBackendExecute)

/* The functions under their own names. */
typedef struct CudnnFunctions {
#define MEMBER(name) __typeof__(name) *name;
    CUDNN_FUNCTIONS(MEMBER)
#undef MEMBER
} CudnnFunctions;

extern CudnnFunctions dnn;

/* Fills `dnn`. GF_ENODEVICE with the loader's reason where the library or one is not there. */
GfStatus cudnn_find(void);

/* GF_OK for success, GF_EDEVICE when a kernel failed, else GF_EUNSUPPORTED; the message names the
 * call. */
GfStatus cudnn_check(cudnnStatus_t status, const char *call);

#define DNN(call, ...) GF_TRY(cudnn_check(dnn.call(__VA_ARGS__), #call))
