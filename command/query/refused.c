/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds out why the SA has refused to let a port join or create a multicast
 * group: compares the request with the group and with the port.
 *
 * Source: IBA vol 1, 15.2.5.17.2, o15-0.1.5 to o15-0.2.4; OpenSM 3.3.23,
 * osm_sa_mcmember_record.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/selector.h"
#include "output/fields.h"
#include "query/query.h"

enum {
	JOIN_ANY_FULL = 1 | 8, /* full member, and send-only full member */
	SIGNATURE_IPV4 = 0x401b,
	SIGNATURE_IPV6 = 0x601b,
};

/**
 * struct refusal - a refused request
 * @want:  the record in the request
 * @count: number of causes that were found
 */
struct refusal {
	struct cli *cli;
	const struct ibsa_query *query;
	const struct ibsa_mcmember *want;
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void
cause_print(struct refusal *refusal, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	complain("%s", text);
	refusal->count++;
}

static const char *value_text(const char *name,
			      const struct ibsa_mcmember *record,
			      char out[IBSA_VALUE_TEXT])
{
	return fields_text(&ibsa_mcmember_record, name, record, out);
}

/*
 * Print which of the fields @names, a list that ends with NULL, the request
 * lacks.
 */
static void missing_explain(struct refusal *refusal, const char *why,
			    const char *const *names)
{
	char list[128] = "";
	size_t len = 0;
	unsigned int index;

	for (; *names; names++) {
		const struct ibsa_field *field =
			ibsa_field_find(&ibsa_mcmember_record, *names, &index);

		if (!(refusal->query->mask & ibsa_field_cm(field, 0)))
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						"%s%s", len ? ", " : "",
						*names);
	}
	if (len)
		cause_print(refusal, "%s, the request must also have %s", why,
			    list);
}

/* Whether a P_Key in the request fits that of the group. */
static bool pkeys_fit(uint16_t a, uint16_t b)
{
	return (a | b) & IBSA_PKEY_FULL &&
	       (a | IBSA_PKEY_FULL) == (b | IBSA_PKEY_FULL);
}

static bool field_fits(const struct refusal *refusal, const char *text,
		       const struct ibsa_field *field,
		       const struct ibsa_mcmember *group)
{
	union fields_host want = { .mcmember = *refusal->want };
	union fields_host have = { .mcmember = *group };

	if (strcmp(field->name, "pkey") == 0)
		return pkeys_fit(want.mcmember.pkey, group->pkey);
	if (field->show == IBSA_SHOW_mtu || field->show == IBSA_SHOW_rate)
		return ibsa__selector_is_met(&ibsa_mcmember_record, text, &want,
					     &have);
	return ibsa_field_get(field, 0, &want) ==
	       ibsa_field_get(field, 0, &have);
}

/*
 * Print each value of the request that does not fit @group, which the message
 * calls @what.
 */
static void group_compare(struct refusal *refusal,
			  const struct ibsa_mcmember *group, const char *what)
{
	static const char compared[] = " qkey mtu tclass pkey rate sl "
				       "flow_label hop_limit ";
	const struct cli *cli = refusal->cli;
	char want[IBSA_VALUE_TEXT], have[IBSA_VALUE_TEXT];
	char padded[COLUMN_NAME_ROOM + 2];
	unsigned int index;

	for (int i = 3; i < cli->arg_count; i++) {
		const struct ibsa_field *field = fields_find(
			&ibsa_mcmember_record, cli->args[i], &index);

		if (!field)
			continue;
		snprintf(padded, sizeof(padded), " %s ", field->name);
		if (!strstr(compared, padded) ||
		    field_fits(refusal, cli->args[i], field, group))
			continue;
		cause_print(refusal, "%s: the request has %s, %s has %s",
			    field->name, fields_clean(cli->args[i], want), what,
			    value_text(field->name, group, have));
	}
}

static void scope_compare(struct refusal *refusal)
{
	const struct ibsa_mcmember *want = refusal->want;
	const unsigned int scope = want->mgid.raw[1] & 0x0f;

	if (want->mgid.raw[0] == 0xff &&
	    refusal->query->mask & IBSA_MCMEMBER_CM(scope) &&
	    want->scope != scope)
		cause_print(refusal, "scope: the request has %u, the MGID %u",
			    want->scope, scope);
}

/*
 * Print the MTU and the rate of the group, which exists or would be created, if
 * they are greater than those of the port. @known: component bits of the fields
 * that are valid in @group.
 */
static void port_compare(struct refusal *refusal,
			 const struct ibsa_mcmember *group, uint64_t known)
{
	struct ibsa_path match = {
		.sgid = refusal->want->port_gid,
		.dgid = refusal->want->port_gid,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid),
	};
	struct ibsa_mcmember port;
	struct ibsa_path path;
	char want[IBSA_VALUE_TEXT], have[IBSA_VALUE_TEXT];

	if (ibsa_query_one(refusal->cli->client, &query, NULL, &path,
			   sizeof(path)) != 0)
		return;
	port = (struct ibsa_mcmember){ .mtu = path.mtu, .rate = path.rate };
	if (known & IBSA_MCMEMBER_CM(mtu) && group->mtu > port.mtu)
		cause_print(refusal, "mtu: the group has %s, the port only %s",
			    value_text("mtu", group, want),
			    value_text("mtu", &port, have));
	if (known & IBSA_MCMEMBER_CM(rate) &&
	    ibsa_rate_mbps(group->rate) > ibsa_rate_mbps(port.rate))
		cause_print(refusal, "rate: the group has %s, the port only %s",
			    value_text("rate", group, want),
			    value_text("rate", &port, have));
}

