/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lower bound of B7 and B31: an SA that only finds both ports of a path by
 * their GUIDs, in a hash table, and copies the request.
 */
#ifndef BENCH_LOOKUP_H
#define BENCH_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

/* Add a port to the table, which is shared by the whole program. */
void lookup_add(uint64_t guid, uint16_t lid);

/* Answer the PathRecord Get in @mad with the LIDs of its GIDs. */
void lookup_answer(const uint8_t *mad, uint8_t *out);

#endif
