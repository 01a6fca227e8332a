/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who asks from outside a fabric: a number for each address. */
#ifndef CLIENT_PEERS_H
#define CLIENT_PEERS_H

#include <ibsa/transport.h>

#include "base/hash.h"

enum {
	PEERS_MAX = 65536,
	PEER_NONE = 0, /* nobody's number */
};

struct peer {
	struct hash_node node;
	struct ibsa_address at; /* as it has last asked */
};

struct peers {
	struct hash by_address;
	struct peer *all; /* PEERS_MAX; number 1 first */
	uint64_t seen;	  /* how many have got a number */
	uint64_t secret;
};

/* Return: 0; -ENOMEM. */
int ibsa__peers_init(struct peers *peers) IBSA_MUST_USE;
void ibsa__peers_done(struct peers *peers);

/*
 * The number of who is at that address, from 1 to PEERS_MAX. A new one gets
 * the next; when all are given, that of who has had its for longest.
 */
uint32_t ibsa__peers_number(struct peers *peers, const struct ibsa_address *at);

/* Where the one with that number is, or NULL. */
const struct ibsa_address *ibsa__peers_address(const struct peers *peers,
					       uint32_t number);

#endif
