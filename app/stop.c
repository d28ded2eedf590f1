/* The handlers touch an atomic and async-signal-safe functions only. Reads and writes that a signal
 * interrupts are resumed by images/, which is why a run that reads from a pipe, or writes its only
 * picture to one, ends at once: it may wait there for ever, and has no directory of other pictures
 * to bring to an end. So does one that asks the reference, which takes minutes for a picture and is
 * for looking, not for work. */
#include "app/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "images/temporary.h"

static atomic_int stop_signal;
static atomic_bool end_at_once;

static void end_process(int number)
{
    gf_temporaries_remove();
    _exit(128 + number);
}

static void on_stop(int number)
{
    int none = 0;
    bool again = !atomic_compare_exchange_strong(&stop_signal, &none, number);
    /* The kernel repeats SIGXCPU with every second of processor time and SIGPIPE with every line,
     * which is no second wish. */
    bool wish = number != SIGXCPU && number != SIGPIPE;
    if (atomic_load(&end_at_once) || (again && wish))
        end_process(number);
}

static void install(int number, void (*handler)(int))
{
    struct sigaction old, action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void gf_stop_install(bool at_once, bool pipe_stops)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    atomic_store(&end_at_once, at_once);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        install(stops[i], on_stop);
    install(SIGPIPE, pipe_stops ? on_stop : end_process);
}

int gf_stop_signal(void)
{
    return atomic_load(&stop_signal);
}
