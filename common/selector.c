/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parsing of "FIELD=VALUE" and comparisons into a record and its mask. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/types.h>
#include <ibsa/text.h>

#include "base/error.h"
#include "base/letter.h"
#include "common/nearest.h"
#include "common/selector.h"
#include "common/selector_fail.h"
#include "common/text.h"

/* Room for the name of any field with its index. */
enum { NAME_BYTES = 64 };

/*
 * Whether the field's value is an assigned code; true if the field has no
 * codes. 0 is accepted, because ports report 0 in some fields, but not for an
 * MTU or rate that a path or group must have.
 */
static bool code_is_assigned(const struct ibsa_field *field, unsigned int index,
			     const void *host)
{
	uint64_t code;

	if (!ibsa_show_is_code(field->show))
		return true;
	code = ibsa_field_get(field, index, host);
	if (!code)
		return strcmp(field->name, "mtu") != 0 &&
		       strcmp(field->name, "rate") != 0;
	return ibsa_code_name(field->show, code);
}

/* Parse @text into the field of @host. After an error, @host is unchanged. */
static int value_parse(const struct ibsa_field *field, unsigned int index,
		       const char *text, void *host, struct ibsa_error *error)
{
	const uint64_t before = ibsa_field_get(field, index, host);
	int err = ibsa_field_parse(field, index, text, host);

	if (!err && !code_is_assigned(field, index, host)) {
		(void)!ibsa_field_set(field, index, before, host);
		err = -EINVAL;
	}
	return err ? ibsa__selector_value_fail(field, err, text, error) : 0;
}

/* The relation that a selector such as FIELD>=VALUE demands. */
enum relation { RELATION_NONE, EQUAL, AT_LEAST, AT_MOST, MORE, LESS };

/*
 * Parse the relation, such as "=" or ">=", at *@text, and set *@text to the
 * value after it.
 */
static enum relation relation_parse(const char **text)
{
	const char *at = *text;
	const bool has_equal = at[0] && at[1] == '=';
	enum relation relation = RELATION_NONE;

	if (at[0] == '=')
		relation = EQUAL;
	else if (at[0] == '>')
		relation = has_equal ? AT_LEAST : MORE;
	else if (at[0] == '<')
		relation = has_equal ? AT_MOST : LESS;
	*text += relation == AT_LEAST || relation == AT_MOST ? 2 : 1;
	return relation;
}

/*
 * Return: the field NAME_selector of the record type, which tells the SA how
 * to compare the field NAME; or NULL.
 */
static const struct ibsa_field *selector_find(const struct ibsa_record *record,
					      const struct ibsa_field *field)
{
	const size_t len = strlen(field->name);

	for (unsigned int i = 0; i < record->field_count; i++) {
		const struct ibsa_field *other = &record->fields[i];

		if (strncmp(other->name, field->name, len) == 0 &&
		    strcmp(other->name + len, "_selector") == 0)
			return other;
	}
	return NULL;
}

/*
 * Return: a number by which to order the values of a field: the codes of rates
 * are not in the order of the rates.
 */
static uint64_t value_size(const struct ibsa_field *field, uint64_t code)
{
	switch (field->show) {
	case IBSA_SHOW_mtu:
		return ibsa_mtu_bytes((uint8_t)code);
	case IBSA_SHOW_rate:
		return ibsa_rate_mbps((uint8_t)code);
	default:
		return code;
	}
}

/*
 * Return: the number by which OpenSM orders values. For a rate, that is the
 * rate of data: 8 of 10 bits up to code 10, 64 of 66 bits for higher codes.
 * Source: OpenSM, ib_path_compare_rates().
 */
static uint64_t value_weight(const struct ibsa_field *field, uint64_t code)
{
	const uint64_t size = value_size(field, code);

	if (field->show != IBSA_SHOW_rate)
		return size;
	return code <= 10 ? size * 8 / 10 : size * 64 / 66;
}

/*
 * Whether an InfiniBand path may have this value. An SA such as OpenSM refuses
 * the MTUs of Omni-Path, which only Omni-Path records have.
 */
static bool value_is_possible(const struct ibsa_record *record,
			      const struct ibsa_field *field, uint64_t code)
{
	enum { CLASS_VERSION_OPA = 0x80, MTU_MAX = 4096 };

	if (field->show == IBSA_SHOW_mtu &&
	    record->class_version != CLASS_VERSION_OPA &&
	    value_size(field, code) > MTU_MAX)
		return false;
	return !ibsa_show_is_code(field->show) || value_size(field, code);
}

