/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock for timeouts and intervals. */
#ifndef COMMAND_CLOCK_H
#define COMMAND_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Return: the time of CLOCK_MONOTONIC in milliseconds. */
static inline int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
