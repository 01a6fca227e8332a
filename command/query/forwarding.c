/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the forwarding tables of switches, a line for each LID and switch. The
 * SA returns records that each contain a block of a table.
 *
 * Source: IBA vol 1, 14.2.5.10 and 14.2.5.12.
 */
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

enum {
	LFT_ENTRIES = 64,
	MFT_ENTRIES = 32,
	MFT_PORTS = 16, /* in a mask */
	MLID_FIRST = 0xc000,
	NO_PORT = 255,
};

/*
 * To which port the switch @lid forwards packets for the LID @to; or to which
 * ports, a mask in which bit 0 is the port @first.
 */
struct entry {
	uint16_t lid; /* of the switch */
	uint16_t to;
	uint16_t first;
	uint16_t ports;
};

struct entries {
	struct entry *all;
	size_t count;
	bool is_multicast;
};

static int by_lid(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->lid != y->lid)
		return x->lid < y->lid ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void lft_add(struct entries *entries, const struct ibsa_lft *block)
{
	for (unsigned int i = 0; i < LFT_ENTRIES; i++)
		if (block->port[i] != NO_PORT)
			entries->all[entries->count++] = (struct entry){
				.lid = block->lid,
				.to = (uint16_t)(LFT_ENTRIES *
							 block->block_num +
						 i),
				.ports = block->port[i],
			};
}

static void mft_add(struct entries *entries, const struct ibsa_mft *block)
{
	for (unsigned int i = 0; i < MFT_ENTRIES; i++)
		if (block->port_mask[i])
			entries->all[entries->count++] = (struct entry){
				.lid = block->lid,
				.to = (uint16_t)(MLID_FIRST +
						 MFT_ENTRIES *
							 block->block_num +
						 i),
				.first =
					(uint16_t)(MFT_PORTS * block->position),
				.ports = block->port_mask[i],
			};
}

static void lft_row(struct out *out, size_t index, void *arg)
{
	const struct entries *entries = arg;
	const struct entry *entry = &entries->all[index];

	out_count(out, "lid", entry->lid);
	out_count(out, "to_lid", entry->to);
	out_count(out, "port", entry->ports);
}

static void mft_row(struct out *out, size_t index, void *arg)
{
	const struct entries *entries = arg;
	const struct entry *entry = &entries->all[index];
	char text[1024] = "";
	size_t len = 0;

	for (unsigned int i = 0; i < MFT_PORTS; i++)
		if (entry->ports >> i & 1)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s%u", len ? "," : "",
						entry->first + i);
	out_count(out, "lid", entry->lid);
	out_hex16(out, "to_lid", entry->to);
	out_text(out, "ports", text);
}

bool is_forwarding(const struct ibsa_record *record)
{
	return record == &ibsa_lft_record || record == &ibsa_mft_record;
}

int forwarding_print(struct out *out, const struct ibsa_reply *reply)
{
	struct entries entries = {
		.is_multicast = reply->record == &ibsa_mft_record,
	};
	union {
		struct ibsa_lft lft;
		struct ibsa_mft mft;
	} block;

	entries.all = calloc(reply->count * LFT_ENTRIES + 1,
			     sizeof(*entries.all));
	if (!entries.all)
		return no_memory();
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &block,
				      reply->record->host_size) != 0)
			continue;
		if (entries.is_multicast)
			mft_add(&entries, &block.mft);
		else
			lft_add(&entries, &block.lft);
	}
	qsort(entries.all, entries.count, sizeof(*entries.all), by_lid);
	out_rows(out, entries.count, entries.is_multicast ? mft_row : lft_row,
		 &entries);
	free(entries.all);
	return CLI_DONE;
}
