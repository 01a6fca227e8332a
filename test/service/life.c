/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registered services on an embedded fabric with a virtual clock. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "test/support/service_support.h"

/* The shortest time between two reads of a record. */
enum { AUDIT_LEAST_MS = IBSA_DEFAULT_AUDIT_MS / 8 * 7 };

/* Fields that are not set have the port's value, the default, or zero. */
static void service_is_registered(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_port_state port;
	struct ibsa_service found;
	struct ibsa_registration *registration;
	struct diary diary;

	(void)state;
	registration = service_add(client, &disk, &diary);
	pass(client, 20);
	assert_int_equal(diary.count, 1);
	expect(&diary, 0, IBSA_REGISTRATION_REGISTERED);
	assert_ptr_equal(diary.reports[0].registration, registration);
	assert_int_equal(diary.services[0].service_lease, IBSA_DEFAULT_LEASE_S);
	assert_true(service_lookup(&found));
	assert_int_equal(ibsa_port_get(client, false, &port), 0);
	assert_memory_equal(&found.service_gid, &port.gid, sizeof(port.gid));
	assert_int_equal(found.service_pkey, 0xffff);
	assert_int_equal(found.service_lease, IBSA_DEFAULT_LEASE_S);
	assert_string_equal(found.service_name, "disk");
	assert_int_equal(found.service_data8[2], 3);
	assert_int_equal(ibsa_close(client), 0);
}

/* Fields outside the mask are not sent; fields in the mask are sent as they
 * are. */
