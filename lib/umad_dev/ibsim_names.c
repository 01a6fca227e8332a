/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two functions of libibumad that libibsa exports as well, with libibumad's
 * symbol version. ibsim's preload library calls umad_size() to learn the length
 * of a packet's header, in whichever library it finds the name. libibumad's
 * umad_size() returns 56 until its own umad_open_port() was called. With that
 * function, in a program that opens a port in another way, every MAD would be
 * read at the wrong offset, 8 bytes too early.
 */
#include <infiniband/umad.h>

#include "umad/header.h"

size_t umad_size(void)
{
	return UMAD_HEADER_BYTES;
}

void *umad_get_mad(void *umad)
{
	return (uint8_t *)umad + UMAD_HEADER_BYTES;
}
