/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the functions that encode, decode and find records and their
 * fields, and read and set values, with valid and invalid values.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/text.h>

#include "../support/random.h"

enum { HOST_BYTES = 512 };

/* The struct of any record. */
union host {
	struct ibsa_path path;
	struct ibsa_service service;
	uint64_t align;
	uint8_t bytes[HOST_BYTES];
};

/*
 * Return: the record at @index, the SA header after the last record, then NULL.
 */
static const struct ibsa_record *record_or_header(unsigned int index)
{
	const struct ibsa_record *record = ibsa_record_at(index);

	if (record)
		return record;
	return index && ibsa_record_at(index - 1) ? &ibsa_sa_header_record
						  : NULL;
}

static bool is_number(const struct ibsa_field *field)
{
	return field->show != IBSA_SHOW_gid && field->show != IBSA_SHOW_text &&
	       field->show != IBSA_SHOW_blob;
}

/*
 * Write values into a struct, including values that ibsa_field_set() would
 * refuse.
 */
static void host_put(const struct ibsa_field *field, unsigned int index,
		     uint64_t value, union host *host)
{
	uint8_t *at = host->bytes + field->host_offset +
		      (size_t)index * field->host_size;
	const uint8_t u8 = (uint8_t)value;
	const uint16_t u16 = (uint16_t)value;
	const uint32_t u32 = (uint32_t)value;

	if (field->host_size == 1)
		memcpy(at, &u8, sizeof(u8));
	else if (field->host_size == 2)
		memcpy(at, &u16, sizeof(u16));
	else if (field->host_size == 4)
		memcpy(at, &u32, sizeof(u32));
	else
		memcpy(at, &value, sizeof(value));
}

/* A value that is one bit too wide is refused, and nothing is written. */
static void encode_refuses_every_value_that_is_too_wide(void **state)
{
	const struct ibsa_record *record;
	unsigned int fields = 0;

	(void)state;
	for (unsigned int i = 0; (record = record_or_header(i)); i++) {
		for (unsigned int n = 0; n < record->field_count; n++) {
			const struct ibsa_field *field = &record->fields[n];
			union host host = { 0 };
			uint8_t wire[256];

			if (!is_number(field) ||
			    field->nbits == field->host_size * 8)
				continue;
			memset(wire, 0x5a, sizeof(wire));
			host_put(field, 0, UINT64_C(1) << field->nbits, &host);
			assert_int_equal(ibsa_record_encode(record, &host,
							    record->host_size,
							    wire, sizeof(wire)),
					 -ERANGE);
			for (size_t b = 0; b < sizeof(wire); b++)
				assert_int_equal(wire[b], 0x5a);
			host_put(field, 0, (UINT64_C(1) << field->nbits) - 1,
				 &host);
			assert_int_equal(ibsa_record_encode(record, &host,
							    record->host_size,
							    wire, sizeof(wire)),
					 0);
			fields++;
		}
	}
	assert_true(fields > 80);
}

/* Set all bits of every field of the struct, and of its padding. */
static void widest_make(const struct ibsa_record *record, union host *host)
{
	memset(host, 0xff, sizeof(*host));
	for (unsigned int n = 0; n < record->field_count; n++) {
		const struct ibsa_field *field = &record->fields[n];
		uint64_t ones;

		if (field->show == IBSA_SHOW_text)
			host->bytes[field->host_offset + field->count] = 0;
		if (!is_number(field))
			continue;
		ones = ~UINT64_C(0) >> (64 - field->nbits);
		for (unsigned int v = 0; v < field->count; v++)
			assert_int_equal(ibsa_field_set(field, v, ones, host),
					 0);
	}
}

static void check_same(const struct ibsa_record *record, const union host *host,
		       const union host *other)
{
	for (unsigned int n = 0; n < record->field_count; n++) {
		const struct ibsa_field *field = &record->fields[n];

		assert_memory_equal(host->bytes + field->host_offset,
				    other->bytes + field->host_offset,
				    (size_t)field->host_size * field->count);
	}
}

