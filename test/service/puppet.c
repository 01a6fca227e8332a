/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A registered service and an SA whose replies the test chooses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "service/services.h"
#include "test/support/puppet.h"
#include "wire/mad.h"

enum {
	MS = 1000000,
	GID_AT = IBSA_SA_HEADER_BYTES + 8,
	LEASE_AT = IBSA_SA_HEADER_BYTES + 28,
	KEY_AT = IBSA_SA_HEADER_BYTES + 32,
	NAME_AT = IBSA_SA_HEADER_BYTES + 48,
	RECORD_BYTES = 176,
	AUDIT_MS = IBSA_DEFAULT_AUDIT_MS,
	/* until a change of the port is acted on: a read, and at most 500 ms */
	NOTICE_MS = IBSA_DEFAULT_PORT_INTERVAL_MS + 501,
};

static struct puppet puppet;
static struct ibsa__engine *engine;
static struct ibsa__services services;

/* Number of reports, and the last one. */
static struct {
	int count;
	struct ibsa_registration_report last;
	struct ibsa_service service;
	int free_err;
} reported;

static int set_up(void **state)
{
	(void)state;
	puppet_init(&puppet);
	puppet.port.gid = (struct ibsa_gid){ { 0xfe, 0x80, [15] = 1 } };
	engine = puppet_engine(&puppet, &puppet_options);
	ibsa__services_init(&services, engine);
	memset(&reported, 0, sizeof(reported));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ibsa__registrations_close(&services.registrations);
	ibsa__registrations_end(&services.registrations);
	assert_int_equal(ibsa__engine_free(engine), 0);
	assert_true(list_is_empty(&services.registrations.list));
	assert_int_equal(reported.last.event, IBSA_REGISTRATION_RELEASED);
	assert_int_equal(reported.free_err, -EBUSY);
	return 0;
}

static void report_note(const struct ibsa_registration_report *report,
			void *arg)
{
	(void)arg;
	assert_int_not_equal(reported.last.event, IBSA_REGISTRATION_RELEASED);
	reported.count++;
	reported.last = *report;
	reported.service = *report->service;
	reported.free_err = ibsa__engine_free(engine);
}

/* Register a service, up to its first request. */
static struct ibsa_registration *service_add(uint32_t lease)
{
	const struct ibsa_service service = { .service_id = 7,
					      .service_lease = lease,
					      .service_key = { 1, 2 },
					      .service_name = "disk" };
	const struct ibsa_service_options options = { .service = &service };
	struct ibsa_registration *registration;

	assert_int_equal(ibsa__services_add(&services, &options, report_note,
					    NULL, &registration),
			 0);
	puppet_advance(&puppet, engine, 1);
	return registration;
}

/* Check that the last request has @method. Return: the request. */
static const struct puppet_mad *last_request(uint8_t method)
{
	const struct puppet_mad *mad = puppet_sent(&puppet,
						   puppet.sent_count - 1);

	assert_int_equal(mad->mad[MAD_METHOD], method);
	return mad;
}

/* Answer the last request, which has @method, with its own record. */
static void request_answer(uint8_t method, uint16_t status)
{
	struct puppet_mad reply = puppet_answer(last_request(method));

	ibsa_put_be16(reply.mad + MAD_STATUS, status);
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
}

/* Let @ms pass in steps of 1 ms. Return: how many MADs were sent. */
static unsigned int time_pass(unsigned int ms)
{
	unsigned int before = puppet.sent_count;

	while (ms--)
		puppet_advance(&puppet, engine, 1);
	return puppet.sent_count - before;
}

/*
 * Let time pass until the next request is sent. Return: how many ms have
 * passed.
 */
static unsigned int until_sent(void)
{
	unsigned int ms = 0;

	while (!time_pass(1))
		ms++;
	return ms + 1;
}

static void expect_report(int count, enum ibsa_registration_event event,
			  int err)
{
	assert_int_equal(reported.count, count);
	assert_int_equal(reported.last.event, event);
	assert_int_equal(reported.last.err, err);
}

static struct ibsa_registration *service_add_confirmed(uint32_t lease)
{
	struct ibsa_registration *registration = service_add(lease);

	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
	return registration;
}

