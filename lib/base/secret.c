/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A random number that other processes cannot guess. */
#include <sys/random.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/secret.h"

uint64_t ibsa__secret(void)
{
	struct random random = { .state = clock_now_ns() };
	uint64_t secret;

	if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) == sizeof(secret))
		return secret;
	/*
	 * The address of this function is mixed into the number, because it is
	 * hard to guess, too (address space layout randomisation).
	 */
	random.state ^= (uintptr_t)&ibsa__secret;
	return random_next(&random);
}
