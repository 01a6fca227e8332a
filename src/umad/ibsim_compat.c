/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two names of libibumad, for ibsim's preload library.
 *
 * It does not keep its own idea of the umad header's size but asks whichever
 * library it finds under these names. libibumad says 56 until its own open
 * was called, which ours never calls, and then every MAD of ours would be
 * read 8 bytes off. So they are exported at libibumad's symbol version; the
 * rest of its names is not, lest we take them over in a program that uses
 * both libraries. Programs without ibsim never call them.
 */
#include "packet/header.h"

int umad_size(void);
void *umad_get_mad(void *umad);

int umad_size(void)
{
	return UMAD_HEADER_BYTES;
}

void *umad_get_mad(void *umad)
{
	return (uint8_t *)umad + UMAD_HEADER_BYTES;
}