/* A Set has the identity and the lease, a Get only the identity. */
static void masks_are_complete(void **state)
{
	const uint64_t identity = IBSA_SERVICE_CM(service_id) |
				  IBSA_SERVICE_CM(service_gid) |
				  IBSA_SERVICE_CM(service_pkey);

	(void)state;
	service_add(0);
	assert_int_equal(IBSA_GET(sa_header, component_mask,
				  last_request(IBSA_METHOD_SET)->mad),
			 identity | IBSA_SERVICE_CM(service_lease) |
				 IBSA_SERVICE_CM(service_key) |
				 IBSA_SERVICE_CM(service_name));
	request_answer(IBSA_METHOD_SET, 0);
	assert_int_equal(IBSA_GET(sa_header, component_mask,
				  last_request(IBSA_METHOD_GET)->mad),
			 identity);
}

/* Return: how often the service @id was read. */
static unsigned int reads_of(uint64_t id)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < puppet.sent_count; i++) {
		const uint8_t *mad = puppet_sent(&puppet, i)->mad;

		count += mad[MAD_METHOD] == IBSA_METHOD_GET &&
			 ibsa_be64(mad + IBSA_SA_HEADER_BYTES) == id;
	}
	return count;
}

/* Repeated changes of the port do not delay the read of the last service
 * without end. */
static void repeated_changes_delay_no_read_without_end(void **state)
{
	const struct ibsa_service service = { .service_id = 8 };
	const struct ibsa_service_options last = { .service = &service };
	struct ibsa_registration *registration;
	struct ibsa_port_state port;
	unsigned int before;

	(void)state;
	service_add_confirmed(0);
	assert_int_equal(ibsa__services_add(&services, &last, NULL, NULL,
					    &registration),
			 0);
	puppet_advance(&puppet, engine, 1);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	before = reads_of(8);
	for (int i = 0; i < 10; i++) {
		puppet.port.sm_sl++;
		assert_int_equal(ibsa__engine_port(engine, true, &port), 0);
		time_pass(200);
	}
	assert_true(reads_of(8) > before);
}

/* The renewal follows half of the granted lease, not of the requested one: a
 * read, then a Set. A service that was just read is not read again. */
static void granted_lease_counts(void **state)
{
	struct puppet_mad reply;

	(void)state;
	service_add(1000);
	reply = puppet_answer(last_request(IBSA_METHOD_SET));
	ibsa_put_be32(reply.mad + LEASE_AT, 20);
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
	assert_int_equal(reported.service.service_lease, 20);
	assert_in_range(until_sent(), 9990, 10010);
	request_answer(IBSA_METHOD_GET, 0);
	assert_int_equal(time_pass(2), 1);
	request_answer(IBSA_METHOD_SET, 0);
	assert_in_range(until_sent(), AUDIT_MS * 7 / 8, AUDIT_MS + 1);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
}

/* A granted lease of 0 is treated as one second. */
static void lease_of_nothing_is_a_second(void **state)
{
	struct puppet_mad reply;

	(void)state;
	service_add(0);
	reply = puppet_answer(last_request(IBSA_METHOD_SET));
	ibsa_put_be32(reply.mad + LEASE_AT, 0);
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	request_answer(IBSA_METHOD_GET, 0);
	assert_int_equal(reported.service.service_lease, 1);
	assert_in_range(until_sent(), 490, 510);
}

/* If the SA accepts a Set but does not have the record, this is a failure. */
static void set_without_effect_is_a_failure(void **state)
{
	unsigned int sets = 0;

	(void)state;
	service_add(0);
	for (unsigned int ms = 0; ms < 60 * 1000; ms++) {
		unsigned int seen = puppet.sent_count;

		if (puppet_sent(&puppet, seen - 1)->mad[MAD_METHOD] ==
		    IBSA_METHOD_SET) {
			request_answer(IBSA_METHOD_SET, 0);
			request_answer(IBSA_METHOD_GET, IBSA_STATUS_NO_RECORDS);
			sets++;
		}
		time_pass(1);
	}
	expect_report(1, IBSA_REGISTRATION_FAILED, -ENOENT);
	assert_in_range(sets, 4, 8);
}

