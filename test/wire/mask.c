/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Component masks, with the numbers in headers of other implementations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/records.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/*
 * Bit numbers in Linux's include/rdma/ib_sa.h, or, for records that it does not
 * have, in OpenSM's ib_types.h or opa-ff's ib_sa_records.h.
 */
static const struct {
	uint64_t mask;
	unsigned int bit;
} other_bits[] = {
	{ IBSA_PATH_CM(dgid), 2 },
	{ IBSA_PATH_CM(sgid), 3 },
	{ IBSA_PATH_CM(dlid), 4 },
	{ IBSA_PATH_CM(slid), 5 },
	{ IBSA_PATH_CM(raw_traffic), 6 },
	{ IBSA_PATH_CM(flow_label), 8 },
	{ IBSA_PATH_CM(hop_limit), 9 },
	{ IBSA_PATH_CM(tclass), 10 },
	{ IBSA_PATH_CM(reversible), 11 },
	{ IBSA_PATH_CM(numb_path), 12 },
	{ IBSA_PATH_CM(pkey), 13 },
	{ IBSA_PATH_CM(qos_class), 14 },
	{ IBSA_PATH_CM(sl), 15 },
	{ IBSA_PATH_CM(mtu_selector), 16 },
	{ IBSA_PATH_CM(mtu), 17 },
	{ IBSA_PATH_CM(rate_selector), 18 },
	{ IBSA_PATH_CM(rate), 19 },
	{ IBSA_PATH_CM(packet_life_time_selector), 20 },
	{ IBSA_PATH_CM(packet_life_time), 21 },
	{ IBSA_PATH_CM(preference), 22 },
	{ IBSA_OPA_PATH_CM(dlid), 4 },
	{ IBSA_OPA_PATH_CM(sl), 15 },
	{ IBSA_OPA_PATH_CM(preference), 22 },
	{ IBSA_MCMEMBER_CM(mgid), 0 },
	{ IBSA_MCMEMBER_CM(port_gid), 1 },
	{ IBSA_MCMEMBER_CM(qkey), 2 },
	{ IBSA_MCMEMBER_CM(mlid), 3 },
	{ IBSA_MCMEMBER_CM(mtu_selector), 4 },
	{ IBSA_MCMEMBER_CM(mtu), 5 },
	{ IBSA_MCMEMBER_CM(tclass), 6 },
	{ IBSA_MCMEMBER_CM(pkey), 7 },
	{ IBSA_MCMEMBER_CM(rate_selector), 8 },
	{ IBSA_MCMEMBER_CM(rate), 9 },
	{ IBSA_MCMEMBER_CM(packet_life_time_selector), 10 },
	{ IBSA_MCMEMBER_CM(packet_life_time), 11 },
	{ IBSA_MCMEMBER_CM(sl), 12 },
	{ IBSA_MCMEMBER_CM(flow_label), 13 },
	{ IBSA_MCMEMBER_CM(hop_limit), 14 },
	{ IBSA_MCMEMBER_CM(scope), 15 },
	{ IBSA_MCMEMBER_CM(join_state), 16 },
	{ IBSA_MCMEMBER_CM(proxy_join), 17 },
	{ IBSA_SERVICE_CM(service_id), 0 },
	{ IBSA_SERVICE_CM(service_gid), 1 },
	{ IBSA_SERVICE_CM(service_pkey), 2 },
	{ IBSA_SERVICE_CM(service_lease), 4 },
	{ IBSA_SERVICE_CM(service_key), 5 },
	{ IBSA_SERVICE_CM(service_name), 6 },
	{ IBSA_SERVICE_CM(service_data8), 7 },
	{ IBSA_SERVICE_CM(service_data16), 23 },
	{ IBSA_SERVICE_CM(service_data32), 31 },
	{ IBSA_SERVICE_CM(service_data64), 35 },
	{ IBSA_NODE_CM(lid), 0 },
	{ IBSA_NODE_CM(node_type), 4 },
	{ IBSA_NODE_CM(port_guid), 8 },
	{ IBSA_NODE_CM(node_description), 14 },
	{ IBSA_PORT_INFO_CM(endport_lid), 0 },
	{ IBSA_PORT_INFO_CM(capability_mask), 7 },
	{ IBSA_PORT_INFO_CM(lmc), 20 },
	{ IBSA_PORT_INFO_CM(capability_mask2), 53 },
	{ IBSA_PORT_INFO_CM(link_speed_ext_enabled), 57 },
	{ IBSA_GUID_INFO_CM(lid), 0 },
	{ IBSA_GUID_INFO_CM(block_num), 1 },
	{ IBSA_GUID_INFO_CM(guid), 4 },
	{ IBSA_INFORM_INFO_CM(gid), 0 },
	{ IBSA_INFORM_INFO_CM(subscribe), 5 },
	{ IBSA_INFORM_INFO_CM(producer_type), 12 },
	{ IBSA_SWITCH_INFO_CM(lid), 0 },
	{ IBSA_LFT_CM(lid), 0 },
	{ IBSA_LFT_CM(block_num), 1 },
	{ IBSA_MFT_CM(lid), 0 },
	{ IBSA_MFT_CM(position), 1 },
	{ IBSA_MFT_CM(block_num), 3 },
	{ IBSA_SM_INFO_CM(lid), 0 },
	{ IBSA_SM_INFO_CM(guid), 2 },
	{ IBSA_SM_INFO_CM(sm_key), 3 },
	{ IBSA_SM_INFO_CM(act_count), 4 },
	{ IBSA_SM_INFO_CM(priority), 5 },
	{ IBSA_SM_INFO_CM(sm_state), 6 },
	{ IBSA_LINK_CM(from_lid), 0 },
	{ IBSA_LINK_CM(from_port), 1 },
	{ IBSA_LINK_CM(to_port), 2 },
	{ IBSA_LINK_CM(to_lid), 3 },
	{ IBSA_SL_TO_VL_CM(lid), 0 },
	{ IBSA_SL_TO_VL_CM(input_port_num), 1 },
	{ IBSA_SL_TO_VL_CM(output_port_num), 2 },
	{ IBSA_VL_ARBITRATION_CM(lid), 0 },
	{ IBSA_VL_ARBITRATION_CM(output_port_num), 1 },
	{ IBSA_VL_ARBITRATION_CM(block_num), 2 },
	{ IBSA_MULTI_PATH_CM(raw_traffic), 0 },
	{ IBSA_MULTI_PATH_CM(flow_label), 2 },
	{ IBSA_MULTI_PATH_CM(hop_limit), 3 },
	{ IBSA_MULTI_PATH_CM(tclass), 4 },
	{ IBSA_MULTI_PATH_CM(reversible), 5 },
	{ IBSA_MULTI_PATH_CM(numb_path), 6 },
	{ IBSA_MULTI_PATH_CM(pkey), 7 },
	{ IBSA_MULTI_PATH_CM(qos_class), 8 },
	{ IBSA_MULTI_PATH_CM(sl), 9 },
	{ IBSA_MULTI_PATH_CM(mtu_selector), 10 },
	{ IBSA_MULTI_PATH_CM(mtu), 11 },
	{ IBSA_MULTI_PATH_CM(rate_selector), 12 },
	{ IBSA_MULTI_PATH_CM(rate), 13 },
	{ IBSA_MULTI_PATH_CM(packet_life_time_selector), 14 },
	{ IBSA_MULTI_PATH_CM(packet_life_time), 15 },
	{ IBSA_MULTI_PATH_CM(service_id_high), 16 },
	{ IBSA_MULTI_PATH_CM(independence_selector), 17 },
	{ IBSA_MULTI_PATH_CM(sgid_count), 19 },
	{ IBSA_MULTI_PATH_CM(dgid_count), 20 },
	{ IBSA_MULTI_PATH_CM(service_id_low), 21 },
	{ IBSA_INFORM_INFO_REC_CM(subscriber_gid), 0 },
	{ IBSA_INFORM_INFO_REC_CM(subscriber_enum), 1 },
	{ IBSA_INFORM_INFO_REC_CM(gid), 3 },
	{ IBSA_INFORM_INFO_REC_CM(trap_number), 10 },
	{ IBSA_INFORM_INFO_REC_CM(producer_type), 15 },
};

