/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of subscriptions and Reports. */
#include "notice_rig.h"
#include "wire/mad.h"

#define MS UINT64_C(1000000)

/* LIDs: a 1, the switches 4 and 5, b 2, c 3. */
const char rig_fabric[] = "Switch 4 \"s\"\n"
			  "[1] \"a\"[1]\n"
			  "[2] \"b\"[1]\n"
			  "[3] \"t\"[1]\n"
			  "Switch 4 \"t\"\n"
			  "[2] \"c\"[1]\n"
			  "Ca 2 \"a\"\n"
			  "Ca 1 \"b\"\n"
			  "Ca 1 \"c\"\n";

int rig_inform(struct bench *bench, const struct ibsa_inform_info *info)
{
	return bench_query(bench, IBSA_METHOD_SET, &ibsa_inform_info_record,
			   info, 0);
}

int rig_listen(struct ibsa_transport *transport, bool on)
{
	return transport->ops->listen(transport, on);
}

int rig_start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, rig_fabric, "b", NULL);
	assert_int_equal(rig_listen(bench.transport, true), 0);
	assert_int_equal(rig_inform(&bench, &everything), 0);
	*state = &bench;
	return 0;
}

struct bench rig_beside(const struct bench *bench, const char *node)
{
	struct bench other = { .fabric = bench->fabric, .next_tid = 1000 };

	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 0,
					    &other.transport),
			 0);
	return other;
}

void rig_close(struct bench *bench)
{
	bench->transport->ops->close(bench->transport);
}

void rig_advance(struct bench *bench, uint64_t ms)
{
	assert_int_equal(ibsa_fabric_advance(bench->fabric, ms * MS), 0);
}

struct ibsa_gid rig_gid_at(struct bench *bench, uint16_t lid)
{
	const struct ibsa_node want = { .lid = lid };
	struct ibsa_gid gid = { { 0xfe, 0x80 } };

	assert_int_equal(bench_query(bench, IBSA_METHOD_GET, &ibsa_node_record,
				     &want, IBSA_NODE_CM(lid)),
			 0);
	ibsa_put_be64(gid.raw + 8,
		      IBSA_GET(node, port_guid, bench_record(bench, 0)));
	return gid;
}

bool rig_take(struct bench *bench, struct report *out)
{
	if (!bench_receive(bench))
		return false;
	assert_int_equal(bench->answer.len, IBSA_MAD_BYTES);
	assert_int_equal(bench->answer.err, 0);
	assert_int_equal(ibsa_record_decode(&ibsa_sa_header_record,
					    bench->answer.mad, 256,
					    &out->header, sizeof(out->header)),
			 0);
	assert_int_equal(
		ibsa_record_decode(&ibsa_notice_record,
				   bench->answer.mad + IBSA_SA_HEADER_BYTES,
				   200, &out->notice, sizeof(out->notice)),
		0);
	assert_int_equal(out->header.method, IBSA_METHOD_REPORT);
	return true;
}

void rig_respond(struct bench *bench)
{
	memcpy(bench->request, bench->answer.mad, IBSA_MAD_BYTES);
	bench->request[MAD_METHOD] = IBSA_METHOD_REPORT_RESP;
	bench_send(bench);
}

unsigned int rig_next_trap(struct bench *bench)
{
	struct report report;

	if (!rig_take(bench, &report))
		return 0;
	rig_respond(bench);
	return report.notice.trap_number;
}

void rig_expect_gid(struct bench *bench, unsigned int trap,
		    const struct ibsa_gid *gid)
{
	struct report report;

	assert_true(rig_take(bench, &report));
	rig_respond(bench);
	assert_int_equal(report.notice.trap_number, trap);
	assert_memory_equal(report.notice.data_details + 6, gid->raw, 16);
}

void rig_set_capabilities(struct bench *bench, uint32_t mask)
{
	bench_set_port(bench, "c", 1,
		       (struct ibsa_fabric_port_change){
			       .mask = IBSA_CHANGE_CAPABILITIES,
			       .capability_mask = mask,
		       });
}

const uint64_t rig_membership = IBSA_MCMEMBER_CM(mgid) |
				IBSA_MCMEMBER_CM(port_gid) |
				IBSA_MCMEMBER_CM(join_state);

const struct ibsa_gid rig_group = { { 0xff, 0x15, 1, 2, 3 } };

void rig_change_member(struct bench *bench, uint8_t method,
		       const struct ibsa_gid *mgid, uint16_t pkey,
		       uint8_t join_state)
{
	struct ibsa_port_state port;
	struct ibsa_mcmember member = {
		.mgid = *mgid,
		.pkey = pkey,
		.qkey = 1,
		.join_state = join_state,
	};
	uint64_t mask = rig_membership;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port,
						     sizeof(port)),
			 0);
	member.port_gid = port.gid;
	if (method == IBSA_METHOD_SET)
		mask |= IBSA_MCMEMBER_CM(qkey) | IBSA_MCMEMBER_CM(tclass) |
			IBSA_MCMEMBER_CM(pkey) | IBSA_MCMEMBER_CM(flow_label) |
			IBSA_MCMEMBER_CM(sl);
	bench_query(bench, method, &ibsa_mcmember_record, &member, mask);
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad), 0);
}
