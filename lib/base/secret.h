/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A random number that other processes cannot guess. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdint.h>

/*
 * Return: a random number from the system's random source; if the system has
 * no entropy yet, a number made from the clock and an address.
 */
uint64_t ibsa__secret(void);

#endif
