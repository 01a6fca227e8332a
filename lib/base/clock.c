/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes how much of a timeout is left. */
#include "base/clock.h"

int ibsa__clock_left_ms(int timeout_ms, uint64_t start_ns)
{
	uint64_t whole_ns;
	uint64_t passed_ns;

	if (timeout_ms <= 0)
		return timeout_ms;
	whole_ns = (uint64_t)timeout_ms * NS_PER_MS;
	passed_ns = clock_now_ns() - start_ns;
	if (passed_ns >= whole_ns)
		return 0;
	return (int)((whole_ns - passed_ns + NS_PER_MS - 1) / NS_PER_MS);
}
