/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chained hash tables. The nodes are members of the objects in the table. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <ibsa/types.h>

/*
 * A node, which is a member of an object in a hash table. The lower bits of a
 * key select the chain: keys must be counters or well mixed.
 */
struct hash_node {
	struct hash_node *next;
	uint64_t key;
};

struct hash {
	struct hash_node **chains;
	size_t mask;
	size_t count;
};

/* Return: the object of type @type whose member @node has the address @at. */
#define hash_object(at, type, node) \
	((type *)(void *)((char *)(at)-offsetof(type, node)))

/* Return: 0; -ENOMEM. */
int ibsa__hash_init(struct hash *hash) IBSA_MUST_USE;
void ibsa__hash_done(struct hash *hash);

/*
 * Add @node with @key to the table; several nodes may have one key. The table
 * grows with the number of nodes; if memory runs out, its chains become longer
 * instead.
 */
void ibsa__hash_add(struct hash *hash, struct hash_node *node, uint64_t key);
void ibsa__hash_remove(struct hash *hash, struct hash_node *node);

/* Return: the first node with @key in the chain from @node on, or NULL. */
static inline struct hash_node *hash_from(struct hash_node *node, uint64_t key)
{
	while (node && node->key != key)
		node = node->next;
	return node;
}

static inline struct hash_node *hash_find(const struct hash *hash, uint64_t key)
{
	return hash_from(hash->chains[key & hash->mask], key);
}

#endif