/* Print that this port has no P_Key of the group's partition. */
static void pkey_compare(struct refusal *refusal, uint16_t group)
{
	struct ibsa_client *client = refusal->cli->client;
	struct ibsa_port_state own;
	char list[128] = "";
	size_t len = 0;
	uint16_t pkey;

	if (ibsa_port_get(client, false, &own) != 0 ||
	    memcmp(&own.gid, &refusal->want->port_gid, sizeof(own.gid)) != 0)
		return;
	for (uint32_t i = 0; ibsa_pkey_get(client, i, &pkey) == 0; i++) {
		if (pkeys_fit(pkey, group))
			return;
		if (pkey & (uint16_t)~IBSA_PKEY_FULL &&
		    len + sizeof(", 0x8001") < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						"%s0x%04x", len ? ", " : "",
						pkey);
	}
	cause_print(refusal, "pkey: the group has 0x%04x, this port has %s",
		    group, len ? list : "none");
}

static bool group_find(struct refusal *refusal, const struct ibsa_gid *mgid,
		       struct ibsa_mcmember *out)
{
	const struct ibsa_mcmember match = { .mgid = *mgid };
	const struct ibsa_query query = {
		.record = &ibsa_mcmember_record,
		.match = &match,
		.mask = IBSA_MCMEMBER_CM(mgid),
	};

	return ibsa_query_one(refusal->cli->client, &query, NULL, out,
			      sizeof(*out)) == 0;
}

/* The port cannot join the group, which exists. */
static void join_explain(struct refusal *refusal,
			 const struct ibsa_mcmember *group)
{
	group_compare(refusal, group, "the group");
	port_compare(refusal, group, ~UINT64_C(0));
	pkey_compare(refusal, group->pkey);
	if (!refusal->want->join_state)
		cause_print(refusal, "join_state: the request has 0x0");
}

/*
 * If the MGID is that of an IPoIB group, compare the request with the broadcast
 * group of the same scope and partition, and print the differences.
 */
static void broadcast_compare(struct refusal *refusal)
{
	const uint8_t *mgid = refusal->want->mgid.raw;
	const unsigned int signature = (unsigned int)mgid[2] << 8 | mgid[3];
	const struct ibsa_gid broadcast = {
		.raw = { 0xff, (uint8_t)(0x10 | (mgid[1] & 0x0f)), 0x40, 0x1b,
			 mgid[4], mgid[5], [12] = 0xff, 0xff, 0xff, 0xff },
	};
	char text[IBSA_GID_TEXT] = "", what[IBSA_GID_TEXT + 32];
	struct ibsa_mcmember group;

	if ((signature != SIGNATURE_IPV4 && signature != SIGNATURE_IPV6) ||
	    !memcmp(broadcast.raw, mgid, sizeof(broadcast.raw)))
		return;
	(void)!ibsa_gid_format(&broadcast, text, sizeof(text));
	snprintf(what, sizeof(what), "the broadcast group %s", text);
	if (group_find(refusal, &broadcast, &group))
		group_compare(refusal, &group, what);
	else
		cause_print(refusal,
			    "mgid: the SA shows no broadcast group %s of the "
			    "scope 0x%x and the partition of this MGID",
			    text, mgid[1] & 0x0fu);
}

/* The SA shows no group with the MGID, so the request had to create it. */
static void create_explain(struct refusal *refusal)
{
	static const char *const needed[] = { "qkey",	    "tclass", "pkey",
					      "flow_label", "sl",     NULL };
	static const struct ibsa_gid no_mgid;
	const struct ibsa_mcmember *want = refusal->want;
	const bool has_mgid = memcmp(&want->mgid, &no_mgid, sizeof(no_mgid));

	missing_explain(refusal,
			"the SA shows no group with this MGID: to create it",
			needed);
	if (!(want->join_state & JOIN_ANY_FULL))
		cause_print(refusal,
			    "join_state: the request has 0x%x; only a full "
			    "member (bit 0 or 3) can create the group",
			    want->join_state);
	if (has_mgid && want->mgid.raw[0] != 0xff)
		cause_print(refusal, "mgid: it is not a multicast GID");
	if (has_mgid)
		broadcast_compare(refusal);
	port_compare(refusal, want, refusal->query->mask);
	if (refusal->query->mask & IBSA_MCMEMBER_CM(pkey))
		pkey_compare(refusal, want->pkey);
}

void join_refusal_explain(struct cli *cli, const struct ibsa_query *query)
{
	static const char *const needed[] = { "mgid", "port_gid", "join_state",
					      NULL };
	struct refusal refusal = {
		.cli = cli,
		.query = query,
		.want = query->match,
	};
	struct ibsa_mcmember group;

	missing_explain(&refusal, "to join a group", needed);
	if (refusal.count || !cli->client)
		return;
	scope_compare(&refusal);
	if (group_find(&refusal, &refusal.want->mgid, &group))
		join_explain(&refusal, &group);
	else
		create_explain(&refusal);
	if (!refusal.count)
		complain("the SA's records do not show why");
}
