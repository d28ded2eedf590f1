/* Completion of the command line in shells. */
#pragma once

#include "common/status.h"

/* Prints the script that completes gpufilter's calls, options, filters and methods in `shell`
 * (bash, zsh or fish) on standard output. GF_EUSAGE for other shells. */
GfStatus gf_completion_print(const char *shell);
