/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups from a partition file: parses their flags and creates them.
 *
 * Source: OpenSM 3.3, doc/partition-config.txt, osm_prtn_config.c.
 */
#include <errno.h>
#include <string.h>

#include <ibsa/text.h>

#include "fabric/sa/partition_reader.h"

static int read_number(const struct reader *reader, const struct token *token,
		       uint64_t least, uint64_t most, uint64_t *out)
{
	uint64_t value;

	if (!token->has_value ||
	    !ibsa__partitions_number(token->value, &value) || value < least ||
	    value > most)
		return ibsa__partitions_fail(
			reader, -EINVAL,
			"the value of %.*s must be a number from %llu to "
			"%llu",
			(int)token->name.len, token->name.text,
			(unsigned long long)least, (unsigned long long)most);
	*out = value;
	return 0;
}

int ibsa__partitions_group_flag(const struct reader *reader,
				const struct token *token,
				struct group_flags *out)
{
	enum { MTU_CODES = 5, SL_MAX = 15, FLOW_MAX = 0xfffff };
	uint64_t scope = 0;
	int err;

	if (partitions_is_word(token->name, "mtu"))
		return read_number(reader, token, 1, MTU_CODES, &out->mtu);
	if (partitions_is_word(token->name, "rate"))
		return read_number(reader, token, 2, RATE_CODE_MAX, &out->rate);
	if (partitions_is_word(token->name, "Q_Key"))
		return read_number(reader, token, 0, UINT32_MAX, &out->qkey);
	if (partitions_is_word(token->name, "TClass"))
		return read_number(reader, token, 0, UINT8_MAX, &out->tclass);
	if (partitions_is_word(token->name, "sl"))
		return read_number(reader, token, 0, SL_MAX, &out->sl);
	if (partitions_is_word(token->name, "FlowLabel"))
		return read_number(reader, token, 0, FLOW_MAX,
				   &out->flow_label);
	if (!partitions_is_word(token->name, "scope"))
		return 1;
	err = read_number(reader, token, 1, SCOPES - 1, &scope);
	if (!err)
		out->scopes |= UINT32_C(1) << scope;
	return err;
}

static bool is_ip(const uint8_t *mgid)
{
	const uint16_t signature = ibsa_be16(mgid + 2);

	return signature == 0x401b || signature == 0x601b;
}

/*
 * Whether the group of the file can be created: a group of IPoIB needs a
 * broadcast group with its scope and P_Key.
 */
static bool is_possible(const struct reader *reader, const uint8_t *mgid)
{
	const uint8_t broadcast[MGID_BYTES] = {
		0xff,	 mgid[1],     0x40, 0x1b, mgid[4],
		mgid[5], [12] = 0xff, 0xff, 0xff, 0xff
	};

	return !is_ip(mgid) || !memcmp(mgid, broadcast, MGID_BYTES) ||
	       ibsa__groups_find(&reader->sa->groups, broadcast);
}

/*
 * Add the group of the file for one scope, unless its MGID already exists, or
 * it is a group of IPoIB without a broadcast group.
 */
static int add_group(struct reader *reader, const struct ibsa_gid *mgid,
		     const struct group_flags *flags, uint32_t scope)
{
	struct ibsa_mcmember record = {
		.mgid = *mgid,
		.qkey = (uint32_t)flags->qkey,
		.mtu_selector = IBSA_SELECT_EXACTLY,
		.mtu = (uint8_t)flags->mtu,
		.tclass = (uint8_t)flags->tclass,
		.pkey = reader->now.partition->pkey | IBSA_PKEY_FULL,
		.rate_selector = IBSA_SELECT_EXACTLY,
		.rate = (uint8_t)flags->rate,
		.packet_life_time_selector = IBSA_SELECT_EXACTLY,
		.packet_life_time = LIFE_TIME,
		.sl = (uint8_t)flags->sl,
		.flow_label = (uint32_t)flags->flow_label,
		.hop_limit = scope == DEFAULT_SCOPE ? 0 : UINT8_MAX,
		.scope = (uint8_t)scope,
		.join_state = JOIN_FULL,
	};
	struct groups *groups = &reader->sa->groups;
	uint8_t *raw = record.mgid.raw;
	struct group *group;
	int err;

	raw[1] = (uint8_t)((raw[1] & 0xf0) | scope);
	if (ibsa__groups_find(groups, raw) || !is_possible(reader, raw))
		return 0;
	err = ibsa__groups_add(groups, &record, &group);
	if (err == -ENOSPC)
		return ibsa__partitions_fail(reader, -EINVAL,
					     "the file has more than %d "
					     "multicast groups",
					     GROUPS_MAX);
	if (err)
		return ibsa__partitions_fail(reader, -ENOMEM, "out of memory");
	group->is_permanent = true;
	return 0;
}

