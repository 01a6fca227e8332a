/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out whether the P_Keys of two ports exclude a path. Two ports can
 * communicate if they are members of one partition and at least one port is a
 * full member (IBA vol 1, 10.9.3).
 */
#include <errno.h>
#include <stdio.h>

#include <ibsa/text.h>

#include "client/reason.h"

enum { FULL = 0x8000, DEFAULT = 0x7fff, TEXT = 64 };

static bool is_same_partition(uint16_t a, uint16_t b)
{
	return !((a ^ b) & ~FULL);
}

static void pkeys_add(struct reason_pkeys *pkeys, uint16_t pkey)
{
	const size_t room = sizeof(pkeys->all) / sizeof(pkeys->all[0]);

	if (!(pkey & ~FULL))
		return;
	if (pkeys->count == room)
		pkeys->is_cut = true;
	else
		pkeys->all[pkeys->count++] = pkey;
}

void ibsa__reason_own_pkeys(struct ibsa__reason_search *search,
			    struct reason_pkeys *out)
{
	const size_t room = sizeof(out->all) / sizeof(out->all[0]);
	struct ibsa_transport *transport = search->transport;
	uint16_t pkey;

	*out = (struct reason_pkeys){ .count = 0 };
	for (uint32_t i = 0; IBSA_TRANSPORT_HAS(transport, pkey) && i < room;
	     i++) {
		if (transport->ops->pkey(transport, i, &pkey))
			return;
		pkeys_add(out, pkey);
	}
	out->is_cut = true;
}

/*
 * Store the P_Keys of a P_KeyTable reply. The SA returns the tables of all
 * ports of a switch: only those of the lowest port number are stored, which is
 * port 0, the switch's own port.
 */
void ibsa__reason_read_pkeys(const struct ibsa_reply *reply,
			     struct reason_pkeys *out)
{
	struct ibsa_pkey_table row;
	uint8_t port_num = UINT8_MAX;

	*out = (struct reason_pkeys){ .count = 0 };
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &row, sizeof(row)) == 0 &&
		    row.port_num < port_num)
			port_num = row.port_num;
	}
	for (size_t i = 0; i < reply->count; i++) {
		if (ibsa_reply_decode(reply, i, &row, sizeof(row)) != 0 ||
		    row.port_num != port_num)
			continue;
		for (size_t k = 0; k < sizeof(row.pkey) / sizeof(*row.pkey);
		     k++)
			pkeys_add(out, row.pkey[k]);
	}
}

void ibsa__reason_query_pkeys(struct ibsa__reason_search *search,
			      struct ibsa_query *out)
{
	search->match.pkey_table = (struct ibsa_pkey_table){
		.lid = (uint16_t)search->target->lid,
	};
	ibsa__reason_query_make(search, &ibsa_pkey_table_record,
				IBSA_PKEY_TABLE_CM(lid), out);
	out->method = IBSA_METHOD_GET_TABLE;
}

/* Write the first P_Keys of a port into @out, for a sentence. */
static const char *pkeys_text(const struct reason_pkeys *pkeys, char out[TEXT])
{
	enum { SHOWN = 6 };
	size_t len = 0;

	snprintf(out, TEXT, "none");
	for (unsigned int i = 0; i < pkeys->count && i < SHOWN; i++)
		len += (size_t)snprintf(out + len, TEXT - len, "%s0x%04x",
					i ? ", " : "", pkeys->all[i]);
	if (pkeys->count > SHOWN)
		snprintf(out + len, TEXT - len, ", ...");
	return out;
}

/* The partitions that both ports are members of. */
struct common {
	/*
	 * The P_Key of a partition in which at least one of both ports is a
	 * full member; 0: there is none.
	 */
	uint16_t usable;
	/*
	 * The P_Key of a partition in which both ports are limited members; 0:
	 * there is none.
	 */
	uint16_t limited;
	/*
	 * The default partition is the only partition that both ports have in
	 * common.
	 */
	bool is_default;
};

