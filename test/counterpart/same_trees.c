/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether two SMs with different multicast trees reach the same ports: follows
 * a packet along both from the same switch.
 */
#include <string.h>

#include "test/counterpart/same.h"
#include "wire/mad.h"

enum {
	LIDS = 256,
	GROUPS = 32, /* of the first block */
	PORTS = 64,
	POSITION_PORTS = 16,
	AT_BLOCK = 2,
	AT_TABLE = 8,
};

/* By SA, switch and group: mask of exit ports. */
static uint64_t masks[2][LIDS][GROUPS];

static void learn(struct answer *answer, uint64_t table[LIDS][GROUPS])
{
	memset(table, 0, LIDS * sizeof(table[0]));
	for (size_t i = 0; i < answer_count(answer); i++) {
		const uint8_t *record = answer_at(answer, i);
		const uint16_t lid = ibsa_be16(record);
		const uint16_t position = ibsa_be16(record + AT_BLOCK);

		if (lid >= LIDS || position & 0xfff || position >> 12 >= 4)
			die("a block of MLIDs that was not expected");
		for (size_t k = 0; k < GROUPS; k++)
			table[lid][k] |=
				(uint64_t)ibsa_be16(record + AT_TABLE + 2 * k)
				<< (position >> 12) * POSITION_PORTS;
	}
}

/*
 * The ports that a multicast packet has reached, and the number of cables that
 * it has crossed.
 */
struct spread {
	bool is_seen[LIDS];
	uint64_t ends[LIDS]; /* end ports, by switch */
	unsigned int switches;
	unsigned int cables; /* each counted from both ends */
};

static void spread(uint64_t table[LIDS][GROUPS], unsigned int group,
		   uint16_t at, struct spread *out)
{
	if (out->is_seen[at])
		return;
	out->is_seen[at] = true;
	out->switches++;
	for (unsigned int port = 0; port < PORTS; port++) {
		const uint16_t far = same_switch_beyond(at, port);

		if (!(table[at][group] >> port & 1))
			continue;
		if (!far || far >= LIDS) {
			out->ends[at] |= UINT64_C(1) << port;
			continue;
		}
		out->cables++;
		spread(table, group, far, out);
	}
}

/*
 * Follow the multicast tree from the first switch that has a port of the
 * group.
 */
static void follow(uint64_t table[LIDS][GROUPS], unsigned int group,
		   struct spread *out)
{
	*out = (struct spread){ { false } };
	for (uint16_t lid = 0; lid < LIDS; lid++) {
		if (!table[lid][group])
			continue;
		spread(table, group, lid, out);
		return;
	}
}

/*
 * Whether the packet's path is a tree. A group that is not forwarded reaches
 * no switch.
 */
static bool is_tree(const struct spread *spread)
{
	return !spread->switches ||
	       spread->cables == 2 * (spread->switches - 1);
}

bool same_trees_learn(struct answer *theirs, struct answer *ours)
{
	learn(theirs, masks[0]);
	learn(ours, masks[1]);
	for (unsigned int group = 0; group < GROUPS; group++) {
		struct spread a;
		struct spread b;

		follow(masks[0], group, &a);
		follow(masks[1], group, &b);
		if (!is_tree(&a) || !is_tree(&b) ||
		    memcmp(a.ends, b.ends, sizeof(a.ends)))
			return false;
	}
	return true;
}

/*
 * Return: a mask of the ports, at one position, that are connected to other
 * switches.
 */
static uint16_t between(uint16_t lid, unsigned int position)
{
	uint16_t mask = 0;

	for (unsigned int i = 0; i < POSITION_PORTS; i++) {
		if (same_switch_beyond(lid, position * POSITION_PORTS + i))
			mask |= (uint16_t)(1 << i);
	}
	return mask;
}

bool same_is_transit(uint16_t lid)
{
	uint64_t all = 0;

	if (lid >= LIDS)
		return false;

	for (unsigned int group = 0; group < GROUPS; group++)
		all |= masks[0][lid][group] | masks[1][lid][group];
	for (unsigned int port = 0; port < PORTS; port++) {
		if (all >> port & 1 && !same_switch_beyond(lid, port))
			return false;
	}
	return true;
}

static void leave_ends(uint8_t *record)
{
	const uint16_t drop = between(ibsa_be16(record), record[AT_BLOCK] >> 4);

	for (size_t k = 0; k < GROUPS; k++) {
		uint8_t *mask = record + AT_TABLE + 2 * k;

		ibsa_put_be16(mask, (uint16_t)(ibsa_be16(mask) & ~drop));
	}
}

static void leave_ends_of_all(struct answer *answer)
{
	const bool is_one = answer->bytes[MAD_METHOD] == IBSA_METHOD_GET_RESP;
	const size_t count = is_one ? 1 : answer_count(answer);
	const size_t stride = answer_stride(answer);
	size_t stored = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t *record = answer_at(answer, i);

		if (!is_one && same_is_transit(ibsa_be16(record)))
			continue;
		leave_ends(record);
		memmove(answer_at(answer, stored++), record, stride);
	}
	if (is_one)
		return;
	answer->len = IBSA_SA_HEADER_BYTES + stored * stride;
	if (!stored)
		ibsa_put_be16(answer->bytes + MAD_ATTRIBUTE_OFFSET, 0);
}

bool same_trees_level(struct answer *theirs, struct answer *ours)
{
	leave_ends_of_all(theirs);
	leave_ends_of_all(ours);
	return true;
}
