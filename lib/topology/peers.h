/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds what a few of many similar things lack: each thing is a set of traits,
 * things that share most of their traits are peers, and a trait that almost
 * all peers have is expected of each.
 */
#ifndef TOPOLOGY_PEERS_H
#define TOPOLOGY_PEERS_H

#include <stdint.h>

#include <ibsa/types.h>

enum { PEER_TRAITS = 64 }; /* the most traits of a thing */

/*
 * A trait. Things that share most marks are peers. Marks are small numbers: an
 * array is as long as the highest.
 */
struct trait {
	uint64_t id;
	uint32_t mark;
	uint32_t owner; /* the caller's */
};

/* A thing: its traits, in the order of their ids, at most PEER_TRAITS. */
struct peer {
	const struct trait *traits;
	uint32_t count;
};

/* A trait that a thing lacks. */
struct peer_lack {
	const struct peer *peer;
	/* A thing that its peers are like, and the trait of that one. */
	const struct peer *other;
	const struct trait *trait;
	uint32_t have; /* how many of the peers have it */
	uint32_t peers;
};

/* Return: 0; an error ends the comparison. */
typedef int (*peer_lack_fn)(const struct peer_lack *lack, void *arg);

/*
 * Compare things. A trait is told as lacking if at least three peers have it
 * and at most one has not, and one more for each eight.
 * @peers: are reordered
 * @marks: above the highest mark
 *
 * Return: 0; -ENOMEM; or the error of @lack
 */
int ibsa__peers_compare(struct peer *peers, uint32_t count, uint32_t marks,
			peer_lack_fn lack, void *arg) IBSA_MUST_USE;

#endif
