#include "bench/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

GfStatus library_open(const char *const *names, void **library)
{
    char path[256];
    for (; *names; names++) {
        *library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
        if (!*library) {
            snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", *names);
            *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        }
        if (*library)
            return GF_OK;
    }
    return gf_fail(GF_ENODEVICE, "%s", dlerror());
}

GfStatus library_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        return gf_fail(GF_ENODEVICE, "%s", dlerror());
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from data to functions */
    return GF_OK;
}
