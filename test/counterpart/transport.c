/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries a running OpenSM over the kernel transport, and checks the answers
 * against the topology, test/data/fabrics/b.net. Run by transport.sh on
 * "host-r3 mlx5_0"; the argument says how ibsim carries MADs: "cut", at 256
 * bytes, or "whole", with umtap in front.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibsa/records.h>
#include <ibsa/types.h>
#include <ibsa/transport.h>

#include "test/support/device_now.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"

#define CHECK(condition) \
	((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

enum {
	TID = 0x1b5a0000,
	WAIT_MS = 30000,
	NODES = 6,
	ANSWER_BYTES = 1 << 20,
	TIMEOUT_MS = 200, /* of a request without an answer */
	SECOND_MS = 2000, /* until a second request has been sent */
	LATE_MS = 300,
};

/* The fabric has 2 switches of 24 ports and 4 adapters. */
static const uint64_t host_r3_guid = UINT64_C(0x8f10403980030);
static const uint8_t host_r1_gid[16] = { 0xfe, 0xc0, 0, 0,   0,	   0,
					 0x12, 0x34, 0, 8,   0xf1, 4,
					 3,    0x98, 0, 0x11 };

/* An answer of the SA: its decoded header, and the data after it. */
struct answer {
	struct ibsa_sa_header header;
	struct ibsa_address from;
	const uint8_t *records;
	size_t len;
	int err;
};

static _Noreturn void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	exit(1);
}

static struct ibsa_transport *transport_open(size_t reply_bytes)
{
	struct ibsa_transport *transport;
	struct ibsa_error error;

	if (now_umad_open(NULL, 0, reply_bytes, &error, &transport)) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	return transport;
}

static void send_request(struct ibsa_transport *transport, uint32_t tid,
			 uint8_t method, const struct ibsa_record *record,
			 const void *match, uint64_t mask,
			 unsigned int timeout_ms)
{
	const struct ibsa_sa_header header = {
		.base_version = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.class_version = IBSA_CLASS_VERSION,
		.method = method,
		.transaction_id = tid,
		.attribute_id = record->attribute,
		.component_mask = mask,
	};
	uint8_t mad[IBSA_MAD_BYTES] = { 0 };
	struct ibsa_port_state port;

	CHECK(!transport->ops->port(transport, &port, sizeof(port)));
	CHECK(!ibsa_record_encode(&ibsa_sa_header_record, &header,
				  sizeof(header), mad, sizeof(mad)));
	CHECK(!ibsa_record_encode(record, match, record->host_size,
				  mad + IBSA_SA_HEADER_BYTES,
				  IBSA_SA_DATA_BYTES));
	CHECK(!transport->ops->send(transport,
				    &(struct ibsa_address){
					    .lid = port.sm_lid,
					    .sl = port.sm_sl,
					    .qpn = IBSA_QPN_GSI,
					    .pkey_index = port.pkey_index,
				    },
				    mad, sizeof(mad), timeout_ms));
}

static void receive(struct ibsa_transport *transport, struct answer *out)
{
	const uint64_t end = transport->ops->now_ns(transport) +
			     UINT64_C(1000000) * WAIT_MS;
	struct ibsa_message message;
	int got;

	while (!(got = transport->ops->recv(transport, &message))) {
		CHECK(transport->ops->now_ns(transport) < end);
		CHECK(!transport->ops->wait(transport, WAIT_MS));
	}
	CHECK(got == 1);
	*out = (struct answer){
		.from = message.from,
		.records = message.mad + IBSA_SA_HEADER_BYTES,
		.len = message.len,
		.err = message.err,
	};
	if (message.len < IBSA_SA_HEADER_BYTES)
		return;
	CHECK(!ibsa_record_decode(&ibsa_sa_header_record, message.mad,
				  message.len, &out->header,
				  sizeof(out->header)));
	printf("  %zu bytes, method 0x%02x, RMPP version %u type %u flags %u "
	       "segment %u length %u, offset %u\n",
	       out->len, out->header.method, out->header.rmpp_version,
	       out->header.rmpp_type, out->header.rmpp_flags,
	       out->header.rmpp_segment, out->header.rmpp_length,
	       out->header.attribute_offset);
}

static void exchange(struct ibsa_transport *transport, uint8_t method,
		     const struct ibsa_record *record, const void *match,
		     uint64_t mask, struct answer *out)
{
	printf("%s\n", record->name);
	send_request(transport, TID, method, record, match, mask, WAIT_MS);
	receive(transport, out);
	CHECK(!out->err);
	CHECK((uint32_t)out->header.transaction_id == TID);
	CHECK(out->header.attribute_id == record->attribute);
	CHECK(out->header.method == (method | 0x80));
	CHECK(out->header.status == IBSA_STATUS_OK);
	CHECK(out->from.lid == 1);
	CHECK(out->from.qpn == IBSA_QPN_GSI);
}

/*
 * Whether an answer is truncated at the end of a MAD, as ibsim without umtap
 * delivers it.
 */
static bool is_cut(const struct answer *answer)
{
	return (answer->header.rmpp_flags & IBSA_RMPP_ACTIVE) &&
	       answer->header.rmpp_type != IBSA_RMPP_TYPE_DATA &&
	       answer->len == IBSA_MAD_BYTES;
}

static void class_port_info_is_answered(struct ibsa_transport *transport)
{
	struct ibsa_class_port_info info = { 0 };
	struct answer answer;

	exchange(transport, IBSA_METHOD_GET, &ibsa_class_port_info_record,
		 &info, 0, &answer);
	CHECK(answer.len == IBSA_MAD_BYTES);
	CHECK(!is_cut(&answer));
	CHECK(!ibsa_record_decode(&ibsa_class_port_info_record, answer.records,
				  IBSA_SA_DATA_BYTES, &info, sizeof(info)));
	CHECK(info.base_version == 1);
	CHECK(info.class_version == IBSA_CLASS_VERSION);
}

static void own_node_is_found(struct ibsa_transport *transport)
{
	struct ibsa_port_state port;
	struct ibsa_node node = { 0 };
	struct answer answer;

	CHECK(!transport->ops->port(transport, &port, sizeof(port)));
	node.lid = (uint16_t)port.lid;
	exchange(transport, IBSA_METHOD_GET_TABLE, &ibsa_node_record, &node,
		 IBSA_NODE_CM(lid), &answer);
	CHECK(answer.header.attribute_offset == 14);
	CHECK(!is_cut(&answer));
	CHECK(answer.len == IBSA_SA_HEADER_BYTES + 14 * 8);
	CHECK(!ibsa_record_decode(&ibsa_node_record, answer.records,
				  answer.len - IBSA_SA_HEADER_BYTES, &node,
				  sizeof(node)));
	CHECK(node.lid == port.lid);
	CHECK(node.node_guid == host_r3_guid);
	CHECK(node.port_guid == host_r3_guid + 1);
	CHECK(node.device_id == 0x1015);
	CHECK(!strcmp((const char *)node.node_description, "host-r3 mlx5_0"));
}

static void all_nodes_are_found(struct ibsa_transport *transport, bool whole)
{
	const struct ibsa_node any = { 0 };
	struct answer answer;

	exchange(transport, IBSA_METHOD_GET_TABLE, &ibsa_node_record, &any, 0,
		 &answer);
	CHECK(answer.header.attribute_offset == 14);
	CHECK(is_cut(&answer) == !whole);
	if (!whole)
		return;
	CHECK(answer.len == IBSA_SA_HEADER_BYTES + NODES * 14 * 8);
	for (size_t i = 0; i < NODES; i++) {
		struct ibsa_node node;

		CHECK(!ibsa_record_decode(&ibsa_node_record,
					  answer.records + i * 14 * 8, 14 * 8,
					  &node, sizeof(node)));
		CHECK(node.lid >= 1 && node.lid <= NODES);
		CHECK(node.base_version == 1);
	}
}

static void path_to_the_sm_is_found(struct ibsa_transport *transport)
{
	struct ibsa_port_state port;
	struct ibsa_path path = { .numb_path = 1 };
	struct answer answer;

	CHECK(!transport->ops->port(transport, &port, sizeof(port)));
	path.sgid = port.gid;
	memcpy(path.dgid.raw, host_r1_gid, sizeof(host_r1_gid));
	exchange(transport, IBSA_METHOD_GET, &ibsa_path_record, &path,
		 IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			 IBSA_PATH_CM(numb_path),
		 &answer);
	CHECK(!is_cut(&answer));
	CHECK(!ibsa_record_decode(&ibsa_path_record, answer.records,
				  IBSA_SA_DATA_BYTES, &path, sizeof(path)));
	CHECK(path.slid == port.lid);
	CHECK(path.dlid == port.sm_lid);
	CHECK(!memcmp(path.dgid.raw, host_r1_gid, sizeof(host_r1_gid)));
	CHECK(path.mtu == 4);
	CHECK(path.reversible == 1);
}

/*
 * The kernel reports the timeout of a request; ibsim without umtap never does.
 */
static void silence_is_reported(struct ibsa_transport *transport)
{
	const struct ibsa_node none = { 0 };
	struct answer answer;

	printf("silence\n");
	send_request(transport, TID, IBSA_METHOD_SET, &ibsa_node_record, &none,
		     0, TIMEOUT_MS);
	receive(transport, &answer);
	CHECK(answer.err == -ETIMEDOUT);
	CHECK(answer.len == 24);
}

/*
 * A reply longer than the transport's limit is reported once, with -EMSGSIZE,
 * and does not block the next reply.
 */
static void too_large_reply_is_got_rid_of(void)
{
	struct ibsa_transport *transport = transport_open(IBSA_MAD_BYTES);
	const struct ibsa_port_info any = { 0 };
	struct answer answer;

	printf("a reply above the limit\n");
	send_request(transport, TID + 1, IBSA_METHOD_GET_TABLE,
		     &ibsa_port_info_record, &any, 0, WAIT_MS);
	receive(transport, &answer);
	CHECK(answer.err == -EMSGSIZE);
	CHECK(answer.len == IBSA_MAD_BYTES);
	CHECK((uint32_t)answer.header.transaction_id == TID + 1);
	class_port_info_is_answered(transport);
	transport->ops->close(transport);
}

static void
second_send_is_refused_while_the_first_waits(struct ibsa_transport *transport)
{
	const struct ibsa_node none = { 0 };
	const struct ibsa_address to = { .lid = 1, .qpn = IBSA_QPN_GSI };
	uint8_t mad[IBSA_MAD_BYTES] = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
					IBSA_METHOD_SET };
	struct answer answer;

	printf("a second send\n");
	ibsa_put_be32(mad + MAD_TID_LOW, TID + 2);
	send_request(transport, TID + 2, IBSA_METHOD_SET, &ibsa_node_record,
		     &none, 0, SECOND_MS);
	CHECK(transport->ops->send(transport, &to, mad, sizeof(mad), 100) ==
	      -EALREADY);
	receive(transport, &answer);
	CHECK(answer.err == -ETIMEDOUT);
}

