/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports through the kernel: a program at rxe1 sends them as the SA would. A
 * client at rxe0 responds and reports the events. Only one program at a port
 * can receive them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/event.h>

#include "test/support/device_now.h"
#include "umad_dev/umad.h"
#include "wire/mad.h"
#include "wire/request.h"

enum {
	REPLY_BYTES = 4096,
	WAIT_MS = 50,
	TRIES = 40,
	/* fe80::; the kernel does not match responses by IPv4 addresses. */
	GID_INDEX = 0,
	TAIL = 9,
};

static struct ibsa_transport *open_port(const char *device)
{
	struct ibsa_transport *transport;
	struct ibsa_error error;

	if (now_umad_open(device, 1, REPLY_BYTES, &error, &transport))
		fail_msg("%s", error.text);
	return transport;
}

static struct ibsa_address address_of(struct ibsa_transport *transport)
{
	struct ibsa_gid_entry entry;

	assert_int_equal(transport->ops->gid(transport, GID_INDEX, &entry), 0);
	return (struct ibsa_address){
		.qpn = IBSA_QPN_GSI,
		.has_grh = true,
		.gid = entry.gid,
		.gid_index = GID_INDEX,
		.hop_limit = 64,
	};
}

/* The events of GIDs. */
struct told {
	int count;
	struct ibsa_event last;
};

static void note(const struct ibsa_event *event, void *arg)
{
	struct told *told = arg;

	if (!event->notice)
		return;
	told->count++;
	told->last = *event;
}

static void send_report(struct ibsa_transport *from,
			const struct ibsa_address *to)
{
	const struct ibsa_notice notice = {
		.is_generic = 1,
		.type = 3,
		.producer_type = 4,
		.trap_number = 65,
		.data_details = { [6] = 0xfe, [7] = 0x80, [21] = TAIL },
	};
	const struct ibsa__request request = {
		.record = &ibsa_notice_record,
		.match = &notice,
		.method = IBSA_METHOD_REPORT,
		.transaction_id = 77,
	};
	uint8_t mad[IBSA_MAD_BYTES];

	assert_int_equal(ibsa__request_encode(&request, mad), 0);
	assert_int_equal(from->ops->send(from, to, mad, sizeof(mad), 1000), 0);
}

/* Receive a MAD at @from; meanwhile dispatch @client, if it is not NULL. */
static void await(struct ibsa_transport *from, struct ibsa_client *client,
		  struct ibsa_message *out)
{
	for (int i = 0; i < TRIES; i++) {
		int got = from->ops->recv(from, out);

		assert_true(got >= 0);
		if (got)
			return;
		if (client)
			assert_int_equal(ibsa_wait(client, WAIT_MS), 0);
		else
			assert_int_equal(from->ops->wait(from, WAIT_MS), 0);
	}
	fail_msg("nothing came back");
}

/* The kernel matches the response by its id, method and sender. */
static void report_is_told_and_answered(void **state)
{
	struct ibsa_transport *sa = open_port("rxe1");
	struct ibsa_address sa_address = address_of(sa);
	const struct ibsa_options options = { .device = "rxe0",
					      .access.sa = &sa_address };
	struct ibsa_transport *other = open_port("rxe0");
	struct ibsa_address to = address_of(other);
	struct ibsa_event_watch *watch;
	struct ibsa_message message;
	struct told told = { 0 };
	struct ibsa_client *client;
	struct ibsa_error error;

	(void)state;
	other->ops->close(other);
	if (ibsa_open(&options, &error, &client))
		fail_msg("%s", error.text);
	if (ibsa_event_watch_start(client, NULL, note, &told, &error, &watch))
		fail_msg("%s", error.text);
	send_report(sa, &to);
	await(sa, client, &message);
	assert_int_equal(message.err, 0);
	assert_int_equal(message.mad[MAD_METHOD], IBSA_METHOD_REPORT_RESP);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.last.kind, IBSA_EVENT_GID_OUT);
	assert_int_equal(told.last.gid.raw[15], TAIL);
	assert_int_equal(told.last.port_num, 1);
	assert_int_equal(ibsa_close(client), 0);

	/*
	 * No client listens any more: the kernel reports the timeout to the
	 * sender.
	 */
	send_report(sa, &to);
	await(sa, NULL, &message);
	assert_int_equal(message.err, -ETIMEDOUT);
	sa->ops->close(sa);
}

/*
 * Only one program at a port receives Reports; when it ends, another one can.
 */
static void one_program_has_the_reports(void **state)
{
	const struct ibsa_options options = { .device = "rxe0" };
	struct ibsa_transport *first = open_port("rxe0");
	struct ibsa_event_watch *watch;
	struct told told = { 0 };
	struct ibsa_client *client;
	struct ibsa_error error;

	(void)state;
	assert_int_equal(first->ops->listen(first, true), 0);
	if (ibsa_open(&options, &error, &client))
		fail_msg("%s", error.text);
	assert_int_equal(ibsa_event_watch_start(client, NULL, note, &told,
						&error, &watch),
			 -EBUSY);
	assert_non_null(strstr(error.text, "another program"));
	assert_int_equal(first->ops->listen(first, false), 0);
	assert_int_equal(ibsa_event_watch_start(client, NULL, note, &told,
						&error, &watch),
			 0);
	assert_int_equal(first->ops->listen(first, true), -EBUSY);
	ibsa_event_watch_stop(watch);
	assert_int_equal(ibsa_wait(client, WAIT_MS), 0);
	assert_int_equal(first->ops->listen(first, true), 0);
	assert_int_equal(ibsa_close(client), 0);
	first->ops->close(first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(report_is_told_and_answered),
		cmocka_unit_test(one_program_has_the_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
