/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records that the requests select, with all their fields, from the
 * library's tables.
 */
#include <string.h>

#include "test/counterpart/same.h"

/* clang-format off */
static const struct {
	const struct ibsa_record *record;
	bool is_settable;
	/*
	 * OpenSM crashes at a request with a port number that does not exist.
	 */
	bool is_frail;
} known[] = {
	{ &ibsa_sl_to_vl_record, .is_frail = true },
	{ &ibsa_switch_info_record },
	{ &ibsa_lft_record },
	{ &ibsa_mft_record },
	{ &ibsa_sm_info_record },
	{ &ibsa_link_record },
	{ &ibsa_pkey_table_record },
	{ &ibsa_vl_arbitration_record },
	{ &ibsa_class_port_info_record },
	{ &ibsa_node_record },
	{ &ibsa_port_info_record },
	{ &ibsa_guid_info_record, .is_settable = true },
	{ &ibsa_service_record, .is_settable = true },
	{ &ibsa_path_record },
	{ &ibsa_mcmember_record, .is_settable = true },
	{ &ibsa_inform_info_rec_record },
};
/* clang-format on */

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

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

static void fill(struct asked_record *out, unsigned int index)
{
	const struct ibsa_record *record = known[index].record;

	*out = (struct asked_record){
		.name = record->name,
		.attribute = record->attribute,
		.is_settable = known[index].is_settable,
	};
	for (unsigned int i = 0; i < record->field_count; i++)
		add_field(out, &record->fields[i]);
	for (unsigned int i = 0; known[index].is_frail && i < out->spot_count;
	     i++)
		out->spots[i].is_frail = out->spots[i].nbits == 8;
}

const struct asked_record *same_record(unsigned int index)
{
	static struct asked_record made[KNOWN];

	if (index >= KNOWN)
		return NULL;
	if (!made[index].name)
		fill(&made[index], index);
	return &made[index];
}
