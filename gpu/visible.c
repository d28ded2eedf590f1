/* CUDA numbers the devices that CUDA_VISIBLE_DEVICES lists, by numbers or names, in the list's
 * order. The list ends at the first item that is no device, and without the variable there are all.
 * CUDA reads it when it starts. */
#include "gpu/visible.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend.h"

static const char variable[] = "CUDA_VISIBLE_DEVICES";

static int only = -1; /* the device that CUDA sees alone */

static bool names_device(const char *item)
{
    return isdigit((unsigned char)*item) || strncmp(item, "GPU-", 4) == 0 ||
           strncmp(item, "MIG-", 4) == 0;
}

/* Item `number` of a list, which is the caller's to free, or NULL. */
static char *find_item(const char *list, int number)
{
    for (; number > 0 && names_device(list); number--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    return names_device(list) ? strndup(list, strcspn(list, ",")) : NULL;
}

void gf_cuda_narrow(int number)
{
    const char *list = getenv(variable);
    char *item = NULL;
    if (list)
        item = find_item(list, number);
    else if (asprintf(&item, "%d", number) < 0)
        item = NULL;
    if (item && setenv(variable, item, 1) == 0)
        only = number;
    free(item);
}

int gf_cuda_ordinal(int number)
{
    return number == only ? 0 : number;
}
