/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of the preload share. */
#ifndef TEST_COUNTERPART_UMTAP_H
#define TEST_COUNTERPART_UMTAP_H

#include <stdbool.h>

/*
 * If the program must not see the packet, turn the packet, header and MAD of
 * 256 bytes, into the answer to itself. Return: whether this was done.
 */
bool umtap_issm_answer(void *packet);

#endif