/* Another key, which the SA returns to trusted requests only, and another
 * remaining lease do not make another record; another name does. */
static void name_identifies_the_record(void **state)
{
	struct puppet_mad reply;

	(void)state;
	service_add(0);
	request_answer(IBSA_METHOD_SET, 0);
	reply = puppet_answer(last_request(IBSA_METHOD_GET));
	memset(reply.mad + KEY_AT, 0, 16);
	ibsa_put_be32(reply.mad + LEASE_AT, 17);
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
	assert_int_equal(reported.service.service_lease, IBSA_DEFAULT_LEASE_S);
	until_sent();
	reply = puppet_answer(last_request(IBSA_METHOD_GET));
	reply.mad[NAME_AT] = 'r';
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	expect_report(2, IBSA_REGISTRATION_REPLACED, 0);
	assert_string_equal(reported.service.service_name, "risk");
	time_pass(1);
	last_request(IBSA_METHOD_SET);
}

/* If the SA has several records with the identity, the client reads all. */
static void too_many_records_are_read(void **state)
{
	struct puppet_mad reply;

	(void)state;
	service_add(0);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, IBSA_STATUS_TOO_MANY_RECORDS);
	expect_report(0, 0, 0);
	reply = puppet_answer(last_request(IBSA_METHOD_GET_TABLE));
	ibsa_put_be16(reply.mad + MAD_ATTRIBUTE_OFFSET, RECORD_BYTES / 8);
	memcpy(reply.mad + IBSA_SA_HEADER_BYTES + RECORD_BYTES,
	       reply.mad + IBSA_SA_HEADER_BYTES, RECORD_BYTES);
	reply.mad[NAME_AT + RECORD_BYTES] = 'x';
	reply.len = IBSA_SA_HEADER_BYTES + 2 * RECORD_BYTES;
	puppet_deliver(&puppet, &reply);
	puppet_advance(&puppet, engine, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
	assert_string_equal(reported.service.service_name, "disk");
	until_sent();
	last_request(IBSA_METHOD_GET_TABLE);
	request_answer(IBSA_METHOD_GET_TABLE, 0);
	expect_report(2, IBSA_REGISTRATION_LOST, 0);
}

/*
 * If the SA refuses to return the record, by Get and by GetTable, the service
 * is reported as refused.
 */
static void too_many_again_is_refused(void **state)
{
	(void)state;
	service_add(0);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, IBSA_STATUS_TOO_MANY_RECORDS);
	request_answer(IBSA_METHOD_GET_TABLE, IBSA_STATUS_TOO_MANY_RECORDS);
	expect_report(1, IBSA_REGISTRATION_REFUSED, 0);
	assert_int_equal(reported.last.status, IBSA_STATUS_TOO_MANY_RECORDS);
	assert_in_range(until_sent(), 45000, 60001);
}

/* After a change of the GID, the record with the old GID is deleted. */
static void gid_is_followed(void **state)
{
	(void)state;
	service_add_confirmed(0);
	puppet.port.gid.raw[15] = 2;
	assert_in_range(until_sent(), 1, NOTICE_MS);
	assert_int_equal(last_request(IBSA_METHOD_SET)->mad[GID_AT + 15], 2);
	assert_int_equal(puppet_sent(&puppet, 2)->mad[MAD_METHOD],
			 IBSA_METHOD_DELETE);
	assert_int_equal(puppet_sent(&puppet, 2)->mad[GID_AT + 15], 1);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(2, IBSA_REGISTRATION_REGISTERED, 0);
	assert_int_equal(reported.service.service_gid.raw[15], 2);
}

/* Without a GID or an SM the service waits, and this is reported. */
static void service_waits_for_the_port(void **state)
{
	(void)state;
	puppet.port.sm_lid = 0;
	puppet.port.gid = (struct ibsa_gid){ { 0 } };
	time_pass(100);
	ibsa__engine_free(engine);
	engine = puppet_engine(&puppet, &puppet_options);
	ibsa__services_init(&services, engine);
	service_add(0);
	expect_report(1, IBSA_REGISTRATION_FAILED, -EAGAIN);
	puppet.port.sm_lid = PUPPET_SM_LID;
	assert_int_equal(time_pass(5000), 0);
	puppet.port.gid.raw[0] = 0xfe;
	assert_in_range(until_sent(), 1, NOTICE_MS);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(2, IBSA_REGISTRATION_REGISTERED, 0);
}

