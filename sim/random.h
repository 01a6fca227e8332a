/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random numbers from a seed: the same seed gives the same ones. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/* SplitMix64 (Steele, Lea, Flood 2014): one addition and a mixing. */
static inline uint64_t random_next(struct random *random)
{
	uint64_t mixed = random->state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

/* From 0 to @limit - 1; @limit is small against 2^64. */
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
	return random_next(random) % limit;
}

#endif
