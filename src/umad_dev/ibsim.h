/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Differences between ibsim's umad files and the kernel's. */
#ifndef UMAD_DEV_IBSIM_H
#define UMAD_DEV_IBSIM_H

#include <sys/types.h>

#include <ibsa/types.h>

/* The first number that ibsim gives to a descriptor. */
enum { UMAD_SIMULATED_MIN = 1024 };

/* Whether @fd is ibsim's: from 1024 on, and not a umad file of the kernel. */
bool ibsa__umad_is_simulated(int fd);

/*
 * The negative errno of a call that returned @result, which is below 0. The
 * caller sets errno to 0 before the call: ibsim may return an error without
 * setting errno, or -1 without any reason.
 */
int ibsa__umad_failure(ssize_t result) IBSA_MUST_USE;

#endif
