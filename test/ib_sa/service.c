/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service records: registered, queried, removed, one and many. */
#include "test/ib_sa/plug.h"
#include "wire/mad.h"

enum { RECORD = 176 };

/*
 * Copy the service record of a captured MAD: the kernel's struct has the wire's
 * layout and byte order.
 */
static void captured_record(const char *file, void *out, size_t offset)
{
	uint8_t mad[PUPPET_BYTES];

	assert_true(plug_vector(file, mad) >= offset + RECORD);
	memcpy(out, mad + offset, RECORD);
}

static int service_query(struct plug *plug, uint8_t method,
			 struct ib_sa_service_rec *rec, ib_sa_comp_mask mask,
			 struct told *told)
{
	struct ib_sa_query *query;

	told->device = plug->rig.device;
	return ib_sa_service_rec_query(&plug->rig.client, plug->rig.device, 1,
				       method, rec, mask, RIG_TIMEOUT_MS, 0,
				       told_service, told, &query);
}

/*
 * Send the request of a captured exchange, and answer it with the captured
 * reply.
 */
static void replay(uint8_t method, ib_sa_comp_mask mask, const char *request,
		   const char *answer, struct told *told)
{
	struct ib_sa_service_rec rec;
	uint8_t mad[PUPPET_BYTES];
	struct plug plug;

	*told = (struct told){ 0 };
	plug_start(&plug, NULL);
	captured_record(request, &rec, IBSA_SA_HEADER_BYTES);
	assert_int_equal(service_query(&plug, method, &rec, mask, told), 0);
	memset(&rec, 0xff, sizeof(rec));
	plug_run(&plug, 0);
	plug_assert_sent(&plug, 0, request);
	plug_answer(&plug, 0, mad, plug_vector(answer, mad));
	assert_int_equal(told->calls, 1);
	assert_memory_equal(&told->service, mad + IBSA_SA_HEADER_BYTES, RECORD);
	plug_stop(&plug);
}

/*
 * The files contain requests that another program sent to OpenSM, and OpenSM's
 * replies. The library must send the same requests, bit for bit, and pass the
 * record of each reply to the callback unchanged.
 */
static void exchanges_are_the_captured_ones(void **state)
{
	const ib_sa_comp_mask identity = IB_SA_SERVICE_REC_SERVICE_ID |
					 IB_SA_SERVICE_REC_SERVICE_GID |
					 IB_SA_SERVICE_REC_SERVICE_PKEY;
	const ib_sa_comp_mask all = identity | IB_SA_SERVICE_REC_SERVICE_LEASE |
				    IB_SA_SERVICE_REC_SERVICE_NAME |
				    IB_SA_SERVICE_REC_SERVICE_DATA8_0 |
				    IB_SA_SERVICE_REC_SERVICE_DATA8_1 |
				    IB_SA_SERVICE_REC_SERVICE_DATA16_0 |
				    IB_SA_SERVICE_REC_SERVICE_DATA32_0 |
				    IB_SA_SERVICE_REC_SERVICE_DATA64_0 |
				    IB_SA_SERVICE_REC_SERVICE_DATA64_1;
	struct told told;

	(void)state;
	replay(IB_MGMT_METHOD_SET, all, "20_service_set.req.hex",
	       "20_service_set.rsp.hex", &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(told.service.id, htobe64(0x1234));
	assert_int_equal(told.service.pkey, 0xffff);
	assert_int_equal(told.service.lease, htobe32(600));
	assert_string_equal((char *)told.service.name, "shared-vector-service");
	assert_int_equal(told.service.data8[1], 2);
	assert_int_equal(told.service.data16[0], htobe16(0x304));
	assert_int_equal(told.service.data32[0], htobe32(0x5060708));
	assert_int_equal(told.service.data64[1],
			 htobe64(UINT64_C(0x2122232425262728)));
	replay(IB_MGMT_METHOD_GET, IB_SA_SERVICE_REC_SERVICE_ID,
	       "22_service_get_by_id.req.hex", "22_service_get_by_id.rsp.hex",
	       &told);
	assert_int_equal(told.status, 0);
	replay(IB_SA_METHOD_DELETE, identity, "24_service_delete.req.hex",
	       "24_service_delete.rsp.hex", &told);
	assert_int_equal(told.status, 0);
	replay(IB_MGMT_METHOD_GET, IB_SA_SERVICE_REC_SERVICE_ID,
	       "25_service_get_gone.req.hex", "25_service_get_gone.rsp.hex",
	       &told);
	assert_int_equal(told.status, -EINVAL);
	assert_true(told.has_resp);
	assert_int_equal(told.reply.status, IBSA_STATUS_NO_RECORDS);
}

static int mcmember_query(struct plug *plug, uint8_t method, struct told *told)
{
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };
	struct ib_sa_query *query;

	return ib_sa_mcmember_rec_query(&plug->rig.client, plug->rig.device, 1,
					method, &rec, 0, RIG_TIMEOUT_MS, 0,
					told_mcmember, told, &query);
}