/*
 * The answer arrives when the port is closed. ibsim's library would crash
 * without umtap.
 */
static void late_answer_is_dropped(void)
{
	static const struct timespec late = { .tv_nsec = LATE_MS * 1000000 };
	struct ibsa_transport *transport = transport_open(ANSWER_BYTES);

	printf("answer after close\n");
	send_request(transport, TID + 8, IBSA_METHOD_GET,
		     &ibsa_class_port_info_record,
		     &(struct ibsa_class_port_info){ 0 }, 0, WAIT_MS);
	transport->ops->close(transport);
	CHECK(!nanosleep(&late, NULL));
}

static void wake_ends_the_next_wait(struct ibsa_transport *transport)
{
	const uint64_t start = transport->ops->now_ns(transport);

	transport->ops->wake(transport);
	CHECK(!transport->ops->wait(transport, 10 * WAIT_MS));
	CHECK(transport->ops->now_ns(transport) - start <
	      UINT64_C(1000000) * WAIT_MS);
}

int main(int argc, char **argv)
{
	const bool whole = argc == 2 && !strcmp(argv[1], "whole");
	struct ibsa_transport *transport;

	CHECK(argc == 2 && (whole || !strcmp(argv[1], "cut")));
	if (whole)
		late_answer_is_dropped();
	transport = transport_open(ANSWER_BYTES);
	CHECK(transport->ops->fd(transport) >= 0);
	class_port_info_is_answered(transport);
	own_node_is_found(transport);
	all_nodes_are_found(transport, whole);
	path_to_the_sm_is_found(transport);
	wake_ends_the_next_wait(transport);
	if (whole) {
		silence_is_reported(transport);
		second_send_is_refused_while_the_first_waits(transport);
		too_large_reply_is_got_rid_of();
	}
	transport->ops->close(transport);
	return 0;
}
