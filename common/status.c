/* One message a thread, so that a status can stay a plain integer and no function needs an error
 * argument that most callers would only pass on. */
#include "common/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[GF_MESSAGE_SIZE];

void gf_set_message(const char *format, ...)
{
    /* Formatted aside first: an argument may be the present message. */
    char text[GF_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message, text, sizeof text);
}

GfStatus gf_fail_at(GfStatus status, const char *where)
{
    return gf_fail(status, "%s: %s", where, message);
}

const char *gf_message(void)
{
    return message;
}

void gf_error_save(GfError *error, GfStatus status)
{
    if (error->status != GF_OK)
        return;
    error->status = status;
    memcpy(error->message, message, sizeof message);
}

GfStatus gf_error_raise(const GfError *error)
{
    memcpy(message, error->message, sizeof message);
    return error->status;
}
