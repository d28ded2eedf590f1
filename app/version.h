/* --version. */
#pragma once

/* Prints the program's version on standard output, and in a line each those of the libraries that
 * it was compiled against, or that it has none. */
void gf_version_print(void);
