/* Inside images/: rows that a thread decodes before anyone asks for them. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "images/codec.h"

typedef struct GfAheadPiece GfAheadPiece;

/* All zeros: nothing was decoded ahead. */
typedef struct GfAhead {
    GfReader *reader; /* borrowed */
    GfStatus (*decode)(GfReader *reader, const GfBand *band);
    size_t limit;                /* bytes of rows */
    GfAheadPiece *first, **last; /* owned; taken from the first, added behind the last */
    pthread_t thread;
    bool running;
    atomic_bool stopping;
} GfAhead;

/* Starts a thread that calls `decode` for rows of the reader's picture, from the first on, until
 * its end, the limit, a failure, or gf_ahead_stop(). It counts their bytes in reader->ahead and its
 * time in reader->ahead_seconds. Without a thread nothing happens. */
void gf_ahead_start(GfAhead *ahead, GfReader *reader,
                    GfStatus (*decode)(GfReader *reader, const GfBand *band), size_t limit);

/* Returns when the thread has ended, after the rows in hand. */
void gf_ahead_stop(GfAhead *ahead);

/* Moves rows, as far as there are any, to the top of the band, and makes *band what is left to
 * fill. */
void gf_ahead_take(GfAhead *ahead, GfBand *band);

/* Ends the thread and frees the rows. */
void gf_ahead_free(GfAhead *ahead);
