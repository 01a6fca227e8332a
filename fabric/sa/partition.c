/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Partitions from a file: definitions of partitions with their ports and
 * multicast groups, each ended by a semicolon.
 *
 * Source: OpenSM 3.3, doc/partition-config.txt; and osm_prtn_config.c for what
 * this text does not document: words may be abbreviated; a definition's head is
 * on one line; and everything from "mgid" to the end of the line belongs to the
 * group.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/read_file.h"
#include "fabric/sa/partition_reader.h"

int ibsa__partitions_fail(const struct reader *reader, int err,
			  const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return ibsa__fail(reader->error, err, "%.60s:%u: %s", reader->name,
			  reader->line, what);
}

static struct slice slice_trim(struct slice text)
{
	while (text.len && cursor_is_blank(*text.text)) {
		text.text++;
		text.len--;
	}
	while (text.len && cursor_is_blank(text.text[text.len - 1]))
		text.len--;
	return text;
}

bool ibsa__partitions_split(struct slice *rest, char mark, struct slice *out)
{
	const char *at = rest->len ? memchr(rest->text, mark, rest->len) : NULL;
	const size_t len = at ? (size_t)(at - rest->text) : rest->len;

	*out = slice_trim((struct slice){ rest->text, len });
	rest->text += at ? len + 1 : len;
	rest->len -= at ? len + 1 : len;
	return at;
}

struct token ibsa__partitions_token(struct slice text)
{
	struct token token;

	token.has_value = ibsa__partitions_split(&text, '=', &token.name);
	token.value = slice_trim(text);
	return token;
}

bool ibsa__partitions_number(struct slice text, uint64_t *out)
{
	struct cursor line = { text.text, text.text + text.len };

	return ibsa__cursor_number(&line, 0, out) && line.at == line.end;
}

static int read_membership(const struct reader *reader, struct slice text,
			   enum membership *out)
{
	if (partitions_is_word(text, "full") ||
	    partitions_is_word(text, "both"))
		*out = FULL;
	else if (partitions_is_word(text, "limited"))
		*out = LIMITED;
	else
		return ibsa__partitions_fail(
			reader, -EINVAL,
			"\"%.*s\" is not a membership: use full, limited or "
			"both",
			(int)text.len, text.text);
	return 0;
}

static int read_flag(struct reader *reader, const struct token *token)
{
	struct definition *now = &reader->now;
	const int err = ibsa__partitions_group_flag(reader, token, &now->flags);

	if (err <= 0)
		return err;
	if (partitions_is_word(token->name, "ipoib")) {
		now->is_ipoib = true;
		return 0;
	}
	if (partitions_is_word(token->name, "indx0")) {
		now->is_first = true;
		return 0;
	}
	if (partitions_is_word(token->name, "defmember"))
		return read_membership(reader, token->value, &now->membership);
	return ibsa__partitions_fail(
		reader, -EINVAL,
		"\"%.*s\" is not a flag of a partition: "
		"use ipoib, indx0, defmember, " PARTITIONS_GROUP_FLAGS,
		(int)token->name.len, token->name.text);
}

static struct partition *by_pkey(const struct reader *reader, uint16_t pkey)
{
	for (size_t i = 0; i < reader->count; i++) {
		if (reader->all[i].pkey == pkey)
			return &reader->all[i];
	}
	return NULL;
}

static struct partition *by_name(const struct reader *reader, struct slice name)
{
	for (size_t i = 0; name.len && i < reader->count; i++) {
		const struct slice have = reader->all[i].name;

		if (have.len == name.len &&
		    !memcmp(have.text, name.text, name.len))
			return &reader->all[i];
	}
	return NULL;
}

/*
 * Return: a P_Key that no partition before this line of the file has, for a
 * partition whose line has none; 0: all are in use.
 */
