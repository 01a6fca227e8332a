/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chained hash tables whose nodes lie in the objects themselves. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <ibsa/types.h>

/* A node in an object. Keys are used as they are: counters, or well mixed. */
struct hash_node {
	struct hash_node *next;
	uint64_t key;
};

struct hash {
	struct hash_node **chains;
	size_t mask;
	size_t count;
};

/* The object of @type whose member @node is at @at. */
#define hash_object(at, type, node) \
	((type *)(void *)((char *)(at)-offsetof(type, node)))

/* Return: 0; -ENOMEM. */
int ibsa__hash_init(struct hash *hash) IBSA_MUST_USE;
void ibsa__hash_done(struct hash *hash);

/* Several nodes may have one key. Grows as long as there is memory, and
 * works on with longer chains when there is none. */
void ibsa__hash_add(struct hash *hash, struct hash_node *node, uint64_t key);
void ibsa__hash_remove(struct hash *hash, struct hash_node *node);

/* The first node with @key from @node on, or NULL. */
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
