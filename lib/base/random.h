/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reproducible random numbers from a seed, for jitter and ids, not for secrets.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/*
 * Return: the next random number of 64 bits (splitmix64, Steele et al. 2014).
 */
static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Return: a random number from 0 to @limit - 1; @limit is 1 to 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
	return (random_next(random) >> 32) * limit >> 32;
}

#endif