/* Whether a value fulfils "FIELD relation @wanted". */
static bool value_fulfils(const struct ibsa_field *field, uint64_t code,
			  enum relation relation, uint64_t wanted)
{
	const uint64_t a = value_size(field, code);
	const uint64_t b = value_size(field, wanted);

	switch (relation) {
	case AT_LEAST:
		return a >= b;
	case AT_MOST:
		return a <= b;
	case MORE:
		return a > b;
	case LESS:
		return a < b;
	default:
		return a == b;
	}
}

/*
 * Find the least possible value, or the greatest if @is_greatest is set, in the
 * order of the SA, that fulfils the relation to @wanted; if @fulfils is false,
 * that does not fulfil it. Return: false if there is no such value.
 */
static bool value_extreme(const struct ibsa_record *record,
			  const struct ibsa_field *field, bool is_greatest,
			  bool fulfils, enum relation relation, uint64_t wanted,
			  uint64_t *out)
{
	uint64_t best = 0;
	bool found = false;

	for (uint64_t code = 0; code >> field->nbits == 0; code++) {
		const uint64_t weight = value_weight(field, code);

		if (!value_is_possible(record, field, code) ||
		    value_fulfils(field, code, relation, wanted) != fulfils ||
		    (found && (weight > best) != is_greatest))
			continue;
		best = weight;
		*out = code;
		found = true;
	}
	return found;
}

/*
 * Find the next greater or smaller value in the order of the SA. Return: false
 * if there is no such value.
 */
static bool value_find_next(const struct ibsa_record *record,
			    const struct ibsa_field *field, bool is_greater,
			    uint64_t *value)
{
	const uint64_t own = value_weight(field, *value);
	uint64_t nearest = 0;
	bool found = false;

	for (uint64_t code = 0; code >> field->nbits == 0; code++) {
		const uint64_t weight = value_weight(field, code);

		if (!value_is_possible(record, field, code) ||
		    (is_greater ? weight <= own : weight >= own) ||
		    (found && (weight < nearest) != is_greater))
			continue;
		nearest = weight;
		*value = code;
		found = true;
	}
	return found;
}

/*
 * Replace *@value by the value to send for a relation. 120 Gb/s carry less data
 * than 100 Gb/s, and OpenSM compares the data. For "less", an SA may return a
 * path with a lowered rate, so the value sent permits only rates that fulfil
 * the relation. For the other relations, the value sent permits all values that
 * fulfil the relation, and perhaps more, which ibsa__selector_is_met() rejects.
 * Return: false if the relation excludes no value.
 */
static bool value_to_send(const struct ibsa_record *record,
			  const struct ibsa_field *field,
			  enum relation relation, uint64_t *value)
{
	const bool is_most = relation == AT_MOST;
	uint64_t end;

	if (!value_extreme(record, field, is_most, relation != LESS, relation,
			   *value, &end))
		return (relation == MORE || relation == AT_LEAST) &&
		       value_extreme(record, field, true, false, relation,
				     *value, value);
	if (relation != LESS && !value_find_next(record, field, is_most, &end))
		return false;
	*value = end;
	return true;
}

/* Set a number field of @host and its component mask bits. */
static void number_select(const struct ibsa_field *field, uint64_t value,
			  void *host, uint64_t *mask)
{
	(void)!ibsa_field_set(field, 0, value, host);
	*mask |= ibsa_field_cm(field, 0);
}

/*
 * Set a field and its selector for a relation. A selector can only be
 * "greater" or "less", so "at least" is sent as greater than the next smaller
 * value. If there is no smaller value, "at least" excludes nothing, and the
 * field keeps the value @before.
 */
static void relation_set(const struct ibsa_record *record,
			 const struct ibsa_field *field,
			 const struct ibsa_field *selector,
			 enum relation relation, uint64_t before, void *host,
			 uint64_t *mask)
{
	const bool is_least = relation == AT_LEAST || relation == MORE;
	uint64_t value = ibsa_field_get(field, 0, host);

	if (!value_to_send(record, field, relation, &value)) {
		(void)!ibsa_field_set(field, 0, before, host);
		return;
	}
	number_select(field, value, host, mask);
	number_select(selector,
		      is_least ? IBSA_SELECT_GREATER : IBSA_SELECT_LESS, host,
		      mask);
}

