/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Detects umad files of ibsim, and handles their differences from the kernel's
 * umad files.
 */
#ifndef UMAD_DEV_IBSIM_H
#define UMAD_DEV_IBSIM_H

#include <sys/types.h>

#include <ibsa/types.h>

/* The lowest descriptor number of ibsim's files. */
enum { UMAD_SIMULATED_MIN = 1024 };

/*
 * Whether @fd is a descriptor of ibsim: its number is 1024 or higher, and it
 * is not a umad file of the kernel.
 */
bool ibsa__umad_is_simulated(int fd);

/*
 * Return: the negative errno of a call that returned the negative value
 * @result. The caller sets errno to 0 before the call: ibsim may return a
 * negative errno without setting errno, or -1 without any reason.
 */
int ibsa__umad_failure(ssize_t result) IBSA_MUST_USE;

#endif
