/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Units of time, in nanoseconds, and functions that read the system's clock. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/*
 * Return: the time of the monotonic clock in nanoseconds. All transports that
 * run in real time use this clock.
 */
static inline uint64_t clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/*
 * Return: how many ms of @timeout_ms, which began at @start_ns, are left,
 * rounded up so that a wait does not end early. A negative @timeout_ms means
 * no timeout and is returned unchanged.
 */
int ibsa__clock_left_ms(int timeout_ms, uint64_t start_ns);

/*
 * Return: the shorter of two timeouts in ms. A negative value means no
 * timeout.
 */
static inline int sooner_ms(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

#endif
