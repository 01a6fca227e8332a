/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug output of libibumad's calls on standard error, if enabled by
 * umad_debug().
 */
#ifndef LIBIBUMAD_DEBUG_H
#define LIBIBUMAD_DEBUG_H

/*
 * If umad_debug() is above 0, print that a call failed: the error if @result is
 * a negative errno, else @result.
 */
void ibsa__umad_debug_print(int result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* If umad_debug() is above 1, print a packet that is sent or was received. */
void ibsa__umad_debug_packet(void *umad);

#endif
