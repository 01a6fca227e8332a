/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock for timeouts and intervals. */
#ifndef COMMAND_CLOCK_H
#define COMMAND_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Return: the time of CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t now_ms(void)
{
	return now_ns() / 1000000;
}

enum { UTC_TEXT = 32 };

/* Write a time, such as 2026-11-24T12:00:00Z. Return: @out. */
static inline const char *utc_text(time_t when, char out[UTC_TEXT])
{
	struct tm utc;

	*out = '\0';
	if (gmtime_r(&when, &utc))
		strftime(out, UTC_TEXT, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return out;
}

#endif
