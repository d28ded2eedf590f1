#include "bench/peers.h"

#include <stdio.h>
#include <string.h>

#include "bench/peers_cudnn.h"
#include "bench/peers_npp.h"

static bool wanted(const char *only, const char *library)
{
    return !only || strncmp(only, library, strlen(library)) == 0;
}

void peers_open(const Device *device, const char *only, Peers *peers)
{
    *peers = (Peers){.cudnn_note = "not asked for", .npp_note = "not asked for"};
    if (wanted(only, "cudnn"))
        peers->cudnn = cudnn_open(device, peers->cudnn_note);
    if (wanted(only, "npp"))
        peers->npp = npp_open(device, peers->npp_note);
}

void peers_close(Peers *peers)
{
    cudnn_close(peers->cudnn);
    npp_close(peers->npp);
    *peers = (Peers){0};
}

GfStatus peers_enter(Peers *peers, const char *only, Field *field, const Case *made, void *in,
                     void *out)
{
    if (peers->cudnn && made->spec->layer)
        GF_TRY(cudnn_enter(peers->cudnn, only, field, made, in, out));
    if (peers->npp && !made->spec->layer)
        GF_TRY(npp_enter(peers->npp, only, field, made));
    return GF_OK;
}
