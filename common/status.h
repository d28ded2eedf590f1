/* Results and messages.
 *
 * Every function that can fail returns a GfStatus and leaves a message for the calling thread. The
 * message is a property of the thread: to report a failure of another thread, save it there with
 * gf_error_save() and raise it again here with gf_error_raise(). Nothing below app/ prints. */
#pragma once

#include <stddef.h>

/* Values in decades: what kind of thing went wrong decides what the program does next. */
typedef enum GfStatus {
    GF_OK = 0,
    GF_END = 1,      /* nothing more to read: not a failure, no message */
    GF_STOPPED = 2,  /* the user asked to stop */
    GF_EUSAGE = 10,  /* options, filter text or configuration: nothing was started */
    GF_EFILTER = 11, /* the filter cannot be applied to this picture's geometry */
    GF_EINPUT = 20,  /* the file is damaged, or is no picture */
    GF_ELIMIT = 21,  /* over a limit that the user set or that protects memory */
    GF_EEXIST = 22,  /* the output exists, or is the input */
    GF_EREAD = 30,   /* the system failed to read */
    GF_EWRITE = 31,  /* the system failed to write (permission, a broken disk) */
    GF_EFULL = 32,   /* no room left where an output goes: the next one would fail too */
    GF_EMEMORY = 40, /* host memory */
    /* From here on: failures of a backend, which another one may not have. */
    GF_EDEVMEM = 50,   /* memory of the device, or pinned for it: smaller bands may help */
    GF_EDEVICE = 51,   /* the device failed: nothing that its context still holds can be trusted */
    GF_ENODEVICE = 52, /* no such device here */
    GF_EUNSUPPORTED = 53 /* the backend cannot run this plan; another one can */
} GfStatus;

enum { GF_MESSAGE_SIZE = 1024 };

/* A failure taken out of the thread in which it happened. */
typedef struct GfError {
    GfStatus status;
    char message[GF_MESSAGE_SIZE];
} GfError;

/* Sets this thread's message from a printf format. Long text is cut. */
void gf_set_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* gf_fail(status, format, ...): sets the message; its value is `status`. A macro, so that the
 * compiler sees that a failure is one. */
#define gf_fail(status, ...) ((GfStatus)(gf_set_message(__VA_ARGS__), (status)))

/* Puts "where: " before this thread's message, and returns `status`. */
GfStatus gf_fail_at(GfStatus status, const char *where);

/* This thread's last message; never NULL. Valid until the next failure in this thread. */
const char *gf_message(void);

/* Copies `status` and this thread's message to `error`, unless `error` holds a failure already:
 * the first failure is the one worth reporting. */
void gf_error_save(GfError *error, GfStatus status);

/* Makes a saved failure this thread's message again and returns its status. */
GfStatus gf_error_raise(const GfError *error);

/* Returns from the calling function when `expression` fails. */
#define GF_TRY(expression)                                                                         \
    do {                                                                                           \
        GfStatus gf_try_status_ = (expression);                                                    \
        if (gf_try_status_ != GF_OK)                                                               \
            return gf_try_status_;                                                                 \
    } while (0)

/* The same with one cleanup label: needs a variable `status` and a label `done`. */
#define GF_GO(expression)                                                                          \
    do {                                                                                           \
        status = (expression);                                                                     \
        if (status != GF_OK)                                                                       \
            goto done;                                                                             \
    } while (0)
