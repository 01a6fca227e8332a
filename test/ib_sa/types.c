/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's types compared with OpenSM's on the wire: every field of every
 * record is at its place. headers_ib_sa.c tests the offsets of members and the
 * mask bits.
 */
#include <iba/ib_types.h>

#include "test/ib_sa/plug.h"

/* The bits of each field differ from those of the field before it. */
static const struct sa_path_rec path = {
	.dgid.raw = { 0xfe, 0x80, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
		      15 },
	.sgid.raw = { 0xfe, 0xc0, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
		      29, 30, 31 },
	.hop_limit = 0x5a,
	.traffic_class = 0xa5,
	.reversible = 1,
	.numb_path = 0x55,
	.sl = 0x9,
	.mtu_selector = 2,
	.mtu = 0x15,
	.rate_selector = 1,
	.rate = 0x2a,
	.packet_life_time_selector = 3,
	.packet_life_time = 0x12,
	.preference = 0xc3,
};

static struct sa_path_rec full_path(void)
{
	struct sa_path_rec rec = path;

	rec.service_id = htobe64(UINT64_C(0x8899aabbccddeeff));
	rec.flow_label = htobe32(0x7edcb);
	rec.pkey = htobe16(0x8123);
	rec.qos_class = htobe16(0xabc);
	rec.ib.dlid = htobe16(0x1122);
	rec.ib.slid = htobe16(0x3344);
	rec.ib.raw_traffic = 1;
	return rec;
}

/*
 * Write the same record with OpenSM's struct, which has the layout on the wire.
 */
static void opensm_path(ib_path_rec_t *out)
{
	memset(out, 0, sizeof(*out));
	out->service_id = htobe64(UINT64_C(0x8899aabbccddeeff));
	memcpy(&out->dgid, path.dgid.raw, 16);
	memcpy(&out->sgid, path.sgid.raw, 16);
	out->dlid = htobe16(0x1122);
	out->slid = htobe16(0x3344);
	out->hop_flow_raw = htobe32(1u << 31 | 0x7edcbu << 8 | 0x5a);
	out->tclass = 0xa5;
	out->num_path = 0x80 | 0x55;
	out->pkey = htobe16(0x8123);
	ib_path_rec_set_qos_class(out, 0xabc);
	ib_path_rec_set_sl(out, 0x9);
	out->mtu = 2 << 6 | 0x15;
	out->rate = 1 << 6 | 0x2a;
	out->pkt_life = 3 << 6 | 0x12;
	out->preference = 0xc3;
}

static void path_is_packed_as_opensm_reads_it(void **state)
{
	struct sa_path_rec rec = full_path(), back;
	uint8_t wire[64];
	ib_path_rec_t opensm;

	(void)state;
	opensm_path(&opensm);
	ib_sa_pack_path(&rec, wire);
	assert_memory_equal(wire, &opensm, sizeof(wire));
	ib_sa_unpack_path(wire, &back);
	assert_memory_equal(&back.dgid, &rec.dgid,
			    offsetof(struct sa_path_rec, ib));
	assert_int_equal(back.ib.dlid, rec.ib.dlid);
	assert_int_equal(back.ib.slid, rec.ib.slid);
	assert_int_equal(back.ib.raw_traffic, 1);
	assert_int_equal(back.rec_type, SA_PATH_REC_TYPE_IB);
}

/*
 * A struct with all bits set has all bits of each field set on the wire, but
 * none of the reserved bits.
 */
static void values_too_wide_are_cut(void **state)
{
	struct sa_path_rec rec;
	uint8_t wire[64], ones[64];

	(void)state;
	memset(&rec, 0xff, sizeof(rec));
	memset(ones, 0xff, sizeof(ones));
	ones[44] = 0x8f; /* 3 reserved bits in the byte of the raw traffic
			  * bit */
	memset(ones + 58, 0, 6);
	ib_sa_pack_path(&rec, wire);
	assert_memory_equal(wire, ones, sizeof(ones));
}

