/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether two SMs with different routes have routed equally well: follows both
 * forwarding tables along the cables, and compares where they lead.
 */
#include <string.h>

#include "test/counterpart/same.h"
#include "wire/mad.h"

enum {
	LIDS = 1024,
	PORTS = 256,
	BLOCK_LIDS = 64,
	NO_PORT = 0xff,
	HOPS_MAX = 64,
	AT_BLOCK = 2,
	AT_TABLE = 8,
	LOST = 0xee, /* Hop count that means that there is no route. */
};

/* By switch and port: the LID at the other end of the port's cable, or 0. */
static uint16_t cables[LIDS][PORTS];
static uint8_t tables[2][LIDS][LIDS]; /* exit port by switch and destination */
static bool is_switch[LIDS];

static void learn_links(struct answer *links)
{
	for (size_t i = 0; i < answer_count(links); i++) {
		const uint8_t *link = answer_at(links, i);
		const uint16_t from = ibsa_be16(link);

		if (from < LIDS)
			cables[from][link[2]] = ibsa_be16(link + 4);
	}
}

static void learn_table(struct answer *answer, uint8_t table[LIDS][LIDS])
{
	memset(table, NO_PORT, LIDS * LIDS);
	for (size_t i = 0; i < answer_count(answer); i++) {
		const uint8_t *record = answer_at(answer, i);
		const uint16_t lid = ibsa_be16(record);
		const size_t first = BLOCK_LIDS *
				     (size_t)ibsa_be16(record + AT_BLOCK);

		if (lid >= LIDS || first + BLOCK_LIDS > LIDS)
			die("LIDs above %d", LIDS);
		is_switch[lid] = true;
		memcpy(&table[lid][first], record + AT_TABLE, BLOCK_LIDS);
	}
}

bool same_is_switch(uint16_t lid)
{
	return lid < LIDS && is_switch[lid];
}

void same_routes_learn(struct answer *links, struct answer *theirs,
		       struct answer *ours)
{
	learn_links(links);
	learn_table(theirs, tables[0]);
	learn_table(ours, tables[1]);
}

uint16_t same_switch_beyond(uint16_t lid, unsigned int port)
{
	const uint16_t far = lid < LIDS && port < PORTS ? cables[lid][port] : 0;

	return far < LIDS && is_switch[far] ? far : 0;
}

/* Return: the number of cables on the route from a switch to a LID, or LOST. */
static uint8_t hops(uint8_t table[LIDS][LIDS], uint16_t at, uint16_t to)
{
	for (uint8_t count = 0; count < HOPS_MAX; count++) {
		uint8_t port;

		if (at == to)
			return count;
		if (!at || at >= LIDS || !is_switch[at])
			return LOST;
		port = table[at][to];
		if (port == NO_PORT)
			return LOST;
		at = cables[at][port];
	}
	return LOST;
}

static void level_block(uint8_t *record, uint8_t table[LIDS][LIDS])
{
	const uint16_t lid = ibsa_be16(record);
	const size_t first = BLOCK_LIDS * (size_t)ibsa_be16(record + AT_BLOCK);

	if (lid >= LIDS || first + BLOCK_LIDS > LIDS)
		return;
	for (size_t i = 0; i < BLOCK_LIDS; i++) {
		if (record[AT_TABLE + i] == table[lid][first + i] &&
		    record[AT_TABLE + i] != NO_PORT)
			record[AT_TABLE + i] = hops(table, lid,
						    (uint16_t)(first + i));
	}
}

bool same_routes_level(struct answer *theirs, struct answer *ours)
{
	struct answer *const answers[] = { theirs, ours };

	for (int source = 0; source < 2; source++) {
		struct answer *answer = answers[source];
		const bool is_one = answer->bytes[MAD_METHOD] ==
				    IBSA_METHOD_GET_RESP;
		const size_t count = is_one ? 1 : answer_count(answer);

		for (size_t i = 0; i < count; i++)
			level_block(answer_at(answer, i), tables[source]);
	}
	return true;
}
