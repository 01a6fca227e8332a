/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Delivery of the SA's Reports to the listener. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/puppet.h"
#include "wire/mad.h"

enum { MS = 1000000, OTHER_LID = 9 };

static struct puppet puppet;

/* A listener and what it received. */
struct receiver {
	struct ibsa__listener listener;
	struct ibsa__engine *engine;
	unsigned int reports, of_sa, missed;
	int free_err;
};

static struct receiver *receiver_of(struct ibsa__listener *listener)
{
	return (struct receiver *)(void *)listener;
}

static void on_report(struct ibsa__listener *listener,
		      const struct ibsa_message *message, bool is_sa)
{
	struct receiver *receiver = receiver_of(listener);

	assert_int_equal(message->mad[MAD_METHOD], IBSA_METHOD_REPORT);
	receiver->reports++;
	receiver->of_sa += is_sa;
	receiver->free_err = ibsa__engine_free(receiver->engine);
}

static void on_missed(struct ibsa__listener *listener)
{
	receiver_of(listener)->missed++;
}

static int set_up(void **state)
{
	static struct receiver receiver;

	puppet_init(&puppet);
	receiver = (struct receiver){
		.listener = { .report = on_report, .missed = on_missed },
		.engine = puppet_engine(&puppet, &puppet_options),
	};
	*state = &receiver;
	return 0;
}

static int tear_down(void **state)
{
	struct receiver *receiver = *state;

	return ibsa__engine_free(receiver->engine);
}

static void listen_to(struct receiver *receiver)
{
	assert_int_equal(
		ibsa__engine_listen(receiver->engine, &receiver->listener), 0);
	assert_true(puppet.listening);
}

static void message_deliver(uint32_t lid, uint8_t method, size_t len, int err)
{
	struct puppet_mad mad = {
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION, method },
		.len = len,
		.address = { .lid = lid, .qpn = IBSA_QPN_GSI },
		.err = err,
	};

	mad.mad[MAD_ATTRIBUTE + 1] = 2;
	puppet_deliver(&puppet, &mad);
}

static void report_deliver(uint32_t lid)
{
	message_deliver(lid, IBSA_METHOD_REPORT, IBSA_MAD_BYTES, 0);
}

static struct ibsa_stats stats(const struct receiver *receiver)
{
	return *ibsa__engine_stats(receiver->engine);
}

/* One dispatch takes all Reports, although no request is in flight. */
static void all_reports_are_taken_at_once(void **state)
{
	struct receiver *receiver = *state;

	listen_to(receiver);
	for (int i = 0; i < 100; i++)
		report_deliver(PUPPET_SM_LID);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->reports, 100);
	assert_int_equal(receiver->of_sa, 100);
	assert_int_equal(receiver->free_err, -EBUSY);
	assert_int_equal(ibsa__engine_timeout_ms(receiver->engine), -1);
}

/* Before listen starts and after it stops, no Report is delivered. */
static void no_listener_gets_no_reports(void **state)
{
	struct receiver *receiver = *state;

	report_deliver(PUPPET_SM_LID);
	puppet_advance(&puppet, receiver->engine, 0);
	listen_to(receiver);
	assert_int_equal(ibsa__engine_listen(receiver->engine, NULL), 0);
	assert_false(puppet.listening);
	report_deliver(PUPPET_SM_LID);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->reports, 0);
	assert_int_equal(stats(receiver).ignored_id, 2);
}

/* Replies, and messages shorter than a header, are not Reports. */
static void other_messages_are_not_reports(void **state)
{
	struct receiver *receiver = *state;

	listen_to(receiver);
	message_deliver(PUPPET_SM_LID, IBSA_METHOD_REPORT,
			IBSA_SA_HEADER_BYTES - 1, 0);
	message_deliver(PUPPET_SM_LID, IBSA_METHOD_REPORT, 24, -ETIMEDOUT);
	message_deliver(PUPPET_SM_LID, IBSA_METHOD_REPORT_RESP, IBSA_MAD_BYTES,
			0);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->reports, 0);
	assert_int_equal(stats(receiver).ignored_malformed, 1);
	assert_int_equal(stats(receiver).ignored_id, 1);
}

/* is_sa is set for Reports of a new SM for which the port was not read yet, but
 * not for those of other ports. */
static void report_has_its_source(void **state)
{
	struct receiver *receiver = *state;

	listen_to(receiver);
	report_deliver(OTHER_LID);
	puppet_advance(&puppet, receiver->engine, 200);
	assert_int_equal(receiver->reports, 1);
	assert_int_equal(receiver->of_sa, 0);
	assert_int_equal(stats(receiver).ignored_source, 1);

	puppet.port.sm_lid = OTHER_LID;
	report_deliver(OTHER_LID);
	puppet_advance(&puppet, receiver->engine, 200);
	assert_int_equal(receiver->reports, 2);
	assert_int_equal(receiver->of_sa, 1);
}

/*
 * The listener is told that Reports may be lost: with a reply for which the
 * transport had no room or no memory, and after a receive error.
 */
static void loss_is_reported(void **state)
{
	struct receiver *receiver = *state;

	message_deliver(PUPPET_SM_LID, IBSA_METHOD_GET_TABLE_RESP,
			IBSA_MAD_BYTES, -EMSGSIZE);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->missed, 0);
	listen_to(receiver);
	message_deliver(PUPPET_SM_LID, IBSA_METHOD_GET_TABLE_RESP,
			IBSA_MAD_BYTES, -EMSGSIZE);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->missed, 1);
	message_deliver(PUPPET_SM_LID, IBSA_METHOD_GET_TABLE_RESP,
			IBSA_MAD_BYTES, -ENOMEM);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->missed, 2);
	puppet.recv_err = -ENOBUFS;
	assert_int_equal(ibsa__engine_dispatch(receiver->engine), -ENOBUFS);
	assert_int_equal(receiver->missed, 3);
}

static void listening_fails(void **state)
{
	const struct ibsa_transport_ops *ops = puppet.transport.ops;
	struct ibsa_transport_ops busy = *ops;
	struct receiver *receiver = *state;

	puppet.listen_err = -EBUSY;
	assert_int_equal(ibsa__engine_listen(receiver->engine,
					     &receiver->listener),
			 -EBUSY);
	busy.listen = NULL;
	puppet.transport.ops = &busy;
	assert_int_equal(ibsa__engine_listen(receiver->engine,
					     &receiver->listener),
			 -EOPNOTSUPP);
	puppet.transport.ops = ops;
	report_deliver(PUPPET_SM_LID);
	puppet_advance(&puppet, receiver->engine, 0);
	assert_int_equal(receiver->reports, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(all_reports_are_taken_at_once),
		TEST(no_listener_gets_no_reports),
		TEST(other_messages_are_not_reports),
		TEST(report_has_its_source),
		TEST(loss_is_reported),
		TEST(listening_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
