/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what a few of many similar objects, such as hosts, lack. Each object is
 * a set of traits. Objects that share most marks of their traits are peers, and
 * a trait that almost all peers have is expected of each of them.
 */
#ifndef TOPOLOGY_PEERS_H
#define TOPOLOGY_PEERS_H

#include <stdint.h>

#include <ibsa/types.h>

enum { PEER_TRAITS = 64 }; /* most traits of an object */

/*
 * A trait. Several traits may have one mark. Marks are indices of an array, so
 * they should be small.
 */
struct trait {
	uint64_t id;
	uint32_t mark;
	uint32_t owner; /* the caller's */
};

/* An object: its traits, in the order of their ids, at most PEER_TRAITS. */
struct peer {
	const struct trait *traits;
	uint32_t count;
};

/* A trait that an object lacks. */
struct peer_lack {
	const struct peer *peer;
	/* An object that represents the peers, and its trait. */
	const struct peer *other;
	const struct trait *trait;
	uint32_t have; /* how many of the peers have it */
	uint32_t peers;
};

/* Return: 0; an error ends the comparison. */
typedef int (*peer_lack_fn)(const struct peer_lack *lack, void *arg);

/*
 * Compare objects. @lack is called for each object that lacks a trait which at
 * least three of its peers have, and which at most one peer, and one more for
 * each eight peers, lacks.
 * @peers: the objects; they are reordered
 * @marks: a number above the highest mark
 *
 * Return: 0; -ENOMEM; or the error of @lack
 */
int ibsa__peers_compare(struct peer *peers, uint32_t count, uint32_t marks,
			peer_lack_fn lack, void *arg) IBSA_MUST_USE;

#endif
