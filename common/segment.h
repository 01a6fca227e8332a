/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The MADs on the wire of an RMPP message, which clients receive as one. */
#ifndef COMMON_SEGMENT_H
#define COMMON_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Receives a MAD of IBSA_MAD_BYTES, which is valid during the call. */
typedef void (*segment_fn)(const uint8_t *mad, void *arg);

/*
 * Call @put for each MAD on the wire of @mad, which has @len bytes: of an RMPP
 * message in the form in which the receiving kernel passes it to a client, for
 * each of its segments; of any other MAD once. @header: number of bytes before
 * the data in a MAD of its class; 0: the class has no RMPP.
 */
void ibsa__segments_put(const uint8_t *mad, size_t len, size_t header,
			segment_fn put, void *arg);

/*
 * Clear the upper half of the TransactionID of a request that a client has sent,
 * or of a response that it has received. The kernel has put its own number
 * there, which the client sees only in the response: without it they match.
 */
void ibsa__tid_own(uint8_t *mad, bool is_sent);

#endif