static void mask_selects_the_fields(void **state)
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
	const struct ibsa_service_options options = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_gid) |
			IBSA_SERVICE_CM(service_pkey) |
			IBSA_SERVICE_CM(service_data8) << 1,
	};
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service found;
	struct ibsa_registration *registration;
	struct diary diary = { 0 };

	(void)state;
	assert_int_equal(ibsa_service_register(client, &options, note, &diary,
					       &registration),
			 0);
	pass(client, 20);
	expect(&diary, 0, IBSA_REGISTRATION_REGISTERED);
	assert_true(service_lookup(&found));
	assert_memory_equal(&found.service_gid, &service.service_gid, 16);
	assert_int_equal(found.service_pkey, 0x8000);
	assert_int_equal(found.service_lease, IBSA_DEFAULT_LEASE_S);
	assert_string_equal(found.service_name, "");
	assert_int_equal(found.service_data8[0], 0);
	assert_int_equal(found.service_data8[1], 2);
	assert_int_equal(found.service_data8[2], 0);
	assert_int_equal(found.service_data32[0], 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* Long after its first lease the service is still registered, without further
 * reports. */
static void lease_is_renewed(void **state)
{
	struct ibsa_service service = disk, found;
	struct ibsa_client *client = open_on("node1");
	struct diary diary;
	uint64_t before;

	(void)state;
	service.service_lease = 20;
	service_add(client, &service, &diary);
	pass(client, 100);
	before = requests();
	for (int i = 0; i < 60; i++) {
		pass(client, 10 * SECOND);
		assert_true(service_lookup(&found));
	}
	assert_int_equal(diary.count, 1);
	/*
	 * Within 20 seconds, a Get and a Set are sent twice, besides the
	 * requests of service_lookup().
	 */
	assert_in_range(requests() - before, 2 * 60 + 50, 2 * 60 + 90);
	assert_int_equal(ibsa_close(client), 0);
	assert_false(service_lookup(&found));
}

/*
 * When the SA has restarted, which the port's state shows, LOST and REGISTERED
 * are reported.
 */
static void restart_of_the_sa_is_survived(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service found;
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	pass(client, 100);
	ibsa_fabric_sa_set(fabric, false);
	pass(client, 5 * SECOND);
	assert_int_equal(expect(&diary, 1, IBSA_REGISTRATION_FAILED)->err,
			 -EAGAIN);
	ibsa_fabric_sa_set(fabric, true);
	pass(client, 2 * SECOND);
	expect(&diary, 2, IBSA_REGISTRATION_LOST);
	expect(&diary, 3, IBSA_REGISTRATION_REGISTERED);
	assert_int_equal(diary.count, 4);
	assert_true(service_lookup(&found));
	assert_int_equal(ibsa_close(client), 0);
}

/* Return: milliseconds until the next REGISTERED. */
static unsigned int ms_until_registered(struct ibsa_client *client,
					struct diary *diary)
{
	unsigned int ms = 0;

	diary->count = 0;
	while (!diary->count || diary->reports[diary->count - 1].event !=
					IBSA_REGISTRATION_REGISTERED) {
		assert_in_range(ms++, 0, 600 * SECOND);
		pass(client, 1);
	}
	return ms;
}

static void restart_sa(const char *node)
{
	ibsa_fabric_sa_set(fabric, false);
	if (node)
		assert_int_equal(ibsa_fabric_sa_move(fabric, node), 0);
	ibsa_fabric_sa_set(fabric, true);
}

/* The SA restarts or moves right after each registration. It has lost the
 * service, and no other program took its place, so the delay does not grow. */
static void restarts_do_not_count_as_disputes(void **state)
{
	static const char *const nodes[] = { NULL, "node1", "node2" };
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	ms_until_registered(client, &diary);
	for (int i = 0; i < 30; i++) {
		restart_sa(nodes[i % 3]);
		assert_in_range(ms_until_registered(client, &diary), 1,
				2 * SECOND);
		expect(&diary, 0, IBSA_REGISTRATION_LOST);
	}
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * The SA restarts at any other time, also between a Set and its read: such
 * losses do not lengthen the delay either.
 */
static void restarts_at_any_time_do_not_count_as_disputes(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	ms_until_registered(client, &diary);
	for (unsigned int i = 0; i < 400; i++) {
		restart_sa(NULL);
		diary.count = 0;
		pass(client, i * 37 % 700);
	}
	restart_sa(NULL);
	assert_in_range(ms_until_registered(client, &diary), 1, 2 * SECOND);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * Delete the record with another client: to its owner this looks like a loss.
 */
static void record_delete(const struct ibsa_service *service)
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

	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* A loss that the port does not show is found by the next read, within
 * audit_ms. */
static void unreported_loss_is_found(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, found;
	struct diary diary;

	(void)state;
	service.service_lease = IBSA_LEASE_INFINITE;
	service_add(client, &service, &diary);
	pass(client, 100);
	assert_int_equal(diary.services[0].service_lease, IBSA_LEASE_INFINITE);
	record_delete(&diary.services[0]);
	pass(client, 20 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_false(service_lookup(&found));
	pass(client, 10 * SECOND);
	expect(&diary, 1, IBSA_REGISTRATION_LOST);
	expect(&diary, 2, IBSA_REGISTRATION_REGISTERED);
	assert_true(service_lookup(&found));
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * If the port has not changed, each loss lengthens the delay until the service
 * is registered again. After a change of the port, the service is registered at
 * once, and the delay stays as it was.
 */
static void losses_without_a_reason_are_disputes(void **state)
{
	struct ibsa_client *client = open_on("node1");
	unsigned int ms = 0, before = 0;
	struct ibsa_service found;
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	pass(client, 100);
	found = diary.services[0];
	for (int i = 0; i < 6; i++) {
		before = ms;
		record_delete(&found);
		ms = ms_until_registered(client, &diary) - AUDIT_LEAST_MS;
	}
	assert_in_range(ms, 12 * SECOND, 22 * SECOND);
	assert_true(ms > before);
	restart_sa(NULL);
	assert_in_range(ms_until_registered(client, &diary), 1, 2 * SECOND);
	assert_int_equal(ibsa_close(client), 0);
}

/* Two clients register the same identity: both report it, and their delays
 * grow. */
static void delays_of_rivals_grow(void **state)
{
	struct ibsa_client *one = open_on("node1"), *two = open_on("node2");
	struct ibsa_service recording = disk;
	struct ibsa_port_state port;
	struct diary first, second;
	uint64_t before;

	(void)state;
	service_add(one, &disk, &first);
	pass(one, 100);
	assert_int_equal(ibsa_port_get(one, false, &port), 0);
	recording.service_gid = port.gid;
	memcpy(recording.service_name, "tape", sizeof("tape"));
	service_add(two, &recording, &second);
	pass(two, 100);
	expect(&second, 0, IBSA_REGISTRATION_REGISTERED);
	before = requests();
	for (int ms = 0; ms < 3600 * SECOND; ms++) {
		pass(one, 1);
		assert_int_equal(ibsa_dispatch(two), 0);
		first.count = first.count > SEEN / 2 ? 2 : first.count;
		second.count = second.count > SEEN / 2 ? 2 : second.count;
	}
	expect(&first, 1, IBSA_REGISTRATION_REPLACED);
	assert_string_equal(first.services[1].service_name, "tape");
	assert_in_range(requests() - before, 2,
			2 * 3600 * SECOND / AUDIT_LEAST_MS + 100);
	assert_int_equal(ibsa_close(two), 0);
	assert_int_equal(ibsa_close(one), 0);
}

/* A refusal is reported once and retried after a long time. */
static void refusal_is_reported_once(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk;
	struct diary diary;

	(void)state;
	service.service_pkey = 0x1234;
	service_add(client, &service, &diary);
	pass(client, 3600 * SECOND);
	assert_int_equal(diary.count, 1);
	expect(&diary, 0, IBSA_REGISTRATION_REFUSED);
	assert_int_equal(diary.reports[0].err, 0);
	assert_int_equal(diary.reports[0].status, IBSA_STATUS_REQ_INVALID);
	assert_in_range(requests(), 6, 12);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * Missing replies are reported once, and so is BUSY; when the SA answers,
 * REGISTERED is reported.
 */
static void failure_is_reported_once(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	fault(IBSA_FAULT_SILENCE, 100);
	service_add(client, &disk, &diary);
	pass(client, 120 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_REGISTRATION_FAILED)->err,
			 -ETIMEDOUT);
	fault(IBSA_FAULT_SILENCE, 0);
	fault(IBSA_FAULT_BUSY, 100);
	pass(client, 120 * SECOND);
	assert_int_equal(diary.count, 2);
	assert_int_equal(expect(&diary, 1, IBSA_REGISTRATION_FAILED)->err, 0);
	assert_int_equal(diary.reports[1].status, IBSA_STATUS_BUSY);
	fault(IBSA_FAULT_BUSY, 0);
	pass(client, 70 * SECOND);
	assert_int_equal(diary.count, 3);
	expect(&diary, 2, IBSA_REGISTRATION_REGISTERED);
	assert_int_equal(ibsa_close(client), 0);
}

/* The retry after a refusal does not depend on how long replies were missing
 * before. */
static void missing_replies_do_not_count_as_refusal(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk;
	struct diary diary;
	uint64_t before;

	(void)state;
	service.service_pkey = 0x1234;
	fault(IBSA_FAULT_SILENCE, 100);
	service_add(client, &service, &diary);
	pass(client, 300 * SECOND);
	fault(IBSA_FAULT_SILENCE, 0);
	while (diary.count < 2)
		pass(client, SECOND);
	expect(&diary, 1, IBSA_REGISTRATION_REFUSED);
	before = requests();
	pass(client, 61 * SECOND);
	assert_int_equal(requests() - before, 1);
	assert_int_equal(ibsa_close(client), 0);
}

/* If replies are missing for less than the lease, this only causes a report. */
static void failed_audit_is_repeated(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	pass(client, SECOND);
	fault(IBSA_FAULT_SILENCE, 100);
	pass(client, 60 * SECOND);
	assert_int_equal(expect(&diary, 1, IBSA_REGISTRATION_FAILED)->err,
			 -ETIMEDOUT);
	fault(IBSA_FAULT_SILENCE, 0);
	pass(client, 60 * SECOND);
	assert_int_equal(diary.count, 3);
	expect(&diary, 2, IBSA_REGISTRATION_REGISTERED);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * With all faults at once, the service is registered in the end, and ends once.
 */
static void faults_are_survived(void **state)
{
	static const enum ibsa_fault_kind kinds[] = {
		IBSA_FAULT_LOSE,    IBSA_FAULT_DELAY,	IBSA_FAULT_DUPLICATE,
		IBSA_FAULT_REORDER, IBSA_FAULT_CORRUPT, IBSA_FAULT_BUSY,
		IBSA_FAULT_SILENCE,
	};
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, found;
	struct diary diary;

	(void)state;
	service.service_lease = 10;
	service_add(client, &service, &diary);
	for (int i = 0; i < 60; i++) {
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			fault(kinds[k], i % 2 ? 20 : 0);
		pass(client, 20 * SECOND);
		diary.count = 0;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		fault(kinds[k], 0);
	pass(client, 120 * SECOND);
	assert_true(service_lookup(&found));
	diary.count = 0;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_REGISTRATION_RELEASED)->err, 0);
}

/* An invalid service is refused with an error, and nothing is reported. */
static void bad_services_are_refused(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk;
	struct ibsa_service_options bad = { .service = NULL };
	struct ibsa_registration *registration = NULL, *first;
	struct diary diary;

	(void)state;
	assert_int_equal(ibsa_service_register(client, &bad, note, NULL,
					       &registration),
			 -EINVAL);
	bad.service = &disk;
	bad.mask = UINT64_C(1) << 63;
	assert_int_equal(ibsa_service_register(client, &bad, note, NULL,
					       &registration),
			 -EINVAL);
	bad.mask = IBSA_SERVICE_CM(service_lease);
	assert_int_equal(ibsa_service_register(client, &bad, note, NULL,
					       &registration),
			 -EINVAL);
	bad.mask = IBSA_SERVICE_CM(service_gid);
	assert_int_equal(ibsa_service_register(client, &bad, note, NULL,
					       &registration),
			 -EINVAL);
	assert_int_equal(ibsa_timeout_ms(client), -1);
	first = service_add(client, &disk, &diary);
	bad.mask = 0;
	assert_int_equal(ibsa_service_register(client, &bad, note, NULL,
					       &registration),
			 -EEXIST);
	assert_null(registration);
	service.service_pkey = 0x7fff;
	bad.service = &service;
	assert_int_equal(ibsa_service_register(client, &bad, NULL, NULL,
					       &registration),
			 0);
	assert_int_equal(ibsa_service_release(first), 0);
	pass(client, 100);
	bad.service = &disk;
	assert_int_equal(ibsa_service_register(client, &bad, NULL, NULL,
					       &registration),
			 0);
	assert_int_equal(ibsa_close(client), 0);
}

static void events_have_names(void **state)
{
	(void)state;
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_REGISTERED),
		"registered");
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_LOST), "lost");
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_REPLACED),
		"replaced");
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_FAILED),
		"failed");
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_REFUSED),
		"refused");
	assert_string_equal(
		ibsa_registration_event_name(IBSA_REGISTRATION_RELEASED),
		"released");
	assert_null(ibsa_registration_event_name(0));
	assert_null(
		ibsa_registration_event_name(IBSA_REGISTRATION_RELEASED + 1));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(service_is_registered),
		TEST(mask_selects_the_fields),
		TEST(lease_is_renewed),
		TEST(restart_of_the_sa_is_survived),
		TEST(restarts_do_not_count_as_disputes),
		TEST(restarts_at_any_time_do_not_count_as_disputes),
		TEST(losses_without_a_reason_are_disputes),
		TEST(unreported_loss_is_found),
		TEST(delays_of_rivals_grow),
		TEST(refusal_is_reported_once),
		TEST(failure_is_reported_once),
		TEST(missing_replies_do_not_count_as_refusal),
		TEST(failed_audit_is_repeated),
		TEST(faults_are_survived),
		TEST(bad_services_are_refused),
		cmocka_unit_test(events_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
