/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Services that stay, on an embedded fabric with a virtual clock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/service.h>
#include <ibsa/sim.h>

/* FABRIC is a topology with node1 and node2, from the build. */

enum { SEEN = 64, MS = 1000000, SECOND = 1000, ID = 0x1234 };

/* What was reported. */
struct diary {
	int count;
	struct ibsa_kept_report reports[SEEN];
	struct ibsa_service services[SEEN];
	bool release; /* at the next report */
	int release_err, close_err;
	struct ibsa_client *client;
};

static struct ibsa_fabric *fabric;

static int set_up(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = 1 };

	(void)state;
	return ibsa_fabric_load(FABRIC, &options, NULL, &fabric);
}

static int tear_down(void **state)
{
	(void)state;
	ibsa_fabric_put(fabric);
	return 0;
}

static struct ibsa_client *open_on(const char *node)
{
	struct ibsa_options options = { .seed = 1, .deadline_ms = 3 * SECOND };
	struct ibsa_client *client;

	assert_int_equal(
		ibsa_fabric_attach(fabric, node, 0, &options.transport), 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	return client;
}

static void note(const struct ibsa_kept_report *report, void *arg)
{
	struct diary *diary = arg;

	assert_in_range(diary->count, 0, SEEN - 1);
	diary->services[diary->count] = *report->service;
	diary->reports[diary->count++] = *report;
	if (diary->client)
		diary->close_err = ibsa_close(diary->client);
	if (diary->release) {
		diary->release = false;
		diary->release_err = ibsa_service_release(report->kept);
	}
}

/* Let @ms pass for @client. */
static void pass(struct ibsa_client *client, unsigned int ms)
{
	while (ms--) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
}

static const struct ibsa_service disk = { .service_id = ID,
					  .service_name = "disk",
					  .service_data8 = { 1, 2, 3 } };

static struct ibsa_kept *keep(struct ibsa_client *client,
			      const struct ibsa_service *service,
			      struct diary *diary)
{
	const struct ibsa_service_keep keep = { .service = service };
	struct ibsa_kept *kept;

