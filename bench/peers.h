/* Other libraries as contestants, opened when the program runs: one that is not there is named and
 * does not take part. */
#pragma once

#include "bench/contestant.h"

typedef struct Peers {
    struct Cudnn *cudnn; /* NULL: not there, for the reason given */
    struct Npp *npp;
    char cudnn_note[NOTE_SIZE], npp_note[NOTE_SIZE]; /* version, or why it is not there */
} Peers;

/* Opens what there is; `only` is the one peer wanted, "none", or NULL: all. Never fails. */
void peers_open(const Device *device, const char *only, Peers *peers);

void peers_close(Peers *peers);

/* Adds those that can run the case. In and out are buffers of the case that searches for a fast way
 * may use. Errors: GF_EDEVICE when the device was lost. */
GfStatus peers_enter(Peers *peers, const char *only, Field *field, const Case *made, void *in,
                     void *out);
