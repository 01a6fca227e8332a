/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a packet in which identical requests are equal. */
#ifndef IBSAD_KEY_H
#define IBSAD_KEY_H

#include <stdbool.h>
#include <stdint.h>

/* All packets are of QUEUE_FIRST_BYTES. @seed: of the hash */
uint64_t ibsad_key_hash(uint64_t seed, const uint8_t *packet);
bool ibsad_key_is_same(const uint8_t *a, const uint8_t *b);

/*
 * Make the request only from the key of @packet: otherwise, other bytes of one
 * client's packet could change the reply that all clients with the same query
 * receive.
 */
void ibsad_key_request(uint8_t *request, const uint8_t *packet);

#endif
