/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the constraint of a path query that excludes every path, and the value
 * that is possible instead. A path that the SA returns without the constraints
 * shows which of them it does not satisfy; if there are several, the query is
 * repeated without one of them.
 */
#include <stdio.h>
#include <string.h>

#include <ibsa/text.h>

#include "client/reason.h"

/*
 * The fields of a path record that form a constraint, and their component mask
 * bits.
 */
static const struct constraint {
	const char *name;
	const char *selector; /* NULL: none */
	uint64_t mask;
} constraints[] = {
	{ "pkey", NULL, IBSA_PATH_CM(pkey) },
	{ "sl", NULL, IBSA_PATH_CM(sl) },
	{ "mtu", "mtu_selector",
	  IBSA_PATH_CM(mtu_selector) | IBSA_PATH_CM(mtu) },
	{ "rate", "rate_selector",
	  IBSA_PATH_CM(rate_selector) | IBSA_PATH_CM(rate) },
	{ "packet_life_time", "packet_life_time_selector",
	  IBSA_PATH_CM(packet_life_time_selector) |
		  IBSA_PATH_CM(packet_life_time) },
	{ "service_id", NULL, IBSA_PATH_CM(service_id) },
	{ "qos_class", NULL, IBSA_PATH_CM(qos_class) },
	{ "raw_traffic", NULL, IBSA_PATH_CM(raw_traffic) },
	{ "flow_label", NULL, IBSA_PATH_CM(flow_label) },
	{ "hop_limit", NULL, IBSA_PATH_CM(hop_limit) },
	{ "tclass", NULL, IBSA_PATH_CM(tclass) },
};

enum { CONSTRAINTS = sizeof(constraints) / sizeof(constraints[0]) };

uint64_t ibsa__reason_constraints(uint64_t mask)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < CONSTRAINTS; i++)
		all |= constraints[i].mask;
	return mask & all;
}

static uint64_t value_of(const char *name, const struct ibsa_path *path)
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(&ibsa_path_record,
							 name, &index);

	return ibsa_field_get(field, index, path);
}

/*
 * Whether a path certainly satisfies the constraint with the values in @want.
 */
static bool is_satisfied(const struct constraint *constraint,
			 const struct ibsa_path *want,
			 const struct ibsa_path *path)
{
	if (constraint->selector &&
	    value_of(constraint->selector, want) != IBSA_SELECT_EXACTLY)
		return false;
	return value_of(constraint->name, want) ==
	       value_of(constraint->name, path);
}

/*
 * The value of a field as a number to compare by: rate codes, which are not in
 * the order of the rates, are replaced by Mb/s.
 */
static uint64_t amount_of(const char *name, const struct ibsa_path *path)
{
	const uint64_t value = value_of(name, path);

	return strcmp(name, "rate") == 0 ? ibsa_rate_mbps((uint8_t)value)
					 : value;
}

/*
 * Whether the value of the path @path meets the constraint with the value and
 * selector in @want.
 */
static bool is_met(const struct constraint *constraint,
		   const struct ibsa_path *want, const struct ibsa_path *path)
{
	const uint64_t have = amount_of(constraint->name, path);
	const uint64_t limit = amount_of(constraint->name, want);

	switch (constraint->selector ? value_of(constraint->selector, want)
				     : IBSA_SELECT_EXACTLY) {
	case IBSA_SELECT_GREATER:
		return have > limit;
	case IBSA_SELECT_LESS:
		return have < limit;
	case IBSA_SELECT_EXACTLY:
		return have == limit;
	default:
		return false;
	}
}

static void value_text(const char *name, const struct ibsa_path *path,
		       char out[IBSA_VALUE_TEXT])
{
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(&ibsa_path_record,
							 name, &index);

	if (ibsa_field_format(field, index, path, out, IBSA_VALUE_TEXT) < 0)
		out[0] = '\0';
}

static const char *selector_text(const struct constraint *constraint,
				 const struct ibsa_path *want)
{
	static const char *const texts[] = { "greater than ", "less than ", "",
					     "largest, not " };

	if (!constraint->selector)
		return "";
	return texts[value_of(constraint->selector, want) & 3];
}