/* The widest values fit; padding in the struct is ignored. */
static void the_widest_values_fit(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = record_or_header(i)); i++) {
		union host host;
		union host back = { 0 };
		uint8_t wire[256];

		widest_make(record, &host);
		assert_int_equal(ibsa_record_encode(record, &host,
						    record->host_size, wire,
						    sizeof(wire)),
				 0);
		assert_int_equal(ibsa_record_decode(record, wire, sizeof(wire),
						    &back, record->host_size),
				 0);
		check_same(record, &host, &back);
	}
}

static void short_buffers_are_refused(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = record_or_header(i)); i++) {
		union host host = { 0 };
		uint8_t wire[256];
		uint8_t before[256];

		memset(wire, 0x5a, sizeof(wire));
		memcpy(before, wire, sizeof(wire));
		assert_int_equal(ibsa_record_encode(record, &host,
						    record->host_size, wire,
						    record->size - 1u),
				 -EINVAL);
		assert_memory_equal(wire, before, sizeof(wire));
		assert_int_equal(ibsa_record_decode(record, wire,
						    record->size - 1u, &host,
						    record->host_size),
				 -EPROTO);
		assert_int_equal(ibsa_record_decode(record, wire, 0, &host,
						    record->host_size),
				 -EPROTO);
		for (size_t b = 0; b < sizeof(host); b++)
			assert_int_equal(host.bytes[b], 0);
		/* A buffer of the exact size is enough. */
		assert_int_equal(ibsa_record_encode(record, &host,
						    record->host_size, wire,
						    record->size),
				 0);
		assert_memory_equal(wire + record->size, before + record->size,
				    sizeof(wire) - record->size);
		assert_int_equal(ibsa_record_decode(record, wire, record->size,
						    &host, record->host_size),
				 0);
	}
}

/* A received text need not end with NUL; bytes behind a NUL are preserved and
 * sent again. */
static void text_in_a_mad_need_not_end_with_nul(void **state)
{
	struct ibsa_node node;
	uint8_t wire[108];
	uint8_t back[108];

	(void)state;
	memset(wire, 0, sizeof(wire));
	memset(wire + 44, 'x', 64);
	assert_int_equal(ibsa_record_decode(&ibsa_node_record, wire,
					    sizeof(wire), &node, sizeof(node)),
			 0);
	assert_int_equal(strlen(node.node_description), 64);
	assert_int_equal(ibsa_record_encode(&ibsa_node_record, &node,
					    sizeof(node), back, sizeof(back)),
			 0);
	assert_memory_equal(back, wire, sizeof(wire));

	wire[44 + 3] = 0;
	assert_int_equal(ibsa_record_decode(&ibsa_node_record, wire,
					    sizeof(wire), &node, sizeof(node)),
			 0);
	assert_string_equal(node.node_description, "xxx");
	assert_memory_equal(node.node_description, wire + 44, 64);
	assert_int_equal(node.node_description[64], 0);
	assert_int_equal(ibsa_record_encode(&ibsa_node_record, &node,
					    sizeof(node), back, sizeof(back)),
			 0);
	assert_memory_equal(back, wire, sizeof(wire));
}

static void text_has_all_its_bytes_on_the_wire(void **state)
{
	struct ibsa_service service = { .service_name = "db" };
	uint8_t wire[176];

	(void)state;
	memset(service.service_name + 3, 'j', 61);
	assert_int_equal(ibsa_record_encode(&ibsa_service_record, &service,
					    sizeof(service), wire,
					    sizeof(wire)),
			 0);
	assert_memory_equal(wire + 48, service.service_name, 64);
	assert_int_equal(wire[48 + 2], 0);
	assert_int_equal(wire[111], 'j');

	memset(service.service_name, 'j', sizeof(service.service_name));
	assert_int_equal(ibsa_record_encode(&ibsa_service_record, &service,
					    sizeof(service), wire,
					    sizeof(wire)),
			 -ERANGE);
}

