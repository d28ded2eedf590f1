/* What the program tells its user on standard error: one line a message, `gpufilter: PATH: REASON`,
 * whole lines only however many threads speak, and never a control character of somebody's file
 * name. Only the files of app/ may call these. */
#pragma once

#include <stdbool.h>

#include "common/status.h"

/* Before the first message. Quiet: errors only. Verbose: also details. */
void gf_message_setup(bool quiet, bool verbose);

/* Something failed. `path` is escaped and may be NULL. */
void gf_say_error(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Something worth knowing; silent when quiet. */
void gf_say_note(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What was chosen and why; only when verbose. */
void gf_say_detail(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Several lines as they are (a table, a summary), not escaped and without a prefix. */
void gf_say_text(const char *text);

/* Shows a line at the bottom of the terminal that the next message makes way for; "" removes it.
 * The caller has made sure that standard error is a terminal. */
void gf_status_line(const char *text);

/* Puts the name of an output ("-" is standard output), escaped, before this thread's message where
 * `status` is a failure. Returns `status`. */
GfStatus gf_fail_output(GfStatus status, const char *path);
