/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client on a puppet transport, and an SA that sends Reports. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/event/rig.h"
#include "wire/mad.h"
#include "wire/request.h"

enum {
	SUBSCRIPTION_STRIDE = 64,
	INFO_AT = 24, /* offset in InformInfoRecord */
	QPN_AT = INFO_AT + 28,
	INFO_BYTES = 36,
	INFORM_INFO = 0x0003,
	SUBSCRIPTION = 0x00f3,
	NODE = 0x0011,
	NODE_STRIDE = 112,
};

struct puppet puppet;
struct ibsa_client *client;
struct rig_sa sa;

/* The last InformInfo of each producer type. */
static uint8_t infos[8][INFO_BYTES];

static unsigned int producer_bit(const struct puppet_mad *mad)
{
	return 1u << IBSA_GET(inform_info, producer_type,
			      mad->mad + IBSA_SA_HEADER_BYTES);
}

static void take_set(const struct puppet_mad *mad, struct puppet_mad *reply)
{
	const unsigned int bit = producer_bit(mad);
	const bool subscribe = IBSA_GET(inform_info, subscribe,
					mad->mad + IBSA_SA_HEADER_BYTES);

	if (subscribe)
		sa.sets++;
	else
		sa.unsets++;
	if (sa.set_status && sa.set_of & bit) {
		ibsa_put_be16(reply->mad + MAD_STATUS, sa.set_status);
		return;
	}
	if (!subscribe && sa.loses_unset && !(sa.has & bit))
		ibsa_put_be16(reply->mad + MAD_STATUS, IBSA_STATUS_REQ_INVALID);
	if (subscribe)
		sa.has |= bit;
	else
		sa.has &= ~bit;
	for (unsigned int i = 0; i < 8; i++) {
		if (bit == 1u << i)
			memcpy(infos[i], mad->mad + IBSA_SA_HEADER_BYTES,
			       INFO_BYTES);
	}
}

static void subscriptions_answer(const struct puppet_mad *mad,
				 struct puppet_mad *reply)
{
	sa.gets++;
	reply->len = IBSA_SA_HEADER_BYTES;
	ibsa_put_be16(reply->mad + MAD_ATTRIBUTE_OFFSET,
		      SUBSCRIPTION_STRIDE / 8);
	if (sa.get_status) {
		ibsa_put_be16(reply->mad + MAD_STATUS, sa.get_status);
		reply->len = IBSA_MAD_BYTES;
		return;
	}
	for (unsigned int i = 0; i < 8 && !sa.hides; i++) {
		uint8_t *at = reply->mad + reply->len;

		if (!(sa.has & 1u << i))
			continue;
		memset(at, 0, SUBSCRIPTION_STRIDE);
		memcpy(at, mad->mad + IBSA_SA_HEADER_BYTES,
		       sizeof(struct ibsa_gid));
		memcpy(at + INFO_AT, infos[i], INFO_BYTES);
		at[QPN_AT + 2] = (uint8_t)sa.qpn;
		reply->len += SUBSCRIPTION_STRIDE;
	}
	if (reply->len == IBSA_SA_HEADER_BYTES)
		ibsa_put_be16(reply->mad + MAD_STATUS, IBSA_STATUS_NO_RECORDS);
}

void set_nodes(const char *tails)
{
	sa.node_count = (unsigned int)strlen(tails);
	assert_in_range(sa.node_count, 0, sizeof(sa.nodes));
	memcpy(sa.nodes, tails, sa.node_count);
}

void serve_table(void)
{
	struct puppet_mad reply = puppet_answer(&sa.table);
	uint64_t over = 0;

	ibsa_put_be16(reply.mad + MAD_ATTRIBUTE_OFFSET, NODE_STRIDE / 8);
	ibsa_put_be16(reply.mad + MAD_STATUS, sa.node_status);
	reply.len = IBSA_MAD_BYTES;
	if (!sa.node_status)
		reply.len = IBSA_SA_HEADER_BYTES + sa.node_count * NODE_STRIDE;
	for (unsigned int i = 0; i < sa.node_count && !sa.node_status; i++) {
		const bool has_lid = i >= sa.hollow &&
				     sa.nodes[i] != sa.without_lid;
		const struct ibsa_node node = {
			.port_guid = sa.hollow && i == sa.hollow ? 0
								 : sa.nodes[i],
			.lid = has_lid ? sa.nodes[i] : 0,
		};

		ibsa_node_record.encode(&node,
					reply.mad + IBSA_SA_HEADER_BYTES +
						i * NODE_STRIDE,
					&over);
	}
	puppet_deliver(&puppet, &reply);
}

static void take_table(const struct puppet_mad *mad)
{
	sa.tables++;
	sa.table = *mad;
	if (!sa.holds_table && !sa.is_silent)
		serve_table();
}

static void request_handle(const struct puppet_mad *mad)
{
	struct puppet_mad reply = puppet_answer(mad);
	const unsigned int had = sa.has;

	if (mad->mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP) {
		sa.answers++;
		sa.last_answer = *mad;
		return;
	}
	if (ibsa_be16(mad->mad + MAD_ATTRIBUTE) == NODE) {
		take_table(mad);
		return;
	}
	sa.last = *mad;
	if (ibsa_be16(mad->mad + MAD_ATTRIBUTE) == INFORM_INFO)
		take_set(mad, &reply);
	else
		subscriptions_answer(mad, &reply);
	if (!sa.is_silent && !(sa.loses_unset && had & ~sa.has))
		puppet_deliver(&puppet, &reply);
}