static int add_groups(struct reader *reader, const struct ibsa_gid *mgid,
		      const struct group_flags *flags)
{
	int err = 0;

	if (!flags->scopes)
		return add_group(reader, mgid, flags, DEFAULT_SCOPE);
	for (uint32_t scope = 0; scope < SCOPES && !err; scope++) {
		if (flags->scopes >> scope & 1)
			err = add_group(reader, mgid, flags, scope);
	}
	return err;
}

/*
 * Add the broadcast group of IPoIB (RFC 4391, 4) for a partition. OpenSM
 * creates it in the default scope only, although its documentation mentions
 * other scopes.
 */
int ibsa__partitions_broadcast(struct reader *reader)
{
	struct group_flags flags = reader->now.flags;
	struct ibsa_gid mgid = { { 0xff, 0x12, 0x40, 0x1b, [12] = 0xff, 0xff,
				   0xff, 0xff } };

	ibsa_put_be16(mgid.raw + 4,
		      reader->now.partition->pkey | IBSA_PKEY_FULL);
	flags.scopes = 0;
	if (!flags.qkey)
		flags.qkey = IPOIB_QKEY;
	return add_groups(reader, &mgid, &flags);
}

/*
 * Check a group of IPoIB: its MGID must contain the P_Key of its partition, or
 * 0, which is replaced by that P_Key; and it must have the rate and MTU of the
 * broadcast group.
 */
static int check_ip(const struct reader *reader, struct ibsa_gid *mgid,
		    struct group_flags *flags)
{
	const uint16_t pkey = reader->now.partition->pkey | IBSA_PKEY_FULL;
	const uint16_t have = ibsa_be16(mgid->raw + 4);

	if (have && have != pkey)
		return ibsa__partitions_fail(
			reader, -EINVAL,
			"the mgid contains the P_Key 0x%04x; its partition "
			"has 0x%04x",
			have, pkey);
	if (flags->rate != reader->now.flags.rate ||
	    flags->mtu != reader->now.flags.mtu)
		return ibsa__partitions_fail(
			reader, -EINVAL,
			"the rate and mtu of an IPoIB group must equal those of "
			"its partition");
	ibsa_put_be16(mgid->raw + 4, pkey);
	if (!flags->qkey)
		flags->qkey = IPOIB_QKEY;
	return 0;
}

static int read_mgid(const struct reader *reader, struct slice text,
		     struct ibsa_gid *out)
{
	char room[IBSA_GID_TEXT];

	if (text.len < sizeof(room)) {
		memcpy(room, text.text, text.len);
		room[text.len] = '\0';
		if (!ibsa_gid_parse(room, out) && out->raw[0] == 0xff)
			return 0;
	}
	return ibsa__partitions_fail(reader, -EINVAL,
				     "\"%.*s\" is not a multicast GID",
				     (int)text.len, text.text);
}

int ibsa__partitions_group(struct reader *reader, struct slice mgid,
			   struct slice rest)
{
	struct group_flags flags = reader->now.flags;
	bool has_more = rest.len;
	struct ibsa_gid gid;
	int err = read_mgid(reader, mgid, &gid);

	flags.tclass = 0;
	while (has_more && !err) {
		struct slice text;
		struct token flag;

		has_more = ibsa__partitions_split(&rest, ',', &text);
		flag = ibsa__partitions_token(text);
		err = ibsa__partitions_group_flag(reader, &flag, &flags);
		if (err > 0)
			err = ibsa__partitions_fail(
				reader, -EINVAL,
				"\"%.*s\" is not a flag of a group: use " PARTITIONS_GROUP_FLAGS,
				(int)text.len, text.text);
	}
	if (!err && is_ip(gid.raw))
		err = check_ip(reader, &gid, &flags);
	if (err || ibsa__groups_find(&reader->sa->groups, gid.raw))
		return err;
	return add_groups(reader, &gid, &flags);
}
