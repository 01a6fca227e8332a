/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A number that nobody outside the process knows. */
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
	/* Where this function lies is not known to all either. */
	random.state ^= (uintptr_t)&ibsa__secret;
	return random_next(&random);
}