void sa_serve(void)
{
	while (sa.processed < puppet.sent_count)
		request_handle(puppet_sent(&puppet, sa.processed++));
}

static int rig_fd(struct ibsa_transport *transport)
{
	(void)transport;
	return -1;
}

static int rig_wait(struct ibsa_transport *transport, int timeout_ms)
{
	(void)transport;
	sa_serve();
	if (puppet.inbox_head == puppet.inbox_count && timeout_ms > 0)
		puppet.now_ns += (uint64_t)timeout_ms * MS;
	return 0;
}

static void rig_close(struct ibsa_transport *transport)
{
	(void)transport;
}

/* Complete the puppet's operations for a client. */
static void puppet_ops_complete(struct ibsa_transport_ops *ops)
{
	*ops = *puppet.transport.ops;
	ops->fd = rig_fd;
	ops->wait = rig_wait;
	ops->close = rig_close;
	puppet.transport.ops = ops;
}

int rig_set_up(void **state)
{
	static struct ibsa_transport_ops ops;
	struct ibsa_options options = {
		.transport = &puppet.transport,
		.seed = 1,
		.first_interval_ms = 100,
		.deadline_ms = 1000,
	};

	(void)state;
	puppet_init(&puppet);
	puppet_ops_complete(&ops);
	puppet.now_ns = UINT64_C(1000000) * MS;
	puppet.port.port_num = 2;
	puppet.port.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 1 } };
	sa = (struct rig_sa){ .next_id = 0xabcd000002dab001 };
	return ibsa_open(&options, NULL, &client);
}

int rig_tear_down(void **state)
{
	(void)state;
	return ibsa_close(client);
}

void note(const struct ibsa_event *event, void *arg)
{
	struct diary *diary = arg;
	int n = diary->count;

	assert_in_range(n, 0, SEEN - 1);
	assert_ptr_equal(event->watch, diary->watch);
	sa_serve();
	diary->answered[n] = sa.answers;
	if (event->notice)
		diary->notices[n] = *event->notice;
	diary->events[n] = *event;
	diary->count++;
	diary->close_err = ibsa_close(client);
	ibsa_event_watch_stop(diary->victim);
	diary->victim = NULL;
	if (diary->starts)
		watch_begin(NULL, diary->starts);
	diary->starts = NULL;
}

void watch_begin(const struct ibsa_event_options *options, struct diary *diary)
{
	*diary = (struct diary){ 0 };
	assert_int_equal(ibsa_event_watch_start(client, options, note, diary,
						NULL, &diary->watch),
			 0);
	assert_int_equal(diary->count, 0);
}

void watch_subscribed(unsigned int kinds, struct diary *diary)
{
	watch_begin(&(struct ibsa_event_options){ .kinds = kinds }, diary);
	time_pass(10);
	EXPECT(diary, 0, IBSA_EVENT_SUBSCRIBED);
}

void time_pass(unsigned int ms)
{
	while (ms--) {
		puppet.now_ns += MS;
		assert_int_equal(ibsa_dispatch(client), puppet.recv_err);
		sa_serve();
	}
}

unsigned int time_pass_until(const unsigned int *counter)
{
	unsigned int before = *counter, ms = 0;

	for (; *counter == before; ms++) {
		assert_in_range(ms, 0, 1000 * 1000);
		time_pass(1);
	}
	return ms;
}

static struct puppet_mad report_new(uint16_t trap)
{
	const struct ibsa_notice notice = {
		.is_generic = 1,
		.type = 3,
		.producer_type = 4,
		.trap_number = trap,
		.issuer_lid = PUPPET_SM_LID,
	};
	const struct ibsa__request request = {
		.record = &ibsa_notice_record,
		.match = &notice,
		.transaction_id = sa.next_id++,
		.method = IBSA_METHOD_REPORT,
	};
	struct puppet_mad mad = {
		.len = IBSA_MAD_BYTES,
		.address = { .lid = PUPPET_SM_LID, .qpn = 1, .sl = 2 },
	};

	assert_int_equal(ibsa__request_encode(&request, mad.mad), 0);
	return mad;
}

struct puppet_mad report_of(uint16_t trap, uint8_t tail)
{
	struct puppet_mad mad = report_new(trap);
	uint8_t *gid = mad.mad + NOTICE_AT + 16;

	gid[0] = 0xfe;
	gid[1] = 0x80;
	gid[15] = tail;
	return mad;
}

struct puppet_mad report_of_lid(uint16_t trap, uint16_t lid)
{
	struct puppet_mad mad = report_new(trap);

	ibsa_put_be16(mad.mad + NOTICE_AT + (trap == 128 ? 10 : 12), lid);
	return mad;
}

void send_report(const struct puppet_mad *report)
{
	puppet_deliver(&puppet, report);
	assert_int_equal(ibsa_dispatch(client), 0);
	sa_serve();
}

const struct ibsa_event *expect_event(const struct diary *diary, int n,
				      enum ibsa_event_kind kind)
{
	assert_in_range(n, 0, diary->count - 1);
	assert_string_equal(ibsa_event_name(diary->events[n].kind),
			    ibsa_event_name(kind));
	return &diary->events[n];
}

void expect_all(const struct diary *diary, int n, const int *kinds)
{
	for (; *kinds; kinds++, n++)
		expect_event(diary, n, *kinds);
	assert_int_equal(diary->count, n);
}
