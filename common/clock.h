#pragma once

/* Seconds of a clock that never steps; only differences mean anything. */
double gf_now(void);