/* Offsets as in opa-ff's stl_mad_types.h, STL_CLASS_PORT_INFO. */
static void opa_class_port_info_lies_as_in_stl_mad_types(void **state)
{
	struct ibsa_opa_class_port_info info;
	uint8_t wire[80];

	(void)state;
	for (uint8_t i = 0; i < sizeof(wire); i++)
		wire[i] = i;
	assert_int_equal(ibsa_record_decode(&ibsa_opa_class_port_info_record,
					    wire, sizeof(wire), &info,
					    sizeof(info)),
			 0);
	assert_int_equal(info.class_version, 1);
	assert_int_equal(info.capability_mask, 0x0203);
	assert_int_equal(info.capability_mask2, 0x04050607 >> 5);
	assert_int_equal(info.resp_time_value, 7);
	assert_int_equal(info.redirect_gid.raw[0], 8);
	assert_int_equal(info.redirect_tclass, 24);
	assert_int_equal(info.redirect_flow_label, 0x91a1b);
	assert_int_equal(info.redirect_lid, 0x1c1d1e1f);
	assert_int_equal(info.redirect_sl, 0x20 >> 3);
	assert_int_equal(info.redirect_qp, 0x212223);
	assert_int_equal(info.redirect_qkey, 0x24252627);
	assert_int_equal(info.trap_gid.raw[0], 40);
	assert_int_equal(info.trap_tclass, 56);
	assert_int_equal(info.trap_flow_label, 0x93a3b);
	assert_int_equal(info.trap_lid, 0x3c3d3e3f);
	assert_int_equal(info.trap_hop_limit, 64);
	assert_int_equal(info.trap_qp, 0x414243);
	assert_int_equal(info.trap_qkey, 0x44454647);
	assert_int_equal(info.trap_pkey, 0x4849);
	assert_int_equal(info.redirect_pkey, 0x4a4b);
	assert_int_equal(info.trap_sl, 0x4c >> 3);
}

/* Getting, setting and encoding agree for every number of every record. */
static void fields_are_read_and_set_by_number(void **state)
{
	const struct ibsa_record *record;
	uint64_t random = 5;

	(void)state;
	for (unsigned int i = 0; (record = record_or_header(i)); i++) {
		for (unsigned int n = 0; n < record->field_count; n++) {
			const struct ibsa_field *field = &record->fields[n];
			uint64_t value = random_next(&random);
			unsigned int last = field->count - 1u;
			union host host = { 0 };
			uint8_t wire[256];

			if (!is_number(field)) {
				assert_int_equal(ibsa_field_set(field, 0, 1,
								&host),
						 -EINVAL);
				assert_true(!ibsa_field_get(field, 0, &host));
				continue;
			}
			value >>= 64 - field->nbits;
			assert_int_equal(
				ibsa_field_set(field, last, value, &host), 0);
			assert_true(ibsa_field_get(field, last, &host) ==
				    value);
			assert_int_equal(ibsa_record_encode(record, &host,
							    record->host_size,
							    wire, sizeof(wire)),
					 0);
			assert_true(ibsa_bits_get(wire,
						  field->bit_offset +
							  last * field->nbits,
						  field->nbits) == value);
			assert_int_equal(ibsa_field_set(field, field->count, 0,
							&host),
					 -EINVAL);
			assert_true(
				!ibsa_field_get(field, field->count, &host));
			if (field->nbits == 64)
				continue;
			assert_int_equal(ibsa_field_set(field, last,
							UINT64_C(1)
								<< field->nbits,
							&host),
					 -ERANGE);
			assert_true(ibsa_field_get(field, last, &host) ==
				    value);
		}
	}
}

