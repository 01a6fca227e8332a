/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers for the addresses of requesters outside a fabric. */
#ifndef CLIENT_PEERS_H
#define CLIENT_PEERS_H

#include <ibsa/transport.h>

#include "base/hash.h"

enum {
	PEERS_MAX = 65536,
	PEER_NONE = 0, /* no requester */
};

struct peer {
	struct hash_node node;
	struct ibsa_address at; /* of its last request */
};

struct peers {
	struct hash by_address;
	struct peer *all; /* PEERS_MAX; the first has number 1 */
	uint64_t seen;	  /* how many got a number so far */
	uint64_t secret;
};

/* Return: 0; -ENOMEM. */
int ibsa__peers_init(struct peers *peers) IBSA_MUST_USE;
void ibsa__peers_done(struct peers *peers);

/*
 * The number of the requester at an address, from 1 to PEERS_MAX. A new
 * requester gets the next number; when all are in use, the number that was
 * assigned first.
 */
uint32_t ibsa__peers_number(struct peers *peers, const struct ibsa_address *at);

/* The address of the requester with that number, or NULL. */
const struct ibsa_address *ibsa__peers_address(const struct peers *peers,
					       uint32_t number);

#endif
