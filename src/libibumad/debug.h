/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What libibumad's calls say on standard error, to who has asked for it. */
#ifndef LIBIBUMAD_DEBUG_H
#define LIBIBUMAD_DEBUG_H

/*
 * That a call has failed, with the reason if @result is a negative errno, or
 * what it returned: if umad_debug() is above 0.
 */
void ibsa__umad_debug_print(int result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A packet that is sent or came: if umad_debug() is above 1. */
void ibsa__umad_debug_packet(void *umad);

#endif
