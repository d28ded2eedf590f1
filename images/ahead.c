/* Rows are kept in a list of small pieces: each is freed when its last row is taken, so that a
 * picture is never in memory both here and there, and the thread soon ends when it is told to. What
 * it fails at the reader fails at again, with the same message, when it is asked for the next row:
 * nothing is to be remembered here. */
#include "images/ahead.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/thread.h"

enum { PIECE = 256 << 10, LEAST_ROWS = 16 };

struct GfAheadPiece {
    GfAheadPiece *next;
    size_t rows, taken;
    _Alignas(GF_ALIGNMENT) unsigned char samples[];
};

/* Decodes rows [y, y + rows) behind those that there are; false when that fails. */
static bool add_piece(GfAhead *ahead, size_t y, size_t rows)
{
    GfAheadPiece *piece;
    size_t row_bytes = gf_row_bytes(&ahead->reader->format);
    if (gf_allocate(1, sizeof *piece + rows * row_bytes, &piece) != GF_OK)
        return false;
    if (ahead->decode(ahead->reader, &(GfBand){y, rows, row_bytes, piece->samples}) != GF_OK) {
        free(piece);
        return false;
    }
    piece->next = NULL;
    piece->rows = rows;
    piece->taken = 0;
    *ahead->last = piece;
    ahead->last = &piece->next;
    ahead->reader->ahead += rows * row_bytes;
    return true;
}

static void *decode_ahead(void *argument)
{
    GfAhead *ahead = argument;
    GfReader *reader = ahead->reader;
    size_t row_bytes = gf_row_bytes(&reader->format), height = reader->format.height;
    size_t most = gf_max(PIECE / row_bytes, LEAST_ROWS), end = ahead->limit / row_bytes, rows;
    double start = gf_now();
    end = gf_min(end, height);
    for (size_t y = 0; y < end && !atomic_load(&ahead->stopping); y += rows) {
        rows = gf_min(most, end - y);
        if (!add_piece(ahead, y, rows))
            break;
    }
    reader->ahead_seconds = gf_now() - start;
    return NULL;
}

void gf_ahead_start(GfAhead *ahead, GfReader *reader,
                    GfStatus (*decode)(GfReader *reader, const GfBand *band), size_t limit)
{
    *ahead = (GfAhead){.reader = reader, .decode = decode, .limit = limit};
    ahead->last = &ahead->first;
    ahead->running = gf_thread_start(&ahead->thread, decode_ahead, ahead);
}

void gf_ahead_stop(GfAhead *ahead)
{
    atomic_store(&ahead->stopping, true);
    if (ahead->running)
        pthread_join(ahead->thread, NULL);
    ahead->running = false;
}

static void drop_first(GfAhead *ahead)
{
    GfAheadPiece *piece = ahead->first;
    ahead->first = piece->next;
    ahead->reader->ahead -= piece->rows * gf_row_bytes(&ahead->reader->format);
    free(piece);
}

void gf_ahead_take(GfAhead *ahead, GfBand *band)
{
    while (ahead->first && band->rows > 0) {
        GfAheadPiece *piece = ahead->first;
        size_t row_bytes = gf_row_bytes(&ahead->reader->format);
        memcpy(band->samples, piece->samples + piece->taken++ * row_bytes, row_bytes);
        band->samples = (unsigned char *)band->samples + band->stride;
        band->y0++;
        band->rows--;
        if (piece->taken == piece->rows)
            drop_first(ahead);
    }
}

void gf_ahead_free(GfAhead *ahead)
{
    gf_ahead_stop(ahead);
    while (ahead->first)
        drop_first(ahead);
}