/* Fields are in wire order and do not overlap, in the MAD and in the struct. */
static void fields_stand_in_order(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = record_or_header(i)); i++) {
		unsigned int bit = 0;
		size_t byte = 0;

		for (unsigned int n = 0; n < record->field_count; n++) {
			const struct ibsa_field *field = &record->fields[n];

			assert_true(field->bit_offset >= bit);
			bit = field->bit_offset +
			      (unsigned int)field->nbits * field->count;
			assert_true(n == 0 || field->host_offset >= byte);
			byte = field->host_offset +
			       (size_t)field->host_size * field->count;
			assert_true(field->nbits <= field->host_size * 8u);
		}
		assert_true(bit <= record->size * 8u);
		assert_true(byte <= record->host_size);
		assert_true(record->host_size <= HOST_BYTES);
	}
}

static void records_are_found_by_either_name(void **state)
{
	const struct ibsa_record *record;
	unsigned int i;

	(void)state;
	for (i = 0; (record = ibsa_record_at(i)); i++) {
		assert_ptr_equal(ibsa_record_find(record->name), record);
		assert_ptr_equal(ibsa_record_find(record->short_name), record);
	}
	assert_null(ibsa_record_at(i + 1));
	assert_null(ibsa_record_at(~0u));
	assert_ptr_equal(ibsa_record_find("pathRECORD"), &ibsa_path_record);
	assert_ptr_equal(ibsa_record_find("pir"), &ibsa_port_info_record);
	assert_null(ibsa_record_find("PathRecor"));
	assert_null(ibsa_record_find(""));
	assert_null(ibsa_record_find("SAHeader"));
}

/* The columns of a table are fields of the record, or "name_N" of an array. */
static void columns_of_a_table_are_fields(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		char names[256];
		char *rest = NULL;

		assert_true(strlen(record->brief) < sizeof(names));
		strcpy(names, record->brief);
		for (char *name = strtok_r(names, ",", &rest); name;
		     name = strtok_r(NULL, ",", &rest)) {
			unsigned int index;

			if (!ibsa_field_find(record, name, &index))
				fail_msg("%s has no %s", record->name, name);
		}
	}
}

/* IBSA_GET() returns what decode returns. */
static void get_reads_what_decode_reads(void **state)
{
	uint64_t random = 6;
	struct ibsa_path path;
	uint8_t wire[64];

	(void)state;
	for (size_t i = 0; i < sizeof(wire); i++)
		wire[i] = (uint8_t)random_next(&random);
	assert_int_equal(ibsa_record_decode(&ibsa_path_record, wire,
					    sizeof(wire), &path, sizeof(path)),
			 0);
	assert_true(IBSA_GET(path, service_id, wire) == path.service_id);
	assert_true(IBSA_GET(path, dlid, wire) == path.dlid);
	assert_true(IBSA_GET(path, raw_traffic, wire) == path.raw_traffic);
	assert_true(IBSA_GET(path, flow_label, wire) == path.flow_label);
	assert_true(IBSA_GET(path, qos_class, wire) == path.qos_class);
	assert_true(IBSA_GET(path, sl, wire) == path.sl);
	assert_true(IBSA_GET(path, packet_life_time, wire) ==
		    path.packet_life_time);
	assert_memory_equal(IBSA_GET_GID(path, sgid, wire), &path.sgid, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encode_refuses_every_value_that_is_too_wide),
		cmocka_unit_test(the_widest_values_fit),
		cmocka_unit_test(short_buffers_are_refused),
		cmocka_unit_test(text_in_a_mad_need_not_end_with_nul),
		cmocka_unit_test(text_has_all_its_bytes_on_the_wire),
		cmocka_unit_test(opa_class_port_info_lies_as_in_stl_mad_types),
		cmocka_unit_test(fields_are_read_and_set_by_number),
		cmocka_unit_test(fields_stand_in_order),
		cmocka_unit_test(records_are_found_by_either_name),
		cmocka_unit_test(columns_of_a_table_are_fields),
		cmocka_unit_test(get_reads_what_decode_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
