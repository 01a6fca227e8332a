/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registrations of services by <ibsa/ib_sa.h>: from any thread, until they end.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/ib_sa.h>

#include "test/support/service_support.h"

static struct ib_sa_client client;
static struct ib_device *device;

static struct ib_device *open_device(bool no_thread)
{
	const struct ibsa_ib_device_options options = {
		.name = "node1",
		.on = fabric,
		.audit_ms = 5 * SECOND,
		.no_thread = no_thread,
	};

	assert_int_equal(ibsa_ib_device_open(&options, NULL, &device), 0);
	ib_sa_register_client(&client);
	return device;
}

static void close_device(void)
{
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
}

static struct ib_sa_service_rec record(void)
{
	struct ib_sa_service_rec rec = { .id = htobe64(ID) };

	strcpy((char *)rec.name, "disk");
	return rec;
}

static struct ibsa_rec_registration *
record_register(ibsa_registration_fn report, void *arg)
{
	const struct ib_sa_service_rec rec = record();
	struct ibsa_rec_registration *registration;

	assert_int_equal(ibsa_service_rec_register(
				 &client, device, 1, &rec,
				 IB_SA_SERVICE_REC_SERVICE_ID |
					 IB_SA_SERVICE_REC_SERVICE_NAME,
				 report, arg, &registration),
			 0);
	return registration;
}

static void run_until(const struct diary *diary, int count)
{
	while (diary->count < count)
		assert_int_equal(ibsa_ib_device_wait(device, 10 * SECOND), 0);
}

/*
 * The service is registered, found lost, registered again, and removed when it
 * is released.
 */
static void service_stays_until_released(void **state)
{
	struct diary diary = { 0 };
	struct ibsa_rec_registration *registration;
	struct ibsa_service found;

	(void)state;
	open_device(true);
	registration = record_register(note, &diary);
	assert_int_equal(diary.count, 0);
	run_until(&diary, 1);
	expect(&diary, 0, IBSA_REGISTRATION_REGISTERED);
	assert_null(diary.reports[0].registration);
	assert_true(service_lookup(&found));
	assert_string_equal(found.service_name, "disk");
	assert_int_equal(found.service_pkey, 0xffff);
	ibsa_fabric_sa_set(fabric, false);
	ibsa_fabric_sa_set(fabric, true);
	assert_false(service_lookup(&found));
	run_until(&diary, 3);
	expect(&diary, 1, IBSA_REGISTRATION_LOST);
	expect(&diary, 2, IBSA_REGISTRATION_REGISTERED);
	assert_true(service_lookup(&found));
	ibsa_service_rec_release(registration);
	ibsa_service_rec_release(registration);
	assert_int_equal(diary.count, 3);
	run_until(&diary, 4);
	assert_int_equal(expect(&diary, 3, IBSA_REGISTRATION_RELEASED)->err, 0);
	assert_false(service_lookup(&found));
	close_device();
}

