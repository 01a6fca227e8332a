/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that both SAs are asked for, with all that can be selected in
 * them: from the library's tables.
 */
#include <string.h>

#include "test/counterpart/same.h"

/* What the library has no table of. Offsets and bits: IBA vol 1, 15.2.5. */
/* clang-format off */
static const struct asked_record others[] = {
	{ "SLtoVLRecord", 0x0013, 3, false, {
		{ "lid", 0, 16, 0 }, { "in", 16, 8, 1, true },
		{ "out", 24, 8, 2, true } } },
	{ "SwitchInfoRecord", 0x0014, 5, false, {
		{ "lid", 0, 16, 0 }, { "linear_cap", 32, 16, 2 },
		{ "random_cap", 48, 16, 3 }, { "multicast_cap", 64, 16, 4 },
		{ "linear_top", 80, 16, 5 } } },
	{ "LFTRecord", ATTR_LFT, 2, false, {
		{ "lid", 0, 16, 0 }, { "block", 16, 16, 1 } } },
	{ "MFTRecord", ATTR_MFT, 3, false, {
		{ "lid", 0, 16, 0 }, { "position", 16, 4, 1 },
		{ "block", 23, 9, 3 } } },
	{ "SMInfoRecord", 0x0018, 5, false, {
		{ "lid", 0, 16, 0 }, { "guid", 32, 64, 2 },
		{ "sm_key", 96, 64, 3 }, { "priority", 192, 4, 5 },
		{ "state", 196, 4, 6 } } },
	{ "LinkRecord", ATTR_LINK, 4, false, {
		{ "from_lid", 0, 16, 0 }, { "from_port", 16, 8, 1 },
		{ "to_port", 24, 8, 2 }, { "to_lid", 32, 16, 3 } } },
	{ "P_KeyTableRecord", 0x0033, 3, false, {
		{ "lid", 0, 16, 0 }, { "block", 16, 16, 1 },
		{ "port", 32, 8, 2 } } },
	{ "VLArbitrationRecord", 0x0036, 3, false, {
		{ "lid", 0, 16, 0 }, { "port", 16, 8, 1 },
		{ "block", 24, 8, 2 } } },
};

static const struct {
	const struct ibsa_record *record;
	bool is_settable;
} known[] = {
	{ &ibsa_class_port_info_record, false },
	{ &ibsa_node_record, false },
	{ &ibsa_port_info_record, false },
	{ &ibsa_guid_info_record, true },
	{ &ibsa_service_record, true },
	{ &ibsa_path_record, false },
	{ &ibsa_mcmember_record, true },
	{ &ibsa_inform_info_rec_record, false },
};
/* clang-format on */

enum {
	OTHERS = sizeof(others) / sizeof(others[0]),
	KNOWN = sizeof(known) / sizeof(known[0]),
};

static void add_field(struct asked_record *out, const struct ibsa_field *field)
{
	const unsigned int values = ibsa_field_values(field);
	const unsigned int nbits = field->nbits * field->count / values;

	for (unsigned int i = 0; i < values; i++) {
		const uint64_t mask = ibsa_field_cm(field, i);

		if (!mask)
			continue;
		if (out->spot_count == SPOTS_MAX)
			die("%s has more than %d fields", out->name, SPOTS_MAX);
		out->spots[out->spot_count++] = (struct spot){
			.name = field->name,
			.at = (uint16_t)(field->bit_offset + i * nbits),
			.nbits = (uint16_t)nbits,
			.bit = (uint8_t)__builtin_ctzll(mask),
		};
	}
}

static void fill(struct asked_record *out, const struct ibsa_record *record,
		 bool is_settable)
{
	*out = (struct asked_record){
		.name = record->name,
		.attribute = record->attribute,
		.is_settable = is_settable,
	};
	for (unsigned int i = 0; i < record->field_count; i++)
		add_field(out, &record->fields[i]);
}

const struct asked_record *same_record(unsigned int index)
{
	static struct asked_record made[KNOWN];

	if (index < OTHERS)
		return &others[index];
	index -= OTHERS;
	if (index >= KNOWN)
		return NULL;
	if (!made[index].name)
		fill(&made[index], known[index].record,
		     known[index].is_settable);
	return &made[index];
}