static uint16_t generate_pkey(struct reader *reader)
{
	while (reader->generated < DEFAULT_PARTITION - 1) {
		if (!by_pkey(reader, ++reader->generated))
			return reader->generated;
	}
	return 0;
}

/*
 * Find the partition with @pkey, or with the name if @pkey is 0. If it does
 * not exist, add it.
 */
static int find_partition(struct reader *reader, struct slice name,
			  uint16_t pkey)
{
	struct partition *found = pkey ? by_pkey(reader, pkey)
				       : by_name(reader, name);

	if (!found) {
		if (!pkey)
			pkey = generate_pkey(reader);
		if (!pkey || reader->count == PARTITIONS_MAX)
			return ibsa__partitions_fail(
				reader, -EINVAL,
				"the file has more than %d partitions, counting "
				"the default partition",
				PARTITIONS_MAX);
		found = &reader->all[reader->count++];
		*found = (struct partition){ .name = name, .pkey = pkey };
	}
	reader->now.partition = found;
	return 0;
}

/* [PartitionName][=P_Key][,flag]... */
static int read_head(struct reader *reader, struct slice head)
{
	struct slice text;
	bool has_more = ibsa__partitions_split(&head, ',', &text);
	struct token first = ibsa__partitions_token(text);
	uint64_t pkey = 0;
	int err = 0;

	while (has_more && !err) {
		struct token flag;

		has_more = ibsa__partitions_split(&head, ',', &text);
		flag = ibsa__partitions_token(text);
		err = read_flag(reader, &flag);
	}
	/*
	 * If the line has a number in place of the partition's name, the number
	 * is the P_Key.
	 */
	if (!first.has_value && ibsa__partitions_number(first.name, &pkey))
		first.name.len = 0;
	if (first.has_value && !ibsa__partitions_number(first.value, &pkey))
		return ibsa__partitions_fail(reader, -EINVAL,
					     "\"%.*s\" is not a P_Key: use a "
					     "number such as 0x8001",
					     (int)first.value.len,
					     first.value.text);
	if (!err && pkey > UINT16_MAX)
		return ibsa__partitions_fail(reader, -EINVAL,
					     "0x%llx is not a P_Key: use a "
					     "number up to 0xffff",
					     (unsigned long long)pkey);
	if (!err)
		err = find_partition(reader, first.name,
				     (uint16_t)(pkey & DEFAULT_PARTITION));
	/* OpenSM without QoS uses service level 0 for all partitions. */
	reader->now.flags.sl = 0;
	if (!err && reader->now.is_ipoib)
		err = ibsa__partitions_broadcast(reader);
	return err;
}

/* Make room for one more entry. */
static int pkey_reserve(const struct reader *reader, struct end_setup *setup)
{
	const struct subnet *subnet = reader->sa->subnet;
	uint16_t *grown;

	if (setup->pkey_count == PKEYS_MAX)
		return ibsa__partitions_fail(
			reader, -EINVAL,
			"the port with GUID 0x%016" PRIx64
			" is in more than %d partitions",
			subnet->ends[setup - subnet->setups].guid, PKEYS_MAX);
	grown = ibsa__realloc(setup->pkeys, setup->pkey_count + 1u,
			      sizeof(*grown));
	if (!grown)
		return ibsa__partitions_fail(reader, -ENOMEM, "out of memory");
	if (!setup->pkeys)
		reader->sa->subnet->pkey_tables++;
	setup->pkeys = grown;
	return 0;
}

static int add_pkey(const struct reader *reader, struct end_setup *setup,
		    uint16_t pkey, bool is_first)
{
	uint32_t position = 0;

	while (position < setup->pkey_count &&
	       (setup->pkeys[position] ^ pkey) & ~IBSA_PKEY_FULL)
		position++;
	if (position == setup->pkey_count) {
		const int err = pkey_reserve(reader, setup);

		if (err)
			return err;
		setup->pkey_count++;
	}
	if (is_first) {
		memmove(setup->pkeys + 1, setup->pkeys,
			position * sizeof(*setup->pkeys));
		position = 0;
	}
	setup->pkeys[position] = pkey;
	return 0;
}

