/* Standard input and output are shared with other programs, and one of those may have made them
 * non-blocking, for all. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

/* Whether the read (`event` POLLIN) or write (POLLOUT) that has just failed with errno is to be
 * tried again: a signal interrupted it, or the descriptor does not block, and was waited for
 * here. */
static inline bool gf_again(int fd, short event)
{
    struct pollfd wait = {.fd = fd, .events = event};
    if (errno == EAGAIN && poll(&wait, 1, -1) > 0)
        return true;
    return errno == EINTR;
}
