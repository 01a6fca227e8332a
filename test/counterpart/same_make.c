/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the requests for the comparison of OpenSM with the embedded SA. For
 * each record, the requests select by one field or by several fields, with
 * values that exist in the fabric and with others. Further requests change
 * some fields of the SA MAD header in turn.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "test/counterpart/same.h"
#include "wire/mad.h"

enum {
	SM_KEY = 1,
	METHOD_TRACE = 0x13,
	COMBINATIONS = 24,
	FRAIL_LIMIT = 8, /* the ports of the smallest switch */
	RECORD_ROOM = 200,
};

void request_start(struct request *out, uint8_t method, uint16_t attribute,
		   uint64_t mask)
{
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = method,
		.attribute_id = attribute,
		.component_mask = mask,
	};

	memset(out, 0, sizeof(*out));
	if (ibsa_record_encode(&ibsa_sa_header_record, &header, sizeof(header),
			       out->mad, sizeof(out->mad)))
		die("a header that does not fit");
}

void request_name(struct request *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(out->what, sizeof(out->what), format, args);
	va_end(args);
}

void request_key(struct request *out, uint64_t sm_key)
{
	enum { AT_KEY = 36 };

	ibsa_put_be64(out->mad + AT_KEY, sm_key);
}

/* The existing records of one kind, from which further requests are made. */
struct table {
	const struct asked_record *record;
	struct random *dice;
	bool is_brief;
	size_t count;
	size_t stride;
	uint8_t bytes[ANSWER_BYTES];
};

static void table_store(struct table *table, struct answer *answer)
{
	table->count = answer_count(answer);
	table->stride = table->count ? answer_stride(answer) : 0;
	if (table->count)
		memcpy(table->bytes, answer_at(answer, 0),
		       table->count * table->stride);
}

/*
 * Copy an existing record into a request, as much as fits. Fields whose unknown
 * values crash OpenSM get a valid value.
 */
static void carry(const struct table *table, size_t index, struct request *out)
{
	const size_t len = table->stride < RECORD_ROOM ? table->stride
						       : RECORD_ROOM;

	if (index >= table->count)
		return;
	memcpy(request_record(out), table->bytes + index * table->stride, len);
	for (unsigned int i = 0; i < table->record->spot_count; i++) {
		const struct spot *spot = &table->record->spots[i];

		if (spot->is_frail)
			request_record(out)[spot->at / 8] %= FRAIL_LIMIT;
	}
}

static void start(const struct table *table, struct request *out,
		  uint8_t method, uint64_t mask, size_t index)
{
	request_start(out, method, table->record->attribute, mask);
	carry(table, index, out);
	request_key(out, SM_KEY);
}

static void flip(struct request *request, const struct spot *spot)
{
	const unsigned int bit = spot->at + spot->nbits - 1u;

	request_record(request)[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static void fill_ones(struct request *request, const struct spot *spot)
{
	for (unsigned int i = spot->at; i < spot->at + spot->nbits; i++)
		request_record(request)[i / 8] |= (uint8_t)(0x80 >> i % 8);
}

static uint64_t bit_of(const struct spot *spot)
{
	return UINT64_C(1) << spot->bit;
}

/*
 * Send a request that selects by one field, with the value of an existing
 * record.
 */
static void send_by(const struct table *table, const struct spot *spot,
		    size_t index, uint8_t method)
{
	struct request request;

	start(table, &request, method, bit_of(spot), index);
	request_name(&request, "%s by %s of record %zu", table->record->name,
		     spot->name, index);
	same_exchange(&request);
}

static void send_strange(const struct table *table, const struct spot *spot)
{
	struct request request;

	if (spot->is_frail)
		return;
	start(table, &request, IBSA_METHOD_GET_TABLE, bit_of(spot), 0);
	flip(&request, spot);
	request_name(&request, "%s by another %s", table->record->name,
		     spot->name);
	same_exchange(&request);
	fill_ones(&request, spot);
	request_name(&request, "%s by %s of ones", table->record->name,
		     spot->name);
	same_exchange(&request);
}

/* Return: the index of the first record, one in the middle, or the last. */
static size_t pick(const struct table *table, unsigned int which)
{
	return table->count ? which * (table->count - 1) / 2 : 0;
}

static void send_fields(const struct table *table)
{
	for (unsigned int i = 0; i < table->record->spot_count; i++) {
		const struct spot *spot = &table->record->spots[i];

		for (unsigned int k = 0; k < (table->is_brief ? 1 : 3); k++)
			send_by(table, spot, pick(table, k),
				IBSA_METHOD_GET_TABLE);
		send_by(table, spot, pick(table, i % 3), IBSA_METHOD_GET);
		if (!table->is_brief)
			send_strange(table, spot);
	}
}

static uint64_t all_fields(const struct asked_record *record)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < record->spot_count; i++)
		mask |= bit_of(&record->spots[i]);
	return mask;
}

