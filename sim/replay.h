/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A transport whose SA answers what it has answered in a capture. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include <stdbool.h>

/* Whether a file is a capture, readable or not, and no topology. */
bool ibsa__is_capture(const char *path);

#endif