static int no_join(int status, struct ib_sa_multicast *multicast)
{
	(void)status;
	(void)multicast;
	fail_msg("a join that was refused is reported");
	return 0;
}

/*
 * The reply to Get, Set and Delete has one record; other methods are rejected.
 */
static void other_methods_are_refused(void **state)
{
	struct ib_sa_service_rec rec = { 0 };
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	for (int method = 0; method < 256; method++) {
		const bool good = method == IB_MGMT_METHOD_GET ||
				  method == IB_MGMT_METHOD_SET ||
				  method == IB_SA_METHOD_DELETE;

		assert_int_equal(service_query(&plug, (uint8_t)method, &rec, 0,
					       &told) == -EINVAL,
				 !good);
		assert_int_equal(mcmember_query(&plug, (uint8_t)method,
						&told) == -EINVAL,
				 !good);
	}
	plug_run(&plug, 0);
	assert_int_equal(plug.puppet.sent_count, 6);
	plug_stop(&plug);
}

/*
 * Masks with undefined bits are refused: of services, where bit 3 is reserved,
 * of members, of GUIDs, whose reserved members have bits, and of joins.
 */
static void undefined_mask_bits_are_refused(void **state)
{
	struct ib_sa_mcmember_rec member = { .join_state = 1 };
	struct ib_sa_guidinfo_rec guids = { 0 };
	struct ib_sa_service_rec rec = { 0 };
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	for (unsigned int n = 0; n < 64; n++) {
		const ib_sa_comp_mask bit = IB_SA_COMP_MASK(n);
		struct ib_sa_client *client = &plug.rig.client;
		struct ib_device *device = plug.rig.device;
		struct ib_sa_query *query;

		assert_int_equal(service_query(&plug, IBSA_METHOD_GET, &rec,
					       bit, &told) == -EINVAL,
				 n == 3 || n > 36);
		assert_int_equal(ib_sa_mcmember_rec_query(
					 client, device, 1, IBSA_METHOD_GET,
					 &member, bit, 1000, 0, NULL, NULL,
					 &query) == -EINVAL,
				 n > 17);
		assert_int_equal(ib_sa_guid_info_rec_query(
					 client, device, 1, &guids, bit,
					 IBSA_METHOD_GET, 1000, 0, NULL, NULL,
					 &query) == -EINVAL,
				 n > 11);
		if (n > 17)
			assert_int_equal((intptr_t)ib_sa_join_multicast(
						 client, device, 1, &member,
						 bit, 0, no_join, NULL),
					 -EINVAL);
	}
	plug_stop(&plug);
}

/* A name has 64 bytes, including a NUL and what follows it. */
static void name_is_sent_with_all_its_bytes(void **state)
{
	enum { NAME_AT = IBSA_SA_HEADER_BYTES + 48 };
	struct ib_sa_service_rec rec = { .name = "two\0parts" };
	struct told told = { 0 };
	struct plug plug;

	(void)state;
	rec.name[63] = 'z';
	plug_start(&plug, NULL);
	assert_int_equal(service_query(&plug, IBSA_METHOD_GET, &rec,
				       IB_SA_SERVICE_REC_SERVICE_NAME, &told),
			 0);
	plug_run(&plug, 0);
	assert_memory_equal(puppet_sent(&plug.puppet, 0)->mad + NAME_AT,
			    rec.name, sizeof(rec.name));
	plug_stop(&plug);
}

/* As in the kernel, the device is checked before the method. */
static void missing_port_comes_before_the_method(void **state)
{
	struct ib_sa_service_rec rec = { 0 };
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start(&rig);
	assert_int_equal(ib_sa_service_rec_query(&rig.client, rig.device, 9,
						 0x12, &rec, 0, 1000, 0, NULL,
						 NULL, &query),
			 -ENODEV);
	assert_null(query);
	rig_stop(&rig);
}

