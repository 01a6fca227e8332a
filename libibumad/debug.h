/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug output of the libibumad functions on standard error, which
 * umad_debug() enables.
 */
#ifndef LIBIBUMAD_DEBUG_H
#define LIBIBUMAD_DEBUG_H

/*
 * If the level set by umad_debug() is above 0, print that a function failed:
 * @format names it; then comes the text of the error if @result is a negative
 * errno, otherwise the number @result.
 */
void ibsa__umad_debug_print(int result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * If the level set by umad_debug() is above 1, print a packet that is sent or
 * was received.
 */
void ibsa__umad_debug_packet(void *umad);

#endif
