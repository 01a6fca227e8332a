/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the preload share. */
#ifndef TEST_COUNTERPART_UMTAP_H
#define TEST_COUNTERPART_UMTAP_H

#include <stdbool.h>

/*
 * Make the packet, header and MAD of 256 bytes, the answer to itself, if it
 * is one that the program must not see. Return: whether it is.
 */
bool umtap_issm_answer(void *packet);

#endif
