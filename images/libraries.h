/* The libraries that pictures are read and written with. */
#pragma once

typedef struct GfLibrary {
    const char *name;
    const char *compiled; /* the version compiled against; NULL: not compiled in */
    const char *running;  /* the version found when the program started; NULL: cannot be asked */
} GfLibrary;

/* Library `i`, or one without a name behind the last. */
GfLibrary gf_image_library(int i);
