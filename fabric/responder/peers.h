/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns numbers to the addresses of requesters that send requests to a
 * responder from a real subnet.
 */
#ifndef FABRIC_RESPONDER_PEERS_H
#define FABRIC_RESPONDER_PEERS_H

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
	/*
	 * Array of PEERS_MAX requesters; the requester of the first element has
	 * number 1.
	 */
	struct peer *all;
	uint64_t seen; /* how many got a number so far */
	uint64_t secret;
};

/* Return: 0; -ENOMEM. */
int ibsa__peers_init(struct peers *peers) IBSA_MUST_USE;
void ibsa__peers_done(struct peers *peers);

/*
 * Return: the number of the requester at address @at, from 1 to PEERS_MAX. A
 * new requester gets the next number; when all numbers are in use, it gets the
 * number that was assigned longest ago.
 */
uint32_t ibsa__peers_number(struct peers *peers, const struct ibsa_address *at);

/* Return: the address of the requester with this number, or NULL. */
const struct ibsa_address *ibsa__peers_address(const struct peers *peers,
					       uint32_t number);

#endif