static int add_end(struct reader *reader, uint32_t end,
		   enum membership membership)
{
	struct partition *partition = reader->now.partition;
	uint16_t pkey = partition->pkey;

	if (membership == FULL)
		pkey |= IBSA_PKEY_FULL;
	partition->has_members = true;
	return add_pkey(reader, &reader->sa->subnet->setups[end], pkey,
			reader->now.is_first);
}

/*
 * Add all end ports of nodes of type @type to the partition; 0: of nodes of
 * all types.
 */
static int add_all(struct reader *reader, uint8_t type,
		   enum membership membership)
{
	const struct subnet *subnet = reader->sa->subnet;
	int err = 0;

	for (uint32_t i = subnet->ends_from; i < subnet->ends_to && !err; i++) {
		const struct end_port *end = &subnet->ends[i];

		if (!type || end_topo_node(subnet, end)->type == type)
			err = add_end(reader, i, membership);
	}
	return err;
}

/*
 * Add the port with a GUID to the partition. An unknown GUID is skipped: a
 * port with this GUID may be added to the fabric later.
 */
static int add_guid(struct reader *reader, struct slice text,
		    enum membership membership)
{
	uint64_t guid;
	uint32_t end;

	if (!ibsa__partitions_number(text, &guid) || !guid)
		return ibsa__partitions_fail(reader, -EINVAL,
					     "\"%.*s\" is not a port: use ALL, "
					     "SELF or a GUID",
					     (int)text.len, text.text);
	end = map_find(&reader->sa->subnet->end_of_guid, guid);
	return subnet_has_end(reader->sa->subnet, end)
		       ? add_end(reader, end, membership)
		       : 0;
}

static int add_port(struct reader *reader, const struct token *token)
{
	enum membership membership = reader->now.membership;
	int err = 0;

	if (!token->name.len || partitions_is_word(token->name, "NONE"))
		return 0;
	if (token->has_value)
		err = read_membership(reader, token->value, &membership);
	if (err)
		return err;
	if (partitions_is_word(token->name, "ALL"))
		return add_all(reader, 0, membership);
	if (partitions_is_word(token->name, "ALL_CAS"))
		return add_all(reader, IBSA_NODE_CA, membership);
	if (partitions_is_word(token->name, "ALL_SWITCHES"))
		return add_all(reader, IBSA_NODE_SWITCH, membership);
	if (partitions_is_word(token->name, "ALL_ROUTERS"))
		return add_all(reader, IBSA_NODE_ROUTER, membership);
	if (partitions_is_word(token->name, "SELF"))
		return add_end(reader, reader->sa->subnet->sa_end, membership);
	return add_guid(reader, token->name, membership);
}

static int read_body(struct reader *reader, struct slice body)
{
	bool has_more = true;
	int err = 0;

	while (has_more && !err) {
		struct slice text;
		struct token token;

		has_more = ibsa__partitions_split(&body, ',', &text);
		token = ibsa__partitions_token(text);
		if (token.has_value && partitions_is_word(token.name, "mgid"))
			return ibsa__partitions_group(reader, token.value,
						      body);
		err = add_port(reader, &token);
	}
	return err;
}

/* Parse one line of the file, or the part of a line between two semicolons. */
static int read_piece(struct reader *reader, struct slice piece)
{
	struct slice head;
	int err;

	if (!piece.len)
		return 0;
	if (reader->now.partition)
		return read_body(reader, piece);
	reader->now = (struct definition){
		.flags = { .rate = DEFAULT_RATE, .mtu = DEFAULT_MTU },
	};
	if (!ibsa__partitions_split(&piece, ':', &head))
		return ibsa__partitions_fail(reader, -EINVAL,
					     "there is no colon after the "
					     "partition; write a line such as "
					     "Default=0x7fff: ALL=full;");
	err = read_head(reader, head);
	return err ? err : read_body(reader, slice_trim(piece));
}