/*
 * Send requests that select by all fields at once, and by all mask bits at
 * once, including bits without a field.
 */
static void send_whole(const struct table *table)
{
	for (unsigned int k = 0; k < 6; k++) {
		struct request request;

		start(table, &request,
		      k % 2 ? IBSA_METHOD_GET : IBSA_METHOD_GET_TABLE,
		      k < 4 ? all_fields(table->record) : UINT64_MAX,
		      pick(table, k / 2));
		request_name(&request, "%s by all %s, %u", table->record->name,
			     k < 4 ? "fields" : "bits", k);
		same_exchange(&request);
	}
}

/*
 * Send requests that select by a mask bit without a field: each such bit below
 * the last field's, and some of those above it.
 */
static void send_reserved(const struct table *table)
{
	const uint64_t fields = all_fields(table->record);

	for (unsigned int bit = 0; bit < 64; bit++) {
		struct request request;

		if (fields >> bit & 1 || (!(fields >> bit) && bit % 13))
			continue;
		start(table, &request, IBSA_METHOD_GET_TABLE,
		      UINT64_C(1) << bit, 0);
		request_name(&request, "%s by reserved bit %u",
			     table->record->name, bit);
		same_exchange(&request);
	}
}

static const struct spot *any_spot(const struct table *table)
{
	const struct asked_record *record = table->record;

	return &record->spots[random_below(table->dice, record->spot_count)];
}

/*
 * Send a request that selects by two to four fields of one record, sometimes
 * with one field of another.
 */
static void send_combination(const struct table *table)
{
	const unsigned int fields = 2 +
				    (unsigned int)random_below(table->dice, 3);
	const size_t index = random_below(table->dice, table->count);
	struct request request;
	uint64_t mask = 0;

	start(table, &request,
	      random_below(table->dice, 3) ? IBSA_METHOD_GET_TABLE
					   : IBSA_METHOD_GET,
	      0, index);
	for (unsigned int i = 0; i < fields; i++) {
		const struct spot *spot = any_spot(table);

		mask |= bit_of(spot);
		if (!spot->is_frail && !random_below(table->dice, 8))
			flip(&request, spot);
	}
	ibsa_put_be64(request.mad + MAD_COMPONENT_MASK, mask);
	request_key(&request, random_below(table->dice, 2));
	request_name(&request, "%s by mask %#llx of record %zu",
		     table->record->name, (unsigned long long)mask, index);
	same_exchange(&request);
}

static void send_methods(const struct table *table)
{
	static const uint8_t methods[] = { 0,
					   IBSA_METHOD_SET,
					   0x03,
					   0x04,
					   METHOD_TRACE,
					   IBSA_METHOD_GET_MULTI,
					   IBSA_METHOD_DELETE,
					   0x7f };

	for (size_t i = 0; i < sizeof(methods); i++) {
		struct request request;

		if (table->record->is_settable &&
		    (methods[i] == IBSA_METHOD_SET ||
		     methods[i] == IBSA_METHOD_DELETE))
			continue;
		start(table, &request, methods[i], 1, 0);
		request_name(&request, "%s with method %#x",
			     table->record->name, methods[i]);
		same_exchange(&request);
	}
}

static void send_keys(const struct table *table)
{
	static const uint64_t keys[] = { 0, SM_KEY, 2, UINT64_MAX,
					 UINT64_C(1) << 56 };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct request request;

		start(table, &request, IBSA_METHOD_GET_TABLE, 1, 0);
		request_key(&request, keys[i]);
		request_name(&request, "%s with SM_Key %#llx",
			     table->record->name, (unsigned long long)keys[i]);
		same_exchange(&request);
		request.mad[MAD_METHOD] = IBSA_METHOD_GET;
		same_exchange(&request);
	}
}