/*
 * The method is checked next, and the state of the port last: this port has no
 * cable.
 */
static void method_comes_before_the_state_of_the_port(void **state)
{
	struct ib_sa_service_rec service = { 0 };
	struct ib_sa_guidinfo_rec guid_info = { 0 };
	struct ib_sa_client *client;
	struct ib_sa_query *query;
	struct rig rig;

	(void)state;
	rig_start(&rig);
	client = &rig.client;
	ibsa_ib_device_put(rig.device);
	rig.device = rig_open(rig.fabric, "node3", true);
	assert_int_equal(ib_sa_service_rec_query(client, rig.device, 1, 0x12,
						 &service, 0, 1000, 0, NULL,
						 NULL, &query),
			 -EINVAL);
	assert_int_equal(ib_sa_service_rec_query(client, rig.device, 1, 0x01,
						 &service, 0, 1000, 0, NULL,
						 NULL, &query),
			 -EAGAIN);
	assert_int_equal(ib_sa_guid_info_rec_query(client, rig.device, 1,
						   &guid_info, 0, 0x12, 1000, 0,
						   NULL, NULL, &query),
			 -EINVAL);
	assert_null(query);
	rig_stop(&rig);
}

static int services_query(struct plug *plug, struct told *told)
{
	struct sa_service_rec rec = { 0 };
	struct ib_sa_query *query;

	told->device = plug->rig.device;
	return ib_sa_service_rec_get(&plug->rig.client, plug->rig.device, 1,
				     &rec, 0, RIG_TIMEOUT_MS, 0, told_services,
				     told, &query);
}

/* Query all services, and answer with @mad. */
static void answer_all(const uint8_t *mad, size_t len, struct told *told)
{
	struct plug plug;

	*told = (struct told){ 0 };
	plug_start(&plug, NULL);
	assert_int_equal(services_query(&plug, told), 0);
	plug_run(&plug, 0);
	plug_answer(&plug, 0, mad, len);
	assert_int_equal(told->calls, 1);
	plug_stop(&plug);
}

/*
 * Fill in the RMPP header as the receiver's kernel does: the capture has the
 * header that OpenSM passed to its own kernel.
 */
static void fill_rmpp(uint8_t *mad)
{
	static const uint8_t whole[] = { 1, IBSA_RMPP_TYPE_DATA,
					 IBSA_RMPP_ACTIVE | IBSA_RMPP_FIRST |
						 IBSA_RMPP_LAST };

	memcpy(mad + MAD_RMPP_VERSION, whole, sizeof(whole));
}