	*diary = (struct diary){ 0 };
	assert_int_equal(ibsa_service_keep(client, &keep, note, diary, &kept),
			 0);
	assert_int_equal(diary->count, 0);
	return kept;
}

/* The @n-th report, from 0, is of @event. */
static const struct ibsa_kept_report *expect(const struct diary *diary, int n,
					     enum ibsa_kept_event event)
{
	assert_in_range(n, 0, diary->count - 1);
	assert_int_equal(diary->reports[n].event, event);
	return &diary->reports[n];
}

static void take(const struct ibsa_reply *reply, void *arg)
{
	if (reply->count)
		assert_int_equal(ibsa_reply_decode(reply, 0, arg), 0);
}

/* Whether the SA has a service of id ID, as another client sees it. */
static bool look(struct ibsa_service *out)
{
	const struct ibsa_service match = { .service_id = ID };
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &match,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_client *client = open_on("node2");
	int err = ibsa_ask(client, &query, take, out);

	assert_int_equal(ibsa_close(client), 0);
	assert_true(err == 0 || err == -EREMOTEIO);
	return !err;
}

/* Anybody may delete it; to who keeps it, it is as if the SA forgot. */
static void make_forgotten(const struct ibsa_service *service)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = service,
		.mask = IBSA_SERVICE_CM(service_id) |
			IBSA_SERVICE_CM(service_gid) |
			IBSA_SERVICE_CM(service_pkey),
		.method = IBSA_METHOD_DELETE,
	};
	struct ibsa_client *client = open_on("node2");

	assert_int_equal(ibsa_ask(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

static uint64_t requests(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.requests;
}

static void fault(enum ibsa_fault_kind kind, double percent)
{
	const struct ibsa_fault fault = { .kind = kind, .percent = percent };

	assert_int_equal(ibsa_fabric_fault(fabric, &fault), 0);
}

/* What is not said is the port's, the default, or zero. */
static void service_is_registered(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_port_state port;
	struct ibsa_service there;
	struct ibsa_kept *kept;
	struct diary diary;

	(void)state;
	kept = keep(client, &disk, &diary);
	pass(client, 20);
	assert_int_equal(diary.count, 1);
	expect(&diary, 0, IBSA_KEPT_REGISTERED);
	assert_ptr_equal(diary.reports[0].kept, kept);
	assert_int_equal(diary.services[0].service_lease, 300);
	assert_true(look(&there));
	assert_int_equal(ibsa_port_get(client, false, &port), 0);
	assert_memory_equal(&there.service_gid, &port.gid, sizeof(port.gid));
	assert_int_equal(there.service_pkey, 0xffff);
	assert_int_equal(there.service_lease, 300);
	assert_string_equal(there.service_name, "disk");
	assert_int_equal(there.service_data8[2], 3);
	assert_int_equal(ibsa_close(client), 0);
}

/* What the mask does not mean is not sent; what it means, as it is. */
static void mask_says_what_is_meant(void **state)
{
	const struct ibsa_service service = {
		.service_id = ID,
		.service_gid = { { 0xff, 0x12, [15] = 1 } },
		.service_pkey = 0x8000,
		.service_lease = 77,
		.service_name = "disk",
		.service_data8 = { 1, 2, 3 },
		.service_data32 = { 5, 6 },
	};
	const struct ibsa_service_keep keep = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_gid) |
			IBSA_SERVICE_CM(service_pkey) |
			IBSA_SERVICE_CM(service_data8) << 1,
	};
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service there;
	struct ibsa_kept *kept;
	struct diary diary = { 0 };

	(void)state;
	assert_int_equal(ibsa_service_keep(client, &keep, note, &diary, &kept),
			 0);
	pass(client, 20);
	expect(&diary, 0, IBSA_KEPT_REGISTERED);
	assert_true(look(&there));
	assert_memory_equal(&there.service_gid, &service.service_gid, 16);
	assert_int_equal(there.service_pkey, 0x8000);
	assert_int_equal(there.service_lease, 300);
	assert_string_equal(there.service_name, "");
	assert_int_equal(there.service_data8[0], 0);
	assert_int_equal(there.service_data8[1], 2);
	assert_int_equal(there.service_data8[2], 0);
	assert_int_equal(there.service_data32[0], 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* Long after its first lease it is there, and nobody was bothered. */
static void lease_is_renewed(void **state)
{
	struct ibsa_service service = disk, there;
	struct ibsa_client *client = open_on("node1");
	struct diary diary;
	uint64_t before;

	(void)state;
	service.service_lease = 20;
	keep(client, &service, &diary);
	pass(client, 100);
	before = requests();
	for (int i = 0; i < 60; i++) {
		pass(client, 10 * SECOND);
		assert_true(look(&there));
	}
	assert_int_equal(diary.count, 1);
	/* Twice in 20 seconds a Get and a Set; and those of look(). */
	assert_in_range(requests() - before, 2 * 60 + 50, 2 * 60 + 90);
	assert_int_equal(ibsa_close(client), 0);
	assert_false(look(&there));
}

/* An SA that was away, seen by the port: LOST, and there again. */
static void restart_of_the_sa_is_survived(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service there;
	struct diary diary;

	(void)state;
	keep(client, &disk, &diary);
	pass(client, 100);
	ibsa_fabric_sa_set(fabric, false);
	pass(client, 5 * SECOND);
	assert_int_equal(expect(&diary, 1, IBSA_KEPT_FAILED)->err, -EAGAIN);
	ibsa_fabric_sa_set(fabric, true);
	pass(client, 2 * SECOND);
	expect(&diary, 2, IBSA_KEPT_LOST);
	expect(&diary, 3, IBSA_KEPT_REGISTERED);
	assert_int_equal(diary.count, 4);
	assert_true(look(&there));
	assert_int_equal(ibsa_close(client), 0);
}

/* An SA that forgot without a sign: found out by reading, in audit_ms. */
static void silent_loss_is_found(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, there;
	struct diary diary;

	(void)state;
	service.service_lease = IBSA_LEASE_INFINITE;
	keep(client, &service, &diary);
	pass(client, 100);
	assert_int_equal(diary.services[0].service_lease, IBSA_LEASE_INFINITE);
	make_forgotten(&diary.services[0]);
	pass(client, 20 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_false(look(&there));
	pass(client, 10 * SECOND);
	expect(&diary, 1, IBSA_KEPT_LOST);
	expect(&diary, 2, IBSA_KEPT_REGISTERED);
	assert_true(look(&there));
	assert_int_equal(ibsa_close(client), 0);
}

/* Two who want one place: each says so, and they do not fight for ever. */
static void rivals_do_not_fight_for_ever(void **state)
{
	struct ibsa_client *one = open_on("node1"), *two = open_on("node2");
	struct ibsa_service tape = disk;
	struct ibsa_port_state port;
	struct diary first, second;
	uint64_t before;

	(void)state;
	keep(one, &disk, &first);
	pass(one, 100);
	assert_int_equal(ibsa_port_get(one, false, &port), 0);
	tape.service_gid = port.gid;
	memcpy(tape.service_name, "tape", sizeof("tape"));
	keep(two, &tape, &second);
	pass(two, 100);
	expect(&second, 0, IBSA_KEPT_REGISTERED);
	before = requests();
	for (int ms = 0; ms < 3600 * SECOND; ms++) {
		pass(one, 1);
		assert_int_equal(ibsa_dispatch(two), 0);
		first.count = first.count > SEEN / 2 ? 2 : first.count;
		second.count = second.count > SEEN / 2 ? 2 : second.count;
	}
	expect(&first, 1, IBSA_KEPT_REPLACED);
	assert_string_equal(first.services[1].service_name, "tape");
	assert_in_range(requests() - before, 2, 2 * 3600 / 26 + 100);
	assert_int_equal(ibsa_close(two), 0);
	assert_int_equal(ibsa_close(one), 0);
}

/* A refusal is told once, and not tried again all the time. */
static void refusal_is_told_once(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk;
	struct diary diary;

	(void)state;
	service.service_pkey = 0x1234;
	keep(client, &service, &diary);
	pass(client, 3600 * SECOND);
	assert_int_equal(diary.count, 1);
	expect(&diary, 0, IBSA_KEPT_REFUSED);
	assert_int_equal(diary.reports[0].err, 0);
	assert_int_equal(diary.reports[0].status, IBSA_STATUS_REQ_INVALID);
	assert_in_range(requests(), 6, 12);
	assert_int_equal(ibsa_close(client), 0);
}

/* A silent SA is told once, as is a busy one, and then that all is well. */
static void failure_is_told_once(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	fault(IBSA_FAULT_SILENCE, 100);
	keep(client, &disk, &diary);
	pass(client, 120 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_KEPT_FAILED)->err, -ETIMEDOUT);
	fault(IBSA_FAULT_SILENCE, 0);
	fault(IBSA_FAULT_BUSY, 100);
	pass(client, 120 * SECOND);
	assert_int_equal(diary.count, 2);
	assert_int_equal(expect(&diary, 1, IBSA_KEPT_FAILED)->err, 0);
	assert_int_equal(diary.reports[1].status, IBSA_STATUS_BUSY);
	fault(IBSA_FAULT_BUSY, 0);
	pass(client, 70 * SECOND);
	assert_int_equal(diary.count, 3);
	expect(&diary, 2, IBSA_KEPT_REGISTERED);
	assert_int_equal(ibsa_close(client), 0);
}

/* A silence that ends before the lease does costs nothing but a word. */
static void failed_audit_is_repeated(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	keep(client, &disk, &diary);
	pass(client, SECOND);
	fault(IBSA_FAULT_SILENCE, 100);
	pass(client, 60 * SECOND);
	assert_int_equal(expect(&diary, 1, IBSA_KEPT_FAILED)->err, -ETIMEDOUT);
	fault(IBSA_FAULT_SILENCE, 0);
	pass(client, 60 * SECOND);
	assert_int_equal(diary.count, 3);
	expect(&diary, 2, IBSA_KEPT_REGISTERED);
	assert_int_equal(ibsa_close(client), 0);
}

/* Released, it is gone from the SA, and said to be so once. */
static void release_deletes(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service there;
	struct ibsa_kept *kept;
	struct diary diary;

	(void)state;
	kept = keep(client, &disk, &diary);
	pass(client, 100);
	assert_int_equal(ibsa_service_release(kept), 0);
	assert_int_equal(ibsa_service_release(kept), -EALREADY);
	assert_int_equal(diary.count, 1);
	pass(client, 100);
	assert_int_equal(diary.count, 2);
	assert_int_equal(expect(&diary, 1, IBSA_KEPT_RELEASED)->err, 0);
	assert_int_equal(diary.reports[1].status, 0);
	assert_ptr_equal(diary.reports[1].kept, kept);
	assert_false(look(&there));
	assert_int_equal(ibsa_timeout_ms(client), -1);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(diary.count, 2);
}

/* From inside a report, of whatever; ibsa_close() is not for there. */
static void release_from_a_report(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, there;
	struct diary diary;

	(void)state;
	keep(client, &service, &diary);
	diary.release = true;
	diary.client = client;
	pass(client, 100);
	assert_int_equal(diary.release_err, 0);
	assert_int_equal(diary.close_err, -EBUSY);
	assert_int_equal(diary.count, 2);
	expect(&diary, 1, IBSA_KEPT_RELEASED);
	assert_false(look(&there));

	service.service_pkey = 0x1234;
	keep(client, &service, &diary);
	diary.release = true;
	pass(client, 100);
	assert_int_equal(diary.count, 2);
	expect(&diary, 0, IBSA_KEPT_REFUSED);
	expect(&diary, 1, IBSA_KEPT_RELEASED);
	/* In the last report it is too late. */
	keep(client, &disk, &diary);
	pass(client, 100);
	assert_int_equal(ibsa_service_release(diary.reports[0].kept), 0);
	diary.release = true;
	pass(client, 100);
	assert_int_equal(diary.release_err, -EALREADY);
	assert_int_equal(diary.count, 2);
	assert_int_equal(ibsa_close(client), 0);
}

/* One that was never sent has nothing to delete. */
static void release_before_anything(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_kept *kept;
	struct diary diary;

	(void)state;
	kept = keep(client, &disk, &diary);
	assert_int_equal(ibsa_service_release(kept), 0);
	pass(client, 100);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_KEPT_RELEASED)->err, 0);
	assert_int_equal(requests(), 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* Released while its Set is on its way, it is deleted after that. */
static void release_waits_for_the_set(void **state)
{
	const struct ibsa_fault slow = { .kind = IBSA_FAULT_DELAY,
					 .percent = 100,
					 .delay_ms = 400 };
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service there;
	struct ibsa_kept *kept;
	struct diary diary;

	(void)state;
	assert_int_equal(ibsa_fabric_fault(fabric, &slow), 0);
	kept = keep(client, &disk, &diary);
	pass(client, 3);
	assert_int_equal(requests(), 1);
	assert_int_equal(ibsa_service_release(kept), 0);
	pass(client, 4 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_KEPT_RELEASED)->err, 0);
	assert_int_equal(diary.reports[0].status, 0);
	fault(IBSA_FAULT_DELAY, 0);
	assert_false(look(&there));
	assert_int_equal(ibsa_close(client), 0);
}

/* Closing deletes what is kept, and says so; nothing new is taken. */
static void close_releases_all(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service other = disk, there;
	struct diary first, second;

	(void)state;
	other.service_id++;
	keep(client, &disk, &first);
	keep(client, &other, &second);
	pass(client, 100);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(first.count, 2);
	assert_int_equal(expect(&first, 1, IBSA_KEPT_RELEASED)->err, 0);
	assert_int_equal(second.count, 2);
	assert_int_equal(expect(&second, 1, IBSA_KEPT_RELEASED)->err, 0);
	assert_false(look(&there));
}

static uint64_t now_ms(struct ibsa_transport *transport)
{
	return transport->ops->now_ns(transport) / MS;
}

/* A silent SA does not hold up a close for more than two seconds. */
static void close_does_not_wait_for_ever(void **state)
{
	struct ibsa_transport *watch;
	struct ibsa_client *client = open_on("node1");
	struct diary good, fresh, released;
	struct ibsa_service other = disk;
	struct ibsa_kept *kept;
	uint64_t before;

	(void)state;
	assert_int_equal(ibsa_fabric_attach(fabric, "node2", 0, &watch), 0);
	keep(client, &disk, &good);
	other.service_id = 1;
	kept = keep(client, &other, &released);
	pass(client, 100);
	fault(IBSA_FAULT_SILENCE, 100);
	other.service_id = 2;
	keep(client, &other, &fresh);
	assert_int_equal(ibsa_service_release(kept), 0);
	pass(client, 100);
	before = now_ms(watch);
	assert_int_equal(ibsa_close(client), 0);
	assert_in_range(now_ms(watch) - before, 1000, 2001);
	assert_int_equal(expect(&good, 1, IBSA_KEPT_RELEASED)->err, -ETIMEDOUT);
	assert_int_equal(expect(&fresh, 0, IBSA_KEPT_RELEASED)->err,
			 -ETIMEDOUT);
	assert_int_equal(expect(&released, 1, IBSA_KEPT_RELEASED)->err,
			 -ECANCELED);
	assert_int_equal(good.count + fresh.count + released.count, 5);
	watch->ops->close(watch);
}

/* Without an SM there is nobody to tell. */
static void close_without_an_sm_does_not_wait(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	keep(client, &disk, &diary);
	pass(client, 100);
	ibsa_fabric_sa_set(fabric, false);
	pass(client, SECOND);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(
		expect(&diary, diary.count - 1, IBSA_KEPT_RELEASED)->err,
		-EAGAIN);
}

struct late {
	struct ibsa_client *client;
	int err;
};

static void keep_more(const struct ibsa_kept_report *report, void *arg)
{
	const struct ibsa_service_keep keep = { .service = &disk };
	struct late *late = arg;
	struct ibsa_kept *kept;

	if (report->event == IBSA_KEPT_RELEASED)
		late->err = ibsa_service_keep(late->client, &keep, NULL, NULL,
					      &kept);
}

/* A client that closes keeps nothing more. */
static void close_takes_no_more(void **state)
{
	const struct ibsa_service_keep keep = { .service = &disk };
	struct late late = { .client = open_on("node1") };
	struct ibsa_kept *kept;

	(void)state;
	assert_int_equal(ibsa_service_keep(late.client, &keep, keep_more, &late,
					   &kept),
			 0);
	assert_int_equal(ibsa_close(late.client), 0);
	assert_int_equal(late.err, -ESHUTDOWN);
}

/* Under all faults at once it is there in the end, and ends once. */
static void faults_are_survived(void **state)
{
	static const enum ibsa_fault_kind kinds[] = {
		IBSA_FAULT_LOSE,    IBSA_FAULT_DELAY,	IBSA_FAULT_DUPLICATE,
		IBSA_FAULT_REORDER, IBSA_FAULT_CORRUPT, IBSA_FAULT_BUSY,
		IBSA_FAULT_SILENCE,
	};
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, there;
	struct diary diary;

	(void)state;
	service.service_lease = 10;
	keep(client, &service, &diary);
	for (int i = 0; i < 60; i++) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			fault(kinds[k], i % 2 ? 20 : 0);
		pass(client, 20 * SECOND);
		diary.count = 0;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		fault(kinds[k], 0);
	pass(client, 120 * SECOND);
	assert_true(look(&there));
	diary.count = 0;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_KEPT_RELEASED)->err, 0);
}