/*
 * Send requests with one changed field of the header: class version, status,
 * attribute modifier, RMPP header, attribute offset.
 */
static void send_headers(const struct table *table)
{
	static const struct {
		uint8_t at;
		uint8_t value;
		const char *what;
	} bytes[] = {
		{ 2, 1, "class version 1" },   { 2, 0, "class version 0" },
		{ 5, 4, "a status" },	       { 7, 1, "class bits" },
		{ 20, 0x80, "modifier, top" }, { 23, 1, "modifier 1" },
		{ 24, 1, "RMPP version" },     { 25, 1, "RMPP type" },
		{ 26, 1, "RMPP active" },      { 26, 7, "RMPP of one" },
		{ 31, 1, "RMPP segment" },     { 45, 8, "an offset" },
	};

	for (size_t i = 0; i < 2 * sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct request request;

		start(table, &request,
		      i % 2 ? IBSA_METHOD_GET : IBSA_METHOD_GET_TABLE, 1, 0);
		request.mad[bytes[i / 2].at] = bytes[i / 2].value;
		request_name(&request, "%s with %s", table->record->name,
			     bytes[i / 2].what);
		same_exchange(&request);
	}
}

/* Send requests whose answers do not depend on the fabric. */
static void send_formal(const struct table *table)
{
	send_keys(table);
	send_headers(table);
	send_reserved(table);
}

/* Query all records of a kind, with the SM_Key and without it. */
static void send_table(struct table *table)
{
	struct request request;

	table->count = 0;
	for (uint64_t key = 0; key < 2; key++) {
		start(table, &request, IBSA_METHOD_GET_TABLE, 0, SIZE_MAX);
		request_key(&request, key);
		request_name(&request, "all of %s", table->record->name);
		table_store(table, same_exchange(&request));
		request.mad[MAD_METHOD] = IBSA_METHOD_GET;
		same_exchange(&request);
	}
}

static void send_record(const struct asked_record *record, struct random *dice,
			bool is_brief)
{
	static struct table table;

	table.record = record;
	table.dice = dice;
	table.is_brief = is_brief;
	send_table(&table);
	if (!is_brief)
		send_formal(&table);
	if (!record->spot_count)
		return;
	send_fields(&table);
	send_whole(&table);
	for (int i = 0; table.count && i < COMBINATIONS; i++)
		send_combination(&table);
}

/*
 * Send requests with attributes for which OpenSM has no answer, and with
 * unknown ones.
 */
static void send_unknown(void)
{
	static const uint16_t attributes[] = { 0x0000, 0x0002, 0x0010, 0x0016,
					       0x0019, 0x0021, 0x0032, 0x0034,
					       0x0039, 0x003b, 0x003c, 0x003d,
					       0x003e, 0x0080, 0x00f4, 0xffff };
	static const uint8_t methods[] = { IBSA_METHOD_GET, IBSA_METHOD_SET,
					   IBSA_METHOD_GET_TABLE, METHOD_TRACE,
					   IBSA_METHOD_DELETE };

	for (size_t i = 0; i < sizeof(attributes) / 2; i++) {
		for (size_t k = 0; k < sizeof(methods); k++) {
			struct request request;

			request_start(&request, methods[k], attributes[i], k);
			request_name(&request, "attribute %#x, method %#x",
				     attributes[i], methods[k]);
			same_exchange(&request);
		}
	}
}

void same_make(struct random *dice, bool is_brief)
{
	const struct asked_record *record;

	for (unsigned int i = 0; (record = same_record(i)); i++)
		send_record(record, dice, is_brief);
}

void same_make_methods(void)
{
	static struct table table;
	static struct answer whole;
	struct request request;

	for (unsigned int i = 0; (table.record = same_record(i)); i++) {
		table.count = 0;
		start(&table, &request, IBSA_METHOD_GET_TABLE, 0, SIZE_MAX);
		same_exchange_embedded(&request, &whole);
		table_store(&table, &whole);
		send_methods(&table);
	}
	send_unknown();
}
