/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where ibsim's umad files are not like the kernel's. */
#ifndef UMAD_DEV_IBSIM_H
#define UMAD_DEV_IBSIM_H

#include <sys/types.h>

#include <ibsa/types.h>

/* The first of ibsim's descriptors. */
enum { UMAD_SIMULATED_MIN = 1024 };

/* It numbers its descriptors from 1024. The system knows none, or has another
 * file at that number. */
bool ibsa__umad_is_simulated(int fd);

/*
 * What a call that returned @result, below 0, failed with, as negative errno;
 * errno is to be 0 before the call. ibsim may return an error without errno,
 * or -1 and no reason.
 */
int ibsa__umad_failure(ssize_t result) IBSA_MUST_USE;

#endif