static void table_is_the_captured_one(void **state)
{
	uint8_t mad[PUPPET_BYTES];
	struct told told;
	size_t len;

	(void)state;
	len = plug_vector("21_service_all.rsp.hex", mad);
	fill_rmpp(mad);
	answer_all(mad, len, &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(told.count, 1);
	assert_memory_equal(&told.services[0], mad + IBSA_SA_HEADER_BYTES,
			    RECORD);
}

/* An empty table, as OpenSM sends it, is -ENODATA without a record. */
static void empty_table_is_enodata(void **state)
{
	uint8_t mad[PUPPET_BYTES];
	struct told told;
	size_t len;

	(void)state;
	len = plug_vector("19_service_none.rsp.hex", mad);
	answer_all(mad, len, &told);
	assert_int_equal(told.status, -ENODATA);
	assert_int_equal(told.count, 0);
	assert_false(told.has_resp);
}

/*
 * Larger records have the distance that the reply tells; the last one is
 * truncated and does not count.
 */
static void records_stand_where_the_stride_says(void **state)
{
	enum { STRIDE = 184 };
	uint8_t mad[PUPPET_BYTES];
	uint8_t record[RECORD];
	struct told told;

	(void)state;
	plug_vector("21_service_all.rsp.hex", mad);
	memcpy(record, mad + IBSA_SA_HEADER_BYTES, RECORD);
	ibsa_put_be16(mad + MAD_ATTRIBUTE_OFFSET, STRIDE / 8);
	memset(mad + IBSA_SA_HEADER_BYTES, 0xee,
	       sizeof(mad) - IBSA_SA_HEADER_BYTES);
	for (int i = 0; i < 3; i++) {
		record[0] = (uint8_t)i;
		memcpy(mad + IBSA_SA_HEADER_BYTES + i * STRIDE, record, RECORD);
	}
	answer_all(mad, IBSA_SA_HEADER_BYTES + 3 * STRIDE - 9, &told);
	assert_int_equal(told.status, 0);
	assert_int_equal(told.count, 2);
	for (int i = 0; i < 2; i++) {
		record[0] = (uint8_t)i;
		assert_memory_equal(&told.services[i], record, RECORD);
	}
	ibsa_put_be16(mad + MAD_ATTRIBUTE_OFFSET, RECORD / 8 - 1);
	answer_all(mad, IBSA_SA_HEADER_BYTES + 3 * STRIDE, &told);
	assert_int_equal(told.status, -EIO);
	assert_false(told.has_resp);
	assert_int_equal(told.count, 0);
}

static void refused_table_has_no_records(void **state)
{
	uint8_t mad[PUPPET_BYTES];
	struct told told;
	size_t len;

	(void)state;
	len = plug_vector("21_service_all.rsp.hex", mad);
	ibsa_put_be16(mad + MAD_STATUS, IBSA_STATUS_REQ_INVALID);
	answer_all(mad, len, &told);
	assert_int_equal(told.status, -EINVAL);
	assert_false(told.has_resp);
	assert_int_equal(told.count, 0);
}

static void sim_query(struct rig *rig, uint8_t method,
		      struct ib_sa_service_rec *rec, ib_sa_comp_mask mask,
		      struct told *told)
{
	struct ib_sa_query *query;

	told->device = rig->device;
	assert_true(ib_sa_service_rec_query(&rig->client, rig->device, 1,
					    method, rec, mask, RIG_TIMEOUT_MS,
					    0, told_service, told,
					    &query) >= 0);
	rig_run(rig, told);
}

/*
 * Every byte of a registered record is returned, whether its component was in
 * the mask or not; it is removed with the same bytes.
 */
static void service_is_kept_whole(void **state)
{
	const ib_sa_comp_mask identity = IB_SA_SERVICE_REC_SERVICE_ID |
					 IB_SA_SERVICE_REC_SERVICE_GID;
	struct ib_sa_service_rec rec;
	struct told told = { 0 };
	struct rig rig;

	(void)state;
	rig_start(&rig);
	memset(&rec, 0, sizeof(rec));
	for (unsigned int i = 32; i < sizeof(rec); i++)
		((uint8_t *)&rec)[i] = (uint8_t)(i + 1);
	rec.id = htobe64(UINT64_C(0x1000000000000007));
	rec.gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80) << 48);
	rec.gid.global.interface_id = htobe64(7);
	rec.lease = htobe32(3600);
	sim_query(&rig, IB_MGMT_METHOD_SET, &rec,
		  identity | IB_SA_SERVICE_REC_SERVICE_LEASE, &told);
	assert_int_equal(told.status, 0);
	sim_query(&rig, IB_MGMT_METHOD_GET, &rec, IB_SA_SERVICE_REC_SERVICE_ID,
		  &told);
	assert_int_equal(told.status, 0);
	assert_memory_equal(told.service.name, rec.name, sizeof(rec.name));
	assert_memory_equal(told.service.data8, rec.data8,
			    sizeof(rec) -
				    offsetof(struct ib_sa_service_rec, data8));
	assert_int_equal(told.service.lease, rec.lease);
	sim_query(&rig, IB_SA_METHOD_DELETE, &rec, identity, &told);
	assert_int_equal(told.status, 0);
	sim_query(&rig, IB_MGMT_METHOD_GET, &rec, IB_SA_SERVICE_REC_SERVICE_ID,
		  &told);
	assert_int_equal(told.status, -EINVAL);
	rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exchanges_are_the_captured_ones),
		cmocka_unit_test(other_methods_are_refused),
		cmocka_unit_test(undefined_mask_bits_are_refused),
		cmocka_unit_test(name_is_sent_with_all_its_bytes),
		cmocka_unit_test(missing_port_comes_before_the_method),
		cmocka_unit_test(method_comes_before_the_state_of_the_port),
		cmocka_unit_test(table_is_the_captured_one),
		cmocka_unit_test(empty_table_is_enodata),
		cmocka_unit_test(records_stand_where_the_stride_says),
		cmocka_unit_test(refused_table_has_no_records),
		cmocka_unit_test(service_is_kept_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