/*
 * Set the reason: the constraint @index excludes every path, and @path exists
 * without it. If @path itself meets the constraint, the reason is probably the
 * path in the other direction, from the destination to the source: OpenSM
 * compares it, too, if the path must be reversible. Source: OpenSM 3.3.23,
 * osm_sa_path_record.c.
 */
static void constraint_set(struct ibsa__reason_search *search,
			   unsigned int index, const struct ibsa_path *path)
{
	const struct constraint *constraint = &constraints[index];
	char want[IBSA_VALUE_TEXT];
	char have[IBSA_VALUE_TEXT];
	const bool met = is_met(constraint, &search->path, path);

	value_text(constraint->name, &search->path, want);
	value_text(constraint->name, path, have);
	ibsa__reason_set(
		search, IBSA_REASON_CONSTRAINT, true,
		"%s %s%.40s; without this constraint there is a path with %s "
		"%.40s%s",
		constraint->name, selector_text(constraint, &search->path),
		want, constraint->name, have,
		met ? ", but its return path possibly does not meet it" : "");
	search->reason.constraint = constraint->name;
	snprintf(search->reason.possible, sizeof(search->reason.possible),
		 "%.40s", met ? "" : have);
}

/* Only several constraints together exclude every path. */
static void constraints_set(struct ibsa__reason_search *search)
{
	static const char *const names[] = { "pkey", "sl", "mtu", "rate" };
	char text[160];
	size_t len = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char value[IBSA_VALUE_TEXT];

		value_text(names[i], &search->possible, value);
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%s %.24s", i ? ", " : "", names[i],
					value);
	}
	ibsa__reason_set(search, IBSA_REASON_CONSTRAINT, true,
			 "no path satisfies all constraints together; without "
			 "them there is a path with %s",
			 text);
}

static unsigned int lowest(unsigned int bits)
{
	return (unsigned int)__builtin_ctz(bits);
}

void ibsa__reason_query_unconstrained(struct ibsa__reason_search *search,
				      struct ibsa_query *out)
{
	const uint64_t mask = search->query.mask;

	search->match.path = search->path;
	ibsa__reason_query_make(search, &ibsa_path_record,
				mask & ~ibsa__reason_constraints(mask), out);
}

void ibsa__reason_query_without(struct ibsa__reason_search *search,
				struct ibsa_query *out)
{
	const unsigned int index = lowest(search->candidates);

	search->match.path = search->path;
	ibsa__reason_query_make(search, &ibsa_path_record,
				search->query.mask & ~constraints[index].mask,
				out);
}

void ibsa__reason_take_unconstrained(struct ibsa__reason_search *search,
				     const struct ibsa_path *path)
{
	unsigned int all = 0;
	unsigned int unsatisfied = 0;

	for (unsigned int i = 0; i < CONSTRAINTS; i++) {
		if (!(search->query.mask & constraints[i].mask))
			continue;
		all |= 1u << i;
		if (!is_satisfied(&constraints[i], &search->path, path))
			unsatisfied |= 1u << i;
	}
	search->possible = *path;
	search->candidates = unsatisfied ? unsatisfied : all;
	/* The path satisfies all others. */
	if (!(search->candidates & (search->candidates - 1)))
		constraint_set(search, lowest(search->candidates), path);
	else
		ibsa__reason_go(search, REASON_WITHOUT);
}

void ibsa__reason_take_without(struct ibsa__reason_search *search,
			       const struct ibsa_reply *reply, bool found)
{
	struct ibsa_path path;

	if (found && ibsa_reply_decode(reply, 0, &path, sizeof(path)) == 0) {
		constraint_set(search, lowest(search->candidates), &path);
		return;
	}
	search->candidates &= search->candidates - 1;
	if (search->candidates && search->reason.queries < IBSA_REASON_QUERIES)
		ibsa__reason_go(search, REASON_WITHOUT);
	else
		constraints_set(search);
}