static void masks_are_those_of_other_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(other_bits); i++)
		assert_true(other_bits[i].mask == UINT64_C(1)
							  << other_bits[i].bit);
	/* A path's service id has two mask bits: its mask has both. */
	assert_true(IBSA_PATH_CM(service_id) == 3);
	assert_true(IBSA_OPA_PATH_CM(service_id) == 3);
	assert_true(IBSA_CM(notice, type) == 0);
	assert_true(IBSA_CM(opa_path, l2_8b) == 0);
}

/* A mask has the bits of its record's fields; no two values share a bit. */
static void masks_cover_the_fields_and_no_more(void **state)
{
	const struct ibsa_record *record;

	(void)state;
	for (unsigned int i = 0; (record = ibsa_record_at(i)); i++) {
		uint64_t seen = 0;

		for (unsigned int n = 0; n < record->field_count; n++) {
			const struct ibsa_field *field = &record->fields[n];
			unsigned int values = ibsa_field_values(field);

			for (unsigned int v = 0; v < values; v++) {
				uint64_t bits = ibsa_field_cm(field, v);

				assert_true((seen & bits) == 0);
				seen |= bits;
			}
			assert_true(ibsa_field_cm(field, values) == 0);
		}
		assert_true(seen == record->mask);
	}
	assert_true(ibsa_path_record.mask == 0x7fff7f);
	assert_true(ibsa_mcmember_record.mask == 0x3ffff);
	assert_true(ibsa_guid_info_record.mask == 0xff3);
	assert_true(ibsa_service_record.mask == UINT64_C(0x1ffffffff7));
	assert_true(ibsa_pkey_table_record.mask == 0x7);
	assert_true(ibsa_notice_record.mask == 0);
	assert_true(ibsa_class_port_info_record.mask == 0);
}