/* Fields that are not in the mask are sent, too, as by the kernel. */
static void path_is_sent_whole(void **state)
{
	struct sa_path_rec rec = full_path();
	struct ib_sa_query *query;
	ib_path_rec_t opensm;
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	assert_int_equal(ib_sa_path_rec_get(&plug.rig.client, plug.rig.device,
					    1, &rec, 0, 1000, 0, NULL, NULL,
					    &query),
			 0);
	plug_run(&plug, 0);
	opensm_path(&opensm);
	assert_memory_equal(plug.puppet.sent[0].mad + IBSA_SA_HEADER_BYTES,
			    &opensm, sizeof(opensm));
	plug_stop(&plug);
}

static struct ib_sa_mcmember_rec full_member(void)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid = path.dgid,
		.port_gid = path.sgid,
		.mtu_selector = 2,
		.mtu = 0x15,
		.traffic_class = 0xa5,
		.rate_selector = 1,
		.rate = 0x2a,
		.packet_life_time_selector = 3,
		.packet_life_time = 0x12,
		.sl = 0x6,
		.hop_limit = 0x5a,
		.scope = 0xe,
		.join_state = 0x5,
		.proxy_join = 1,
	};

	rec.qkey = htobe32(0x80010203);
	rec.mlid = htobe16(0xc123);
	rec.pkey = htobe16(0x8123);
	rec.flow_label = htobe32(0x7edcb);
	return rec;
}

static void opensm_member(ib_member_rec_t *out)
{
	memset(out, 0, sizeof(*out));
	memcpy(&out->mgid, path.dgid.raw, 16);
	memcpy(&out->port_gid, path.sgid.raw, 16);
	out->qkey = htobe32(0x80010203);
	out->mlid = htobe16(0xc123);
	out->mtu = 2 << 6 | 0x15;
	out->tclass = 0xa5;
	out->pkey = htobe16(0x8123);
	out->rate = 1 << 6 | 0x2a;
	out->pkt_life = 3 << 6 | 0x12;
	out->sl_flow_hop = ib_member_set_sl_flow_hop(0x6, 0x7edcb, 0x5a);
	out->scope_state = ib_member_set_scope_state(0xe, 0x5);
	/*
	 * The bit-field is for a little-endian machine; on the wire, it is bit
	 * 7.
	 */
	((uint8_t *)out)[49] = 0x80;
}

/* Compare member by member: padding bytes are not set. */
static void assert_same_member(const struct ib_sa_mcmember_rec *a,
			       const struct ib_sa_mcmember_rec *b)
{
	assert_memory_equal(&a->mgid, &b->mgid, sizeof(a->mgid));
	assert_memory_equal(&a->port_gid, &b->port_gid, sizeof(a->port_gid));
	assert_int_equal(a->qkey, b->qkey);
	assert_int_equal(a->mlid, b->mlid);
	assert_int_equal(a->mtu_selector, b->mtu_selector);
	assert_int_equal(a->mtu, b->mtu);
	assert_int_equal(a->traffic_class, b->traffic_class);
	assert_int_equal(a->pkey, b->pkey);
	assert_int_equal(a->rate_selector, b->rate_selector);
	assert_int_equal(a->rate, b->rate);
	assert_int_equal(a->packet_life_time_selector,
			 b->packet_life_time_selector);
	assert_int_equal(a->packet_life_time, b->packet_life_time);
	assert_int_equal(a->sl, b->sl);
	assert_int_equal(a->flow_label, b->flow_label);
	assert_int_equal(a->hop_limit, b->hop_limit);
	assert_int_equal(a->scope, b->scope);
	assert_int_equal(a->join_state, b->join_state);
	assert_int_equal(a->proxy_join, b->proxy_join);
}

/*
 * The record has 52 bytes with its two reserved bytes; OpenSM's struct has
 * padding after them.
 */