/* A loss is found after audit_ms of the device. */
static void audit_is_the_devices(void **state)
{
	const struct ibsa_query forget = {
		.record = &ibsa_service_record,
		.mask = IBSA_SERVICE_CM(service_id),
		.method = IBSA_METHOD_DELETE,
	};
	struct diary diary = { 0 };
	struct ibsa_query query = forget;
	struct ibsa_client *other;
	struct ibsa_service found;

	(void)state;
	open_device(true);
	record_register(note, &diary);
	run_until(&diary, 1);
	assert_true(service_lookup(&found));
	query.match = &found;
	other = open_on("node2");
	assert_int_equal(ibsa_query_wait(other, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(other), 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(ibsa_ib_device_wait(device, SECOND), 0);
	run_until(&diary, 3);
	expect(&diary, 1, IBSA_REGISTRATION_LOST);
	close_device();
}

/*
 * The registration is released when the client is unregistered, and when the
 * device is put.
 */
static void unregister_and_put_release(void **state)
{
	struct diary diary = { 0 };
	struct ibsa_service found;

	(void)state;
	open_device(true);
	record_register(note, &diary);
	run_until(&diary, 1);
	ib_sa_unregister_client(&client);
	assert_int_equal(diary.count, 2);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	assert_false(service_lookup(&found));

	diary.count = 0;
	ib_sa_register_client(&client);
	record_register(note, &diary);
	run_until(&diary, 1);
	ibsa_ib_device_put(device);
	assert_int_equal(diary.count, 2);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	assert_false(service_lookup(&found));
	ib_sa_unregister_client(&client);
}

static void
unregister_from_report(const struct ibsa_registration_report *report, void *arg)
{
	note(report, arg);
	if (report->event == IBSA_REGISTRATION_REGISTERED)
		ib_sa_unregister_client(&client);
}

/*
 * Inside a report, unregistering does not wait, and the registration still
 * ends.
 */
static void unregister_in_a_report_does_not_wait(void **state)
{
	struct diary diary = { 0 };
	struct ibsa_service found;

	(void)state;
	open_device(true);
	record_register(unregister_from_report, &diary);
	run_until(&diary, 2);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	assert_false(service_lookup(&found));
	ibsa_ib_device_put(device);
}

/*
 * A second registration of the same service fails with -EEXIST, and a
 * registration that was released before it began with -ECANCELED.
 */
static void what_never_began_ends(void **state)
{
	struct diary first = { 0 }, second = { 0 }, third = { 0 };

	(void)state;
	open_device(true);
	record_register(note, &first);
	record_register(note, &second);
	run_until(&second, 1);
	assert_int_equal(expect(&second, 0, IBSA_REGISTRATION_RELEASED)->err,
			 -EEXIST);
	ibsa_service_rec_release(record_register(note, &third));
	run_until(&third, 1);
	assert_int_equal(expect(&third, 0, IBSA_REGISTRATION_RELEASED)->err,
			 -ECANCELED);
	close_device();
	assert_int_equal(third.count, 1);
}

/*
 * A handle that has ended, by itself or by a release, must not be the handle of
 * another registration, since the program may still use it.
 */
static void late_release_has_no_effect(void **state)
{
	struct diary diary = { 0 };
	struct ibsa_rec_registration *first, *second, *third;
	struct ibsa_service found;

	(void)state;
	open_device(true);
	first = record_register(note, &diary);
	second = record_register(NULL, NULL);
	run_until(&diary, 1);
	ibsa_service_rec_release(second);
	ibsa_service_rec_release(NULL);
	ibsa_service_rec_release(first);
	run_until(&diary, 2);
	expect(&diary, 1, IBSA_REGISTRATION_RELEASED);
	third = record_register(note, &diary);
	run_until(&diary, 3);
	ibsa_service_rec_release(first);
	ibsa_service_rec_release(second);
	assert_int_equal(ibsa_ib_device_wait(device, SECOND), 0);
	assert_true(service_lookup(&found));
	close_device();
	ibsa_service_rec_release(third);
	assert_int_equal(diary.count, 4);
}

/* A registration that ends before anything is sent ends the wait. */
static void wait_ends_with_what_never_began(void **state)
{
	struct diary diary = { 0 };
	struct ibsa_transport *watch;
	uint64_t before;

	(void)state;
	assert_int_equal(ibsa_fabric_attach(fabric, "node2", 0, &watch), 0);
	open_device(true);
	ibsa_service_rec_release(record_register(note, &diary));
	before = watch->ops->now_ns(watch);
	assert_int_equal(ibsa_ib_device_wait(device, -1), 0);
	assert_int_equal(diary.count, 1);
	assert_int_equal(watch->ops->now_ns(watch), before);
	ibsa_service_rec_release(record_register(note, &diary));
	ib_sa_unregister_client(&client);
	assert_int_equal(diary.count, 2);
	assert_int_equal(watch->ops->now_ns(watch), before);
	ibsa_ib_device_put(device);
	watch->ops->close(watch);
}

/* Invalid arguments are refused at once, and there is no report. */
static void wrong_arguments_are_refused(void **state)
{
	struct ib_sa_service_rec rec = record();
	struct ib_sa_client nobody = { 0 };
	struct ibsa_rec_registration *registration;

	(void)state;
	open_device(true);
	assert_int_equal(ibsa_service_rec_register(&nobody, device, 1, &rec, 0,
						   NULL, NULL, &registration),
			 -EINVAL);
	assert_int_equal(ibsa_service_rec_register(&client, device, 9, &rec, 0,
						   NULL, NULL, &registration),
			 -ENODEV);
	assert_int_equal(ibsa_service_rec_register(&client, device, 1, &rec,
						   IB_SA_COMP_MASK(40), NULL,
						   NULL, &registration),
			 -EINVAL);
	assert_int_equal(
		ibsa_service_rec_register(&client, device, 1, &rec,
					  IB_SA_SERVICE_REC_SERVICE_LEASE, NULL,
					  NULL, &registration),
		-EINVAL);
	assert_int_equal(
		ibsa_service_rec_register(&client, device, 1, &rec,
					  IB_SA_SERVICE_REC_SERVICE_GID, NULL,
					  NULL, &registration),
		-EINVAL);
	close_device();
}

/*
 * The numbers of reports that count() has received. count() runs on the worker
 * thread of the device; the thread of the test waits in await().
 */
struct ended {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	int registered;
	int released;
};

static void count(const struct ibsa_registration_report *report, void *arg)
{
	struct ended *ended = arg;

	pthread_mutex_lock(&ended->lock);
	ended->registered += report->event == IBSA_REGISTRATION_REGISTERED;
	ended->released += report->event == IBSA_REGISTRATION_RELEASED;
	pthread_cond_broadcast(&ended->cond);
	pthread_mutex_unlock(&ended->lock);
}

static void await(struct ended *ended, const int *what, int times)
{
	pthread_mutex_lock(&ended->lock);
	while (*what < times)
		pthread_cond_wait(&ended->cond, &ended->lock);
	pthread_mutex_unlock(&ended->lock);
}

/*
 * With a worker, a service is registered although the program does not
 * dispatch.
 */
static void worker_registers(void **state)
{
	struct ended ended = { PTHREAD_MUTEX_INITIALIZER,
			       PTHREAD_COND_INITIALIZER, 0, 0 };
	struct ibsa_rec_registration *registration;

	(void)state;
	open_device(false);
	registration = record_register(count, &ended);
	await(&ended, &ended.registered, 1);
	ibsa_service_rec_release(registration);
	await(&ended, &ended.released, 1);
	record_register(count, &ended);
	close_device();
	assert_int_equal(ended.released, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/*
 * A registration that is released while the worker starts it ends like any
 * other.
 */
static void release_meets_the_start(void **state)
{
	struct ended ended = { PTHREAD_MUTEX_INITIALIZER,
			       PTHREAD_COND_INITIALIZER, 0, 0 };

	(void)state;
	open_device(false);
	for (int i = 1; i <= 2000; i++) {
		struct ibsa_rec_registration *registration =
			record_register(count, &ended);

		for (volatile int spin = 0; spin < i * 20; spin++)
			;
		ibsa_service_rec_release(registration);
		await(&ended, &ended.released, i);
	}
	close_device();
	assert_int_equal(ended.released, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(service_stays_until_released),
		TEST(audit_is_the_devices),
		TEST(unregister_and_put_release),
		TEST(unregister_in_a_report_does_not_wait),
		TEST(what_never_began_ends),
		TEST(late_release_has_no_effect),
		TEST(wait_ends_with_what_never_began),
		TEST(wrong_arguments_are_refused),
		TEST(worker_registers),
		TEST(release_meets_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
