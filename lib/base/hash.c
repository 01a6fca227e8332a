/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chained hash tables. The nodes are members of the objects in the table. */
#include <errno.h>

#include "base/alloc.h"
#include "base/hash.h"

enum { FIRST_CHAINS = 64 };

int ibsa__hash_init(struct hash *hash)
{
	*hash = (struct hash){
		.chains = ibsa__calloc(FIRST_CHAINS, sizeof(*hash->chains)),
		.mask = FIRST_CHAINS - 1,
	};
	return hash->chains ? 0 : -ENOMEM;
}

void ibsa__hash_done(struct hash *hash)
{
	ibsa__free(hash->chains);
	hash->chains = NULL;
}

static void hash_link(struct hash *hash, struct hash_node *node)
{
	struct hash_node **chain = &hash->chains[node->key & hash->mask];

	node->next = *chain;
	*chain = node;
}

static void hash_grow(struct hash *hash)
{
	struct hash bigger = { .mask = hash->mask * 2 + 1,
			       .count = hash->count };

	bigger.chains = ibsa__calloc(bigger.mask + 1, sizeof(*bigger.chains));
	if (!bigger.chains)
		return;
	for (size_t i = 0; i <= hash->mask; i++) {
		while (hash->chains[i]) {
			struct hash_node *node = hash->chains[i];

			hash->chains[i] = node->next;
			hash_link(&bigger, node);
		}
	}
	ibsa__free(hash->chains);
	*hash = bigger;
}

void ibsa__hash_add(struct hash *hash, struct hash_node *node, uint64_t key)
{
	if (hash->count > hash->mask)
		hash_grow(hash);
	node->key = key;
	hash_link(hash, node);
	hash->count++;
}

void ibsa__hash_remove(struct hash *hash, struct hash_node *node)
{
	struct hash_node **at = &hash->chains[node->key & hash->mask];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	hash->count--;
}
