/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Condition variables whose timed waits use the clock of clock_now_ns(). */
#ifndef BASE_CLOCK_COND_H
#define BASE_CLOCK_COND_H

#include <pthread.h>
#include <time.h>

static inline void clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

#endif