/* Elements of an array have consecutive bits. */
static void array_values_have_their_own_bits(void **state)
{
	const struct ibsa_field *data8 = NULL;

	(void)state;
	for (unsigned int i = 0; i < ibsa_service_record.field_count; i++) {
		const struct ibsa_field *field = &ibsa_service_record.fields[i];

		if (!strcmp(field->name, "service_data8"))
			data8 = field;
	}
	assert_non_null(data8);
	assert_int_equal(ibsa_field_values(data8), 16);
	assert_true(ibsa_field_cm(data8, 0) == UINT64_C(1) << 7);
	assert_true(ibsa_field_cm(data8, 15) == UINT64_C(1) << 22);
}

/*
 * TEXT() makes a string of its argument; EXPANDED() first expands a macro in
 * it.
 */
#define TEXT(call) #call
#define EXPANDED(call) TEXT(call)

/* A record whose fields have component bits has its own mask macro. */
static void records_with_bits_have_a_mask_macro(void **state)
{
	(void)state;
#define CHECK_MACRO(record, UPPER, ...)                                       \
	if (ibsa_##record##_record.mask)                                      \
		assert_string_not_equal(EXPANDED(IBSA_##UPPER##_CM(a_field)), \
					"IBSA_" #UPPER "_CM(a_field)");
	IBSA_RECORDS(CHECK_MACRO)
#undef CHECK_MACRO
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_are_those_of_other_headers),
		cmocka_unit_test(masks_cover_the_fields_and_no_more),
		cmocka_unit_test(array_values_have_their_own_bits),
		cmocka_unit_test(records_with_bits_have_a_mask_macro),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