static void member_is_sent_and_told_as_opensm_has_it(void **state)
{
	struct ib_sa_mcmember_rec rec = full_member();
	struct told told = { 0 };
	struct ib_sa_query *query;
	struct puppet_mad answer;
	ib_member_rec_t opensm;
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	assert_int_equal(
		ib_sa_mcmember_rec_query(&plug.rig.client, plug.rig.device, 1,
					 IB_MGMT_METHOD_SET, &rec,
					 IB_SA_MCMEMBER_REC_MGID, 1000, 0,
					 told_mcmember, &told, &query),
		0);
	plug_run(&plug, 0);
	opensm_member(&opensm);
	assert_memory_equal(plug.puppet.sent[0].mad + IBSA_SA_HEADER_BYTES,
			    &opensm, 52);
	answer = puppet_answer(&plug.puppet.sent[0]);
	plug_answer(&plug, 0, answer.mad, answer.len);
	assert_int_equal(told.status, 0);
	assert_same_member(&told.mcmember, &rec);
	plug_stop(&plug);
}

/* The captured join, from the kernel's struct. */
static void join_is_the_captured_one(void **state)
{
	struct ib_sa_mcmember_rec rec = { .join_state = 1 };
	struct told told = { 0 };
	struct ib_sa_query *query;
	uint8_t mad[PUPPET_BYTES];
	const ib_member_rec_t *member = (void *)(mad + IBSA_SA_HEADER_BYTES);
	struct plug plug;

	(void)state;
	plug_start(&plug, NULL);
	plug_vector("31_mcm_create.req.hex", mad);
	memcpy(&rec.mgid, &member->mgid, 16);
	memcpy(&rec.port_gid, &member->port_gid, 16);
	rec.qkey = member->qkey;
	rec.pkey = member->pkey;
	assert_int_equal(ib_sa_mcmember_rec_query(
				 &plug.rig.client, plug.rig.device, 1,
				 IB_MGMT_METHOD_SET, &rec,
				 IB_SA_MCMEMBER_REC_MGID |
					 IB_SA_MCMEMBER_REC_PORT_GID |
					 IB_SA_MCMEMBER_REC_QKEY |
					 IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
					 IB_SA_MCMEMBER_REC_PKEY |
					 IB_SA_MCMEMBER_REC_SL |
					 IB_SA_MCMEMBER_REC_FLOW_LABEL |
					 IB_SA_MCMEMBER_REC_JOIN_STATE,
				 1000, 0, told_mcmember, &told, &query),
			 0);
	plug_run(&plug, 0);
	plug_assert_sent(&plug, 0, "31_mcm_create.req.hex");
	plug_answer(&plug, 0, mad, plug_vector("31_mcm_create.rsp.hex", mad));
	assert_int_equal(told.status, 0);
	assert_int_equal(told.mcmember.mlid, member->mlid);
	assert_int_equal(told.mcmember.qkey, member->qkey);
	assert_int_equal(told.mcmember.mtu, member->mtu & 0x3f);
	assert_int_equal(told.mcmember.rate, member->rate & 0x3f);
	assert_int_equal(told.mcmember.join_state, member->scope_state & 0xf);
	assert_int_equal(told.mcmember.scope, member->scope_state >> 4);
	plug_stop(&plug);
}

/*
 * Each member of OpenSM's struct of a service has the same place and size in
 * both of ibsa's structs.
 */