/* After each change of the port the record is read, soon but not at once. */
static void port_change_causes_a_read(void **state)
{
	unsigned int total = 0;

	(void)state;
	service_add_confirmed(0);
	for (uint32_t i = 1; i <= 20; i++) {
		unsigned int ms;

		puppet.port.reregisters = i;
		ms = until_sent();
		assert_in_range(ms, 1, NOTICE_MS);
		total += ms;
		request_answer(IBSA_METHOD_GET, 0);
	}
	assert_in_range(total, 20 * 10, 20 * (NOTICE_MS - 300));
	puppet.port.port_state = IBSA_PORT_DOWN;
	assert_int_equal(time_pass(2000), 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
}

static void physical_state_has_nothing_read(void **state)
{
	(void)state;
	service_add_confirmed(0);
	puppet.port.phys_state ^= 3;
	assert_int_equal(time_pass(3000), 0);
}

/* The SM restarted while a request was in flight, which the port shows only
 * when it is read: this is neither a dispute nor a failure. */
static void restart_during_a_request_does_not_count_as_dispute(void **state)
{
	(void)state;
	service_add(0);
	for (uint32_t i = 1; i <= 10; i++) {
		request_answer(IBSA_METHOD_SET, 0);
		puppet.port.reregisters = i;
		request_answer(IBSA_METHOD_GET, IBSA_STATUS_NO_RECORDS);
		expect_report((int)i, IBSA_REGISTRATION_LOST, 0);
		assert_in_range(until_sent(), 1, 501);
	}
	last_request(IBSA_METHOD_SET);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(11, IBSA_REGISTRATION_REGISTERED, 0);
}

/*
 * Another record in the place of the client's one is a dispute, even after a
 * restart of the SM.
 */
static void rival_is_a_dispute_after_a_restart(void **state)
{
	unsigned int ms = 0;

	(void)state;
	service_add(0);
	for (uint32_t i = 1; i <= 6; i++) {
		struct puppet_mad reply;

		request_answer(IBSA_METHOD_SET, 0);
		puppet.port.reregisters = i;
		reply = puppet_answer(last_request(IBSA_METHOD_GET));
		reply.mad[NAME_AT]++;
		puppet_deliver(&puppet, &reply);
		puppet_advance(&puppet, engine, 0);
		expect_report((int)i, IBSA_REGISTRATION_REPLACED, 0);
		ms = until_sent();
	}
	assert_in_range(ms, 12000, 16001);
}

/* A change while a request is in flight takes effect after its reply. */
static void port_change_meanwhile_counts(void **state)
{
	(void)state;
	service_add_confirmed(0);
	until_sent();
	puppet.port.reregisters = 1;
	for (int ms = 0; ms < 1200; ms++)
		puppet_advance(&puppet, engine, 1);
	request_answer(IBSA_METHOD_GET, 0);
	assert_in_range(until_sent(), 1, 501);
	request_answer(IBSA_METHOD_GET, 0);
	assert_in_range(until_sent(), 20000, 30001);
}

/* A release does not wait for a read in flight, but for a Set. */
static void release_waits_for_a_set_only(void **state)
{
	struct ibsa_registration *registration;

	(void)state;
	registration = service_add_confirmed(0);
	until_sent();
	last_request(IBSA_METHOD_GET);
	assert_int_equal(ibsa_service_release(registration), 0);
	time_pass(1);
	request_answer(IBSA_METHOD_DELETE, 0);
	expect_report(2, IBSA_REGISTRATION_RELEASED, 0);
	memset(&reported, 0, sizeof(reported));

	registration = service_add(0);
	assert_int_equal(ibsa_service_release(registration), 0);
	assert_int_equal(ibsa_service_release(registration), -EALREADY);
	puppet_advance(&puppet, engine, 50);
	request_answer(IBSA_METHOD_SET, IBSA_STATUS_REQ_INVALID);
	request_answer(IBSA_METHOD_DELETE, IBSA_STATUS_NO_RECORDS);
	expect_report(1, IBSA_REGISTRATION_RELEASED, 0);
	assert_int_equal(reported.last.status, IBSA_STATUS_NO_RECORDS);
	assert_int_equal(ibsa__engine_timeout_ms(engine), -1);
}

/* Other queries fill the window for longer than the service's deadline: its
 * request waits and is sent when there is room. */
static void request_waits_for_the_window(void **state)
{
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.no_sharing = true,
		.deadline_ms = 30000,
		.jitter_percent = -1,
	};

	(void)state;
	for (unsigned int i = 0; i < puppet_options.window; i++)
		assert_int_equal(ibsa__engine_query(engine, &query, NULL, NULL,
						    NULL),
				 0);
	service_add(0);
	while (puppet.now_ns < UINT64_C(29000) * MS)
		time_pass(1);
	assert_int_equal(reported.count, 0);
	while (puppet.now_ns < UINT64_C(30100) * MS)
		time_pass(1);
	request_answer(IBSA_METHOD_SET, 0);
	request_answer(IBSA_METHOD_GET, 0);
	expect_report(1, IBSA_REGISTRATION_REGISTERED, 0);
}

