#include "tests/unit/fake_devices.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

static size_t calls[MOST]; /* those that a device still does; SIZE_MAX: without end */
static size_t memory, taken, shared, unlike;
static cudaError_t lost_error;
static int visible[MOST], count;
static _Thread_local int chosen;

/* The number at *text, which comes to stand behind it. */
static size_t read_number(const char **text)
{
    char *end;
    size_t number = strtoull(*text, &end, 10);
    if (end == *text)
        abort();
    *text = end;
    return number;
}

/* The next of a list; false: at its end. */
static bool next_item(const char **list)
{
    *list += **list == ',';
    return **list != '\0';
}

static size_t read_variable(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text ? read_number(&text) : otherwise;
}

static void read_environment(void)
{
    const char *lost = getenv("FAKE_CUDA_LOST"), *seen = getenv("CUDA_VISIBLE_DEVICES");
    const size_t all = read_variable("FAKE_CUDA_DEVICES", 1);
    memory = read_variable("FAKE_CUDA_MEMORY", (size_t)1 << 36);
    shared = read_variable("FAKE_CUDA_SHARED", 0);
    unlike = read_variable("FAKE_CUDA_UNLIKE", SIZE_MAX);
    lost_error = (cudaError_t)read_variable("FAKE_CUDA_ERROR", cudaErrorLaunchFailure);
    if (all < 1 || all > MOST)
        abort();
    for (size_t i = 0; i < all; i++)
        calls[i] = SIZE_MAX;
    while (lost && next_item(&lost)) {
        size_t number = read_number(&lost);
        if (number >= all || *lost++ != ':')
            abort();
        calls[number] = read_number(&lost);
    }
    for (size_t i = 0; !seen && i < all; i++)
        visible[count++] = (int)i;
    while (seen && count < MOST && next_item(&seen)) {
        size_t number = read_number(&seen);
        if (number >= all)
            break;
        visible[count++] = (int)number;
    }
}

int fake_device_count(void)
{
    static bool read;
    if (!read) {
        read_environment();
        read = true;
    }
    return count;
}

bool fake_device_choose(int ordinal)
{
    if (ordinal < 0 || ordinal >= fake_device_count())
        return false;
    chosen = ordinal;
    return true;
}

int fake_device_chosen(void)
{
    return chosen;
}

int fake_device(void)
{
    return fake_device_count() > 0 ? visible[chosen] : 0;
}

cudaError_t fake_device_call(void)
{
    const int number = fake_device();
    if (fake_device_is_lost(number))
        return lost_error;
    calls[number] -= calls[number] < SIZE_MAX;
    return cudaSuccess;
}

void fake_device_describe(int ordinal, struct cudaDeviceProp *properties)
{
    if (fake_device_count() == 0)
        return;
    if (shared > 0)
        properties->sharedMemPerBlockOptin = shared;
    if ((size_t)visible[ordinal] == unlike)
        memcpy(properties->name, "another", sizeof "another");
}

bool fake_device_is_lost(int number)
{
    return calls[number] == 0;
}

bool fake_device_take(size_t bytes)
{
    if (bytes > memory - taken)
        return false;
    taken += bytes;
    return true;
}

void fake_device_give(size_t bytes)
{
    taken -= bytes;
}

void fake_device_memory(size_t *available, size_t *total)
{
    *total = memory;
    *available = memory - taken;
}