static void service_members_are_opensms(void **state)
{
	struct sa_service_rec newer;
	struct ib_sa_service_rec rec;
	ib_service_record_t opensm;

	(void)state;
	for (unsigned int i = 0; i < sizeof(opensm); i++)
		((uint8_t *)&opensm)[i] = (uint8_t)(i * 7 + 1);
	memcpy(&rec, &opensm, sizeof(rec));
	memcpy(&newer, &opensm, sizeof(newer));
#define SAME(ours, later, theirs)                                         \
	assert_memory_equal(&rec.ours, &opensm.theirs, sizeof(rec.ours)); \
	assert_memory_equal(&newer.later, &opensm.theirs,                 \
			    sizeof(newer.later));                         \
	assert_int_equal(sizeof(rec.ours), sizeof(opensm.theirs))
	SAME(id, id, service_id);
	SAME(gid, gid, service_gid);
	SAME(pkey, pkey, service_pkey);
	SAME(lease, lease, service_lease);
	SAME(key, key, service_key);
	SAME(name, name, service_name);
	SAME(data8, data_8, service_data8);
	SAME(data16, data_16, service_data16);
	SAME(data32, data_32, service_data32);
	SAME(data64, data_64, service_data64);
#undef SAME
}

/* LIDs by the accessors that work for every record type. */
static void accessors_find_the_members_of_each_type(void **state)
{
	struct sa_path_rec ib = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct sa_path_rec opa = { .rec_type = SA_PATH_REC_TYPE_OPA };

	(void)state;
	sa_path_set_slid(&ib, 0x10203);
	sa_path_set_dlid(&ib, 4);
	sa_path_set_raw_traffic(&ib, 1);
	assert_int_equal(ib.ib.slid, htobe16(0x203));
	assert_int_equal(ib.ib.dlid, htobe16(4));
	assert_int_equal(sa_path_get_slid(&ib), htobe32(0x203));
	assert_int_equal(sa_path_get_dlid(&ib), htobe32(4));
	assert_int_equal(ib.ib.raw_traffic, 1);
	assert_int_equal(sa_path_get_raw_traffic(&ib), 1);
	sa_path_set_slid(&opa, 0x10203);
	sa_path_set_dlid(&opa, 4);
	sa_path_set_raw_traffic(&opa, 1);
	assert_int_equal(opa.opa.slid, htobe32(0x10203));
	assert_int_equal(opa.opa.dlid, htobe32(4));
	assert_int_equal(sa_path_get_slid(&opa), opa.opa.slid);
	assert_int_equal(sa_path_get_dlid(&opa), opa.opa.dlid);
	assert_int_equal(opa.opa.raw_traffic, 1);
	assert_int_equal(sa_path_get_raw_traffic(&opa), 1);
	assert_false(sa_path_is_roce(&ib));
	assert_false(sa_path_is_roce(&opa));
}

static void roce_records_have_no_lids(void **state)
{
	static const enum sa_path_rec_type types[] = {
		SA_PATH_REC_TYPE_ROCE_V1,
		SA_PATH_REC_TYPE_ROCE_V2,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct sa_path_rec rec = { .rec_type = types[i] };

		memset(&rec.opa, 0xff, sizeof(rec.opa));
		sa_path_set_slid(&rec, 1);
		sa_path_set_dlid(&rec, 1);
		sa_path_set_raw_traffic(&rec, 1);
		assert_int_equal(rec.roce.dmac[0], 0xff);
		assert_int_equal(rec.opa.slid, 0xffffffff);
		assert_int_equal(rec.opa.raw_traffic, 0xff);
		assert_int_equal(sa_path_get_slid(&rec), 0);
		assert_int_equal(sa_path_get_dlid(&rec), 0);
		assert_int_equal(sa_path_get_raw_traffic(&rec), 0);
		assert_true(sa_path_is_roce(&rec));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_is_packed_as_opensm_reads_it),
		cmocka_unit_test(values_too_wide_are_cut),
		cmocka_unit_test(path_is_sent_whole),
		cmocka_unit_test(member_is_sent_and_told_as_opensm_has_it),
		cmocka_unit_test(join_is_the_captured_one),
		cmocka_unit_test(service_members_are_opensms),
		cmocka_unit_test(accessors_find_the_members_of_each_type),
		cmocka_unit_test(roce_records_have_no_lids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