static int read_line(struct reader *reader, struct slice line)
{
	struct slice code;
	bool is_ended = true;
	int err = 0;

	ibsa__partitions_split(&line, '#', &code);
	while (is_ended && !err) {
		struct slice piece;

		is_ended = ibsa__partitions_split(&code, ';', &piece);
		err = read_piece(reader, piece);
		if (is_ended)
			reader->now.partition = NULL;
	}
	return err;
}

static int read_lines(struct reader *reader, const char *text, size_t len)
{
	struct slice rest = { text, len };
	int err = 0;

	while (rest.len && !err) {
		struct slice line;

		reader->line++;
		ibsa__partitions_split(&rest, '\n', &line);
		err = read_line(reader, line);
	}
	return err;
}

/*
 * Make all ports limited members of the default partition, and the SM's port a
 * full member, before the partition file is read.
 */
static int add_default(struct reader *reader)
{
	static const char name[] = "Default";
	int err = find_partition(reader,
				 (struct slice){ name, sizeof(name) - 1 },
				 DEFAULT_PARTITION);

	if (!err)
		err = add_all(reader, 0, LIMITED);
	if (!err)
		err = add_end(reader, reader->sa->subnet->sa_end, FULL);
	reader->now.partition = NULL;
	return err;
}

static int by_value(const void *a, const void *b)
{
	const uint16_t *x = a;
	const uint16_t *y = b;

	return (*x & ~IBSA_PKEY_FULL) - (*y & ~IBSA_PKEY_FULL);
}

/*
 * Sort the P_Key tables, except their first entry, which is the default P_Key
 * or the one that the file requires there.
 */
static void order_pkeys(const struct subnet *subnet)
{
	for (uint32_t i = subnet->ends_from; i < subnet->ends_to; i++) {
		const struct end_setup *setup = &subnet->setups[i];

		qsort(setup->pkeys + 1, setup->pkey_count - 1u,
		      sizeof(*setup->pkeys), by_value);
	}
}

/* Remove the multicast groups of partitions that have no members. */
static void drop_empty(const struct reader *reader)
{
	struct groups *groups = &reader->sa->groups;

	for (size_t i = groups->count; i-- > 0;) {
		const uint16_t pkey = groups->all[i]->record.pkey;
		const struct partition *partition =
			by_pkey(reader, pkey & DEFAULT_PARTITION);

		if (!partition || !partition->has_members)
			ibsa__groups_remove(groups, groups->all[i]);
	}
}

int ibsa__partitions_parse(struct sa *sa, const char *name, const char *text,
			   size_t len, struct ibsa_error *error)
{
	struct reader reader = {
		.sa = sa,
		.error = error,
		.name = name,
		.all = ibsa__calloc(PARTITIONS_MAX, sizeof(*reader.all)),
	};
	int err;

	if (!reader.all)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	/*
	 * Remove the default broadcast group: with a partition file, only
	 * groups of the file exist.
	 */
	while (sa->groups.count)
		ibsa__groups_remove(&sa->groups, sa->groups.all[0]);
	err = add_default(&reader);
	if (!err)
		err = read_lines(&reader, text, len);
	if (!err) {
		order_pkeys(sa->subnet);
		drop_empty(&reader);
	}
	ibsa__free(reader.all);
	return err;
}

int ibsa__partitions_read(struct sa *sa, const char *path,
			  struct ibsa_error *error)
{
	char *text;
	size_t len;
	int err = ibsa__read_file(path, &text, &len);

	if (err)
		return ibsa__fail(error, err, "cannot read %.100s: %s", path,
				  strerror(-err));
	err = ibsa__partitions_parse(sa, path, text, len, error);
	ibsa__free(text);
	return err;
}
