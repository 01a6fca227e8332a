/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Helpers for tests of service registrations on an embedded fabric. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "test/support/service_support.h"

/* FABRIC is a topology with node1 and node2, from the build. */

struct ibsa_fabric *fabric;

int set_up(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = 1 };

	(void)state;
	return ibsa_fabric_load(FABRIC, &options, NULL, &fabric);
}

int tear_down(void **state)
{
	(void)state;
	ibsa_fabric_put(fabric);
	return 0;
}

struct ibsa_client *open_on(const char *node)
{
	struct ibsa_options options = { .seed = 1, .deadline_ms = 3 * SECOND };
	struct ibsa_client *client;

	assert_int_equal(
		ibsa_fabric_attach(fabric, node, 0, &options.transport), 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	return client;
}

void note(const struct ibsa_registration_report *report, void *arg)
{
	struct diary *diary = arg;

	assert_in_range(diary->count, 0, SEEN - 1);
	diary->services[diary->count] = *report->service;
	diary->reports[diary->count++] = *report;
	if (diary->client)
		diary->close_err = ibsa_close(diary->client);
	if (diary->release) {
		diary->release = false;
		diary->release_err = ibsa_service_release(report->registration);
	}
}

void pass(struct ibsa_client *client, unsigned int ms)
{
	while (ms--) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
}

const struct ibsa_service disk = { .service_id = ID,
				   .service_name = "disk",
				   .service_data8 = { 1, 2, 3 } };

struct ibsa_registration *service_add(struct ibsa_client *client,
				      const struct ibsa_service *service,
				      struct diary *diary)
{
	const struct ibsa_service_options options = { .service = service };
	struct ibsa_registration *registration;

	*diary = (struct diary){ 0 };
	assert_int_equal(ibsa_service_register(client, &options, note, diary,
					       &registration),
			 0);
	assert_int_equal(diary->count, 0);
	return registration;
}

const struct ibsa_registration_report *
expect(const struct diary *diary, int n, enum ibsa_registration_event event)
{
	assert_in_range(n, 0, diary->count - 1);
	assert_int_equal(diary->reports[n].event, event);
	return &diary->reports[n];
}

static void take(const struct ibsa_reply *reply, void *arg)
{
	if (reply->count)
		assert_int_equal(ibsa_reply_decode(reply, 0, arg,
						   sizeof(struct ibsa_service)),
				 0);
}

bool service_lookup(struct ibsa_service *out)
{
	const struct ibsa_service match = { .service_id = ID };
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &match,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_client *client = open_on("node2");
	int err = ibsa_query_wait(client, &query, take, out);

	assert_int_equal(ibsa_close(client), 0);
	assert_true(err == 0 || err == -EREMOTEIO);
	return !err;
}

uint64_t requests(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.requests;
}

void fault(enum ibsa_fault_kind kind, double percent)
{
	const struct ibsa_fault fault = { .kind = kind, .percent = percent };

	assert_int_equal(ibsa_fabric_fault(fabric, &fault), 0);
}