/* What cannot be kept says why, and nothing is reported. */
static void bad_services_are_refused(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk;
	struct ibsa_service_keep bad = { .service = NULL };
	struct ibsa_kept *kept = NULL, *first;
	struct diary diary;

	(void)state;
	assert_int_equal(ibsa_service_keep(client, &bad, note, NULL, &kept),
			 -EINVAL);
	bad.service = &disk;
	bad.mask = UINT64_C(1) << 63;
	assert_int_equal(ibsa_service_keep(client, &bad, note, NULL, &kept),
			 -EINVAL);
	bad.mask = IBSA_SERVICE_CM(service_lease);
	assert_int_equal(ibsa_service_keep(client, &bad, note, NULL, &kept),
			 -EINVAL);
	assert_int_equal(ibsa_timeout_ms(client), -1);
	first = keep(client, &disk, &diary);
	bad.mask = 0;
	assert_int_equal(ibsa_service_keep(client, &bad, note, NULL, &kept),
			 -EEXIST);
	assert_null(kept);
	service.service_pkey = 0x7fff;
	bad.service = &service;
	assert_int_equal(ibsa_service_keep(client, &bad, NULL, NULL, &kept), 0);
	assert_int_equal(ibsa_service_release(first), 0);
	pass(client, 100);
	bad.service = &disk;
	assert_int_equal(ibsa_service_keep(client, &bad, NULL, NULL, &kept), 0);
	assert_int_equal(ibsa_close(client), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(service_is_registered),
		TEST(mask_says_what_is_meant),
		TEST(lease_is_renewed),
		TEST(restart_of_the_sa_is_survived),
		TEST(silent_loss_is_found),
		TEST(rivals_do_not_fight_for_ever),
		TEST(refusal_is_told_once),
		TEST(failure_is_told_once),
		TEST(failed_audit_is_repeated),
		TEST(release_deletes),
		TEST(release_from_a_report),
		TEST(release_before_anything),
		TEST(release_waits_for_the_set),
		TEST(close_releases_all),
		TEST(close_does_not_wait_for_ever),
		TEST(close_without_an_sm_does_not_wait),
		TEST(close_takes_no_more),
		TEST(faults_are_survived),
		TEST(bad_services_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
