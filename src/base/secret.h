/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A number that nobody outside the process knows. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdint.h>

/* Made of the clock where the system has no entropy yet. */
uint64_t ibsa__secret(void);

#endif
