/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end of a registered service: by its release or with its client. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/service_support.h"

/* A released service is deleted from the SA, and this is reported once. */
static void release_deletes(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service found;
	struct ibsa_registration *registration;
	struct diary diary;

	(void)state;
	registration = service_add(client, &disk, &diary);
	pass(client, 100);
	assert_int_equal(ibsa_service_release(registration), 0);
	assert_int_equal(ibsa_service_release(registration), -EALREADY);
	assert_int_equal(diary.count, 1);
	pass(client, 100);
	assert_int_equal(diary.count, 2);
	assert_int_equal(expect(&diary, 1, IBSA_REGISTRATION_RELEASED)->err, 0);
	assert_int_equal(diary.reports[1].status, 0);
	assert_ptr_equal(diary.reports[1].registration, registration);
	assert_false(service_lookup(&found));
	assert_int_equal(ibsa_timeout_ms(client), -1);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(diary.count, 2);
}

/* A report's callback may release the service, but not call ibsa_close(). */
static void release_from_a_report(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service service = disk, found;
	struct diary diary;

	(void)state;
	service_add(client, &service, &diary);
	diary.release = true;
	diary.client = client;
	pass(client, 100);
	assert_int_equal(diary.release_err, 0);
	assert_int_equal(diary.close_err, -EBUSY);
	assert_int_equal(diary.count, 2);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	assert_false(service_lookup(&found));

	service.service_pkey = 0x1234;
	service_add(client, &service, &diary);
	diary.release = true;
	pass(client, 100);
	assert_int_equal(diary.count, 2);
	expect(&diary, 0, IBSA_REGISTRATION_REFUSED);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	/* In its last report, a service cannot be released again. */
	service_add(client, &disk, &diary);
	pass(client, 100);
	assert_int_equal(ibsa_service_release(diary.reports[0].registration),
			 0);
	diary.release = true;
	pass(client, 100);
	assert_int_equal(diary.release_err, -EALREADY);
	assert_int_equal(diary.count, 2);
	assert_int_equal(ibsa_close(client), 0);
}

/* A service that was never sent causes no Delete. */
static void release_before_the_first_request(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_registration *registration;
	struct diary diary;

	(void)state;
	registration = service_add(client, &disk, &diary);
	assert_int_equal(ibsa_service_release(registration), 0);
	pass(client, 100);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_REGISTRATION_RELEASED)->err, 0);
	assert_int_equal(requests(), 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* A service that is released while its Set is in flight is deleted after the
 * Set. */
static void release_waits_for_the_set(void **state)
{
	const struct ibsa_fault slow = { .kind = IBSA_FAULT_DELAY,
					 .percent = 100,
					 .delay_ms = 400 };
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service found;
	struct ibsa_registration *registration;
	struct diary diary;

	(void)state;
	assert_int_equal(ibsa_fabric_fault(fabric, &slow), 0);
	registration = service_add(client, &disk, &diary);
	pass(client, 3);
	assert_int_equal(requests(), 1);
	assert_int_equal(ibsa_service_release(registration), 0);
	pass(client, 4 * SECOND);
	assert_int_equal(diary.count, 1);
	assert_int_equal(expect(&diary, 0, IBSA_REGISTRATION_RELEASED)->err, 0);
	assert_int_equal(diary.reports[0].status, 0);
	fault(IBSA_FAULT_DELAY, 0);
	assert_false(service_lookup(&found));
	assert_int_equal(ibsa_close(client), 0);
}

/* Closing the client deletes its services and reports this. */
static void close_releases_all(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_service other = disk, found;
	struct diary first, second;

	(void)state;
	other.service_id++;
	service_add(client, &disk, &first);
	service_add(client, &other, &second);
	pass(client, 100);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(first.count, 2);
	assert_int_equal(expect(&first, 1, IBSA_REGISTRATION_RELEASED)->err, 0);
	assert_int_equal(second.count, 2);
	assert_int_equal(expect(&second, 1, IBSA_REGISTRATION_RELEASED)->err,
			 0);
	assert_false(service_lookup(&found));
}

static uint64_t now_ms(struct ibsa_transport *transport)
{
	return transport->ops->now_ns(transport) / MS;
}

/* If the SA does not answer, closing takes at most two seconds. */
static void close_does_not_wait_for_ever(void **state)
{
	struct ibsa_transport *watch;
	struct ibsa_client *client = open_on("node1");
	struct diary good, fresh, released;
	struct ibsa_service other = disk;
	struct ibsa_registration *registration;
	uint64_t before;

	(void)state;
	assert_int_equal(ibsa_fabric_attach(fabric, "node2", 0, &watch), 0);
	service_add(client, &disk, &good);
	other.service_id = 1;
	registration = service_add(client, &other, &released);
	pass(client, 100);
	fault(IBSA_FAULT_SILENCE, 100);
	other.service_id = 2;
	service_add(client, &other, &fresh);
	assert_int_equal(ibsa_service_release(registration), 0);
	pass(client, 100);
	before = now_ms(watch);
	assert_int_equal(ibsa_close(client), 0);
	assert_in_range(now_ms(watch) - before, 1000, 2001);
	assert_int_equal(expect(&good, 1, IBSA_REGISTRATION_RELEASED)->err,
			 -ETIMEDOUT);
	assert_int_equal(expect(&fresh, 0, IBSA_REGISTRATION_RELEASED)->err,
			 -ETIMEDOUT);
	assert_int_equal(expect(&released, 1, IBSA_REGISTRATION_RELEASED)->err,
			 -ECANCELED);
	assert_int_equal(good.count + fresh.count + released.count, 5);
	watch->ops->close(watch);
}

/* Without an SM, closing does not wait. */
static void close_without_an_sm_does_not_wait(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct diary diary;

	(void)state;
	service_add(client, &disk, &diary);
	pass(client, 100);
	ibsa_fabric_sa_set(fabric, false);
	pass(client, SECOND);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(expect(&diary, diary.count - 1,
				IBSA_REGISTRATION_RELEASED)
				 ->err,
			 -EAGAIN);
}

struct late {
	struct ibsa_client *client;
	int err;
};

static void service_add_late(const struct ibsa_registration_report *report,
			     void *arg)
{
	const struct ibsa_service_options options = { .service = &disk };
	struct late *late = arg;
	struct ibsa_registration *registration;

	if (report->event == IBSA_REGISTRATION_RELEASED)
		late->err = ibsa_service_register(late->client, &options, NULL,
						  NULL, &registration);
}

/* A client that is being closed accepts no service. */
static void close_refuses_more_services(void **state)
{
	const struct ibsa_service_options options = { .service = &disk };
	struct late late = { .client = open_on("node1") };
	struct ibsa_registration *registration;

	(void)state;
	assert_int_equal(ibsa_service_register(late.client, &options,
					       service_add_late, &late,
					       &registration),
			 0);
	assert_int_equal(ibsa_close(late.client), 0);
	assert_int_equal(late.err, -ESHUTDOWN);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(release_deletes),
		TEST(release_from_a_report),
		TEST(release_before_the_first_request),
		TEST(release_waits_for_the_set),
		TEST(close_releases_all),
		TEST(close_does_not_wait_for_ever),
		TEST(close_without_an_sm_does_not_wait),
		TEST(close_refuses_more_services),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