/* If the SA does not answer the Delete, the service ends all the same. */
static void release_ends_without_a_reply(void **state)
{
	struct ibsa_registration *registration = service_add_confirmed(0);

	(void)state;
	assert_int_equal(ibsa_service_release(registration), 0);
	time_pass(10002);
	expect_report(2, IBSA_REGISTRATION_RELEASED, -ETIMEDOUT);
}

/* The device is gone, so that no Delete can be sent. */
static void gone_device_is_reported(void **state)
{
	struct ibsa_registration *registration = service_add_confirmed(0);

	(void)state;
	puppet.send_err = -ENODEV;
	time_pass(30000);
	expect_report(2, IBSA_REGISTRATION_FAILED, -ENODEV);
	assert_int_equal(ibsa_service_release(registration), 0);
	time_pass(1);
	expect_report(3, IBSA_REGISTRATION_RELEASED, -ENODEV);
}

/* If the engine ends without a dispatch, each service is reported as released,
 * with a request in flight or without. */
static void end_is_reported_in_any_case(void **state)
{
	(void)state;
	service_add_confirmed(0);
	ibsa__registrations_close(&services.registrations);
	ibsa__registrations_end(&services.registrations);
	expect_report(2, IBSA_REGISTRATION_RELEASED, -ECANCELED);
	assert_false(ibsa__engine_is_busy(engine));

	memset(&reported, 0, sizeof(reported));
	services.registrations.closing = false;
	service_add(0);
	ibsa__registrations_close(&services.registrations);
	ibsa__registrations_end(&services.registrations);
	assert_int_equal(reported.count, 0);
	assert_int_equal(ibsa__engine_free(engine), 0);
	assert_int_equal(reported.count, 1);
	assert_int_equal(reported.last.event, IBSA_REGISTRATION_RELEASED);
	set_up(state);
	service_add_confirmed(0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(masks_are_complete),
		TEST(repeated_changes_delay_no_read_without_end),
		TEST(granted_lease_counts),
		TEST(lease_of_nothing_is_a_second),
		TEST(set_without_effect_is_a_failure),
		TEST(name_identifies_the_record),
		TEST(too_many_records_are_read),
		TEST(too_many_again_is_refused),
		TEST(gid_is_followed),
		TEST(service_waits_for_the_port),
		TEST(port_change_causes_a_read),
		TEST(physical_state_has_nothing_read),
		TEST(restart_during_a_request_does_not_count_as_dispute),
		TEST(rival_is_a_dispute_after_a_restart),
		TEST(port_change_meanwhile_counts),
		TEST(release_waits_for_a_set_only),
		TEST(request_waits_for_the_window),
		TEST(release_ends_without_a_reply),
		TEST(gone_device_is_reported),
		TEST(end_is_reported_in_any_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
