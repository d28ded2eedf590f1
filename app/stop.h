/* Stopping on a signal. */
#pragma once

#include <stdbool.h>

/* From now on the first SIGINT, SIGTERM, SIGHUP or SIGXCPU only raises a flag, so that pictures
 * stop at their next band and clean up; a second one, but for SIGXCPU, removes temporaries and ends
 * the process. With `at_once` already the first does: for a program that would be long in seeing
 * the flag. Signals that the parent process ignores stay ignored. SIGPIPE removes temporaries and
 * ends the process quietly; with `pipe_stops` it is one of those signals, as often as it comes, so
 * that who no longer listens takes nothing else from the run. */
void gf_stop_install(bool at_once, bool pipe_stops);

/* The number of the signal that asked to stop, or 0. */
int gf_stop_signal(void);