static struct common common_find(const struct reason_pkeys *a,
				 const struct reason_pkeys *b)
{
	struct common common = { .is_default = true };

	for (unsigned int i = 0; i < a->count; i++) {
		const uint16_t partition = a->all[i] & ~FULL;

		for (unsigned int k = 0; k < b->count; k++) {
			if (!is_same_partition(a->all[i], b->all[k]))
				continue;
			if ((a->all[i] | b->all[k]) & FULL)
				common.usable = partition;
			else if (!common.limited || common.is_default)
				common.limited = partition;
			common.is_default &= partition == DEFAULT;
		}
	}
	return common;
}

static bool has_other_partition(const struct reason_pkeys *pkeys)
{
	for (unsigned int i = 0; i < pkeys->count; i++) {
		if ((pkeys->all[i] & ~FULL) != DEFAULT)
			return true;
	}
	return false;
}

/*
 * Compare the P_Keys of both ends. OpenSM makes every port a member of the
 * default partition. Two ports that each have another partition as well are
 * therefore reported as having no P_Key in common, even if both are limited
 * members of the default partition.
 */
void ibsa__reason_compare_pkeys(struct ibsa__reason_search *search,
				const struct reason_pkeys *from,
				const struct reason_pkeys *to)
{
	const bool is_certain = !from->is_cut && !to->is_cut;
	const struct common common = common_find(from, to);
	char from_text[TEXT], to_text[TEXT];

	if (common.usable)
		ibsa__reason_set(search, IBSA_REASON_NONE, false,
				 "the ports share P_Key 0x%04x; the switches "
				 "possibly have no route",
				 common.usable | FULL);
	else if (common.limited &&
		 !(common.is_default && has_other_partition(from) &&
		   has_other_partition(to)))
		ibsa__reason_set(search, IBSA_REASON_BOTH_LIMITED, is_certain,
				 "partition 0x%04x", common.limited);
	else
		ibsa__reason_set(search, IBSA_REASON_NO_PKEY, is_certain,
				 common.limited
					 ? "P_Keys of the source: %s; of the "
					   "destination: %s; both are limited "
					   "members of the default partition"
					 : "P_Keys of the source: %s; of the "
					   "destination: %s",
				 pkeys_text(from, from_text),
				 pkeys_text(to, to_text));
}

/*
 * Guess the reason from paths of this port: it shares a P_Key with each end. If
 * both P_Keys are of one partition, both ends are members of it, and the
 * missing path probably means that neither is a full member.
 */
void ibsa__reason_guess_pkeys(struct ibsa__reason_search *search)
{
	const uint16_t from = search->from.pkey;
	const uint16_t to = search->to.pkey;
	const bool has_key = ibsa__reason_has_key(search);
	const char *certainty;

	if (ibsa__reason_constraints(search->query.mask))
		certainty = has_key ? "query without constraints"
				    : "query with the SM_Key and without "
				      "constraints";
	else
		certainty = has_key ? "compare their P_KeyTableRecords"
				    : "query with the SM_Key";

	if (is_same_partition(from, to))
		ibsa__reason_set(search, IBSA_REASON_BOTH_LIMITED, false,
				 "the source and the destination are members "
				 "of partition 0x%04x; to be certain, %s",
				 from & ~FULL, certainty);
	else
		ibsa__reason_set(
			search, IBSA_REASON_NO_PKEY, false,
			"this port shares P_Key 0x%04x with the source and "
			"0x%04x with the destination; to be certain, %s",
			from, to, certainty);
}

void ibsa__reason_own_path(struct ibsa__reason_search *search)
{
	struct reason_pkeys own;

	ibsa__reason_own_pkeys(search, &own);
	if (own.count)
		ibsa__reason_compare_pkeys(search, &own, &own);
	else
		ibsa__reason_set(search, IBSA_REASON_NONE, false,
				 "the reason is not known: no P_Key of this "
				 "port could be read");
}