static int relation_check(const struct ibsa_record *record,
			  const struct ibsa_field *field,
			  const struct ibsa_field *selector, uint64_t mask,
			  struct ibsa_error *error)
{
	if (!selector)
		return ibsa__fail(error, -EINVAL,
				  "the SA cannot compare '%s' of %s by order; "
				  "use =",
				  field->name, record->name);
	if (mask & ibsa_field_cm(selector, 0))
		return ibsa__fail(error, -EINVAL,
				  "%s is already given, and sets the "
				  "comparison; use = with %s",
				  selector->name, field->name);
	return 0;
}

/* Parse a value into a field for which the SA can select records. */
static int field_select(const struct ibsa_record *record,
			const struct ibsa_field *field, unsigned int index,
			enum relation relation, const char *text, void *host,
			uint64_t *mask, struct ibsa_error *error)
{
	const struct ibsa_field *selector = selector_find(record, field);
	const uint64_t before = ibsa_field_get(field, index, host);
	int err = 0;

	if (relation != EQUAL)
		err = relation_check(record, field, selector, *mask, error);
	if (!err)
		err = value_parse(field, index, text, host, error);
	if (err)
		return err;
	if (relation != EQUAL) {
		relation_set(record, field, selector, relation, before, host,
			     mask);
		return 0;
	}
	*mask |= ibsa_field_cm(field, index);
	/*
	 * The SA compares an MTU, rate or lifetime only if its selector is in
	 * the component mask, too.
	 */
	if (selector && !(*mask & ibsa_field_cm(selector, 0)))
		number_select(selector, IBSA_SELECT_EXACTLY, host, mask);
	return 0;
}

/*
 * Find the field that the first @len characters of @text name. Return: the
 * field; NULL if the record type has none.
 */
static const struct ibsa_field *field_named(const struct ibsa_record *record,
					    const char *text, size_t len,
					    unsigned int *out_index)
{
	char name[NAME_BYTES];

	if (len >= sizeof(name))
		return NULL;
	memcpy(name, text, len);
	name[len] = '\0';
	return ibsa_field_find(record, name, out_index);
}

int ibsa__selector_parse(const struct ibsa_record *record, const char *text,
			 void *host, uint64_t *mask, struct ibsa_error *error)
{
	const size_t len = strcspn(text, "=<>");
	const char *value = text + len;
	const enum relation relation = relation_parse(&value);
	const struct ibsa_field *field;
	unsigned int index;

	if (relation == RELATION_NONE)
		return ibsa__fail(error, -EINVAL,
				  "'%.*s' has no '='; write FIELD=VALUE",
				  SELECTOR_SHOWN_MAX, text);
	field = field_named(record, text, len, &index);
	if (!field)
		return ibsa__selector_field_fail(record, text, len, error);
	if (!ibsa_field_cm(field, index) && field->cm != IBSA_UNMASKED)
		return ibsa__fail(error, -EINVAL,
				  "the SA cannot select by '%s' of %s",
				  field->name, record->name);
	return field_select(record, field, index, relation, value, host, mask,
			    error);
}

bool ibsa__selector_is_met(const struct ibsa_record *record, const char *text,
			   const void *match, const void *host)
{
	static const enum relation of_selector[] = { MORE, LESS, EQUAL };
	const size_t len = strcspn(text, "=<>");
	const char *value = text + len;
	enum relation relation = relation_parse(&value);
	const struct ibsa_field *selector;
	/*
	 * A copy of @field whose offset is 0, because @wanted takes the place
	 * of the record.
	 */
	struct ibsa_field alone;
	uint64_t wanted = 0;
	unsigned int index;
	const struct ibsa_field *field = field_named(record, text, len, &index);

	if (relation == RELATION_NONE || !field)
		return false;
	selector = selector_find(record, field);
	if (!selector)
		return true;
	alone = *field;
	alone.host_offset = 0;
	if (ibsa_field_parse(&alone, 0, value, &wanted))
		return false;
	wanted = ibsa_field_get(&alone, 0, &wanted);
	if (relation == EQUAL) {
		const uint64_t code = ibsa_field_get(selector, 0, match);

		if (code >= sizeof(of_selector) / sizeof(of_selector[0]))
			return true;
		relation = of_selector[code];
	}
	return value_fulfils(field, ibsa_field_get(field, index, host),
			     relation, wanted);
}
