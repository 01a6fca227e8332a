/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns numbers to the addresses of requesters that send requests to a
 * responder from a real subnet.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/secret.h"
#include "fabric/responder/peers.h"

int ibsa__peers_init(struct peers *peers)
{
	int err = ibsa__hash_init(&peers->by_address);

	if (err)
		return err;
	peers->secret = ibsa__secret();
	peers->all = ibsa__calloc(PEERS_MAX, sizeof(*peers->all));
	if (peers->all)
		return 0;
	ibsa__hash_done(&peers->by_address);
	return -ENOMEM;
}

void ibsa__peers_done(struct peers *peers)
{
	ibsa__hash_done(&peers->by_address);
	ibsa__free(peers->all);
}

/*
 * Whether two addresses belong to one requester. The members compared here must
 * be equal; flow label, service level and other members may differ.
 */
static bool address_is_same(const struct ibsa_address *a,
			    const struct ibsa_address *b)
{
	return a->lid == b->lid && a->qpn == b->qpn &&
	       a->pkey_index == b->pkey_index && a->path_bits == b->path_bits &&
	       a->has_grh == b->has_grh && a->gid_index == b->gid_index &&
	       !memcmp(&a->gid, &b->gid, sizeof(a->gid));
}

static void hash_mix(struct random *hash, uint64_t word)
{
	hash->state = random_next(hash) ^ word;
}

/*
 * Return: the hash key of a requester's address. The key includes a secret:
 * otherwise requesters could choose addresses that have the same key.
 */
static uint64_t address_key(const struct peers *peers,
			    const struct ibsa_address *at)
{
	struct random hash = { peers->secret };

	hash_mix(&hash, (uint64_t)at->lid << 32 | at->qpn);
	hash_mix(&hash, (uint64_t)at->pkey_index << 32 | at->path_bits << 16 |
				at->has_grh << 8 | at->gid_index);
	hash_mix(&hash, ibsa_be64(at->gid.raw));
	hash_mix(&hash, ibsa_be64(at->gid.raw + 8));
	return random_next(&hash);
}

static struct peer *peer_find(const struct peers *peers, uint64_t key,
			      const struct ibsa_address *at)
{
	struct hash_node *node = hash_find(&peers->by_address, key);

	for (; node; node = hash_from(node->next, key)) {
		struct peer *peer = hash_object(node, struct peer, node);

		if (address_is_same(&peer->at, at))
			return peer;
	}
	return NULL;
}

uint32_t ibsa__peers_number(struct peers *peers, const struct ibsa_address *at)
{
	const uint64_t key = address_key(peers, at);
	struct peer *peer = peer_find(peers, key, at);

	if (!peer) {
		peer = &peers->all[peers->seen % PEERS_MAX];
		if (peers->seen >= PEERS_MAX)
			ibsa__hash_remove(&peers->by_address, &peer->node);
		peers->seen++;
		ibsa__hash_add(&peers->by_address, &peer->node, key);
	}
	peer->at = *at;
	return (uint32_t)(peer - peers->all) + 1;
}

const struct ibsa_address *ibsa__peers_address(const struct peers *peers,
					       uint32_t number)
{
	if (number == PEER_NONE || number > PEERS_MAX || number > peers->seen)
		return NULL;
	return &peers->all[number - 1].at;
}
