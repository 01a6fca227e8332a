/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions that the files of the preload share. */
#ifndef TEST_COUNTERPART_UMTAP_H
#define TEST_COUNTERPART_UMTAP_H

#include <stdbool.h>

/*
 * @packet is a umad header and a MAD of 256 bytes. If the preload answers it
 * instead of the program, turn it into the answer. Return: whether this was
 * done.
 */
bool umtap_issm_answer(void *packet);

#endif
