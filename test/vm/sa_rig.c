/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "test/vm/sa_rig.h"

#include <time.h>

#include "test/support/device_now.h"
#include "umad_dev/umad.h"

enum { WAIT_MS = 10000 };

/* Return: the GID of rxe1, where the program "reporter" is the SA. */
static struct ibsa_gid far_gid(void)
{
	struct ibsa_transport *transport;
	struct ibsa_gid_entry entry;

	assert_int_equal(now_umad_open("rxe1", 1, 0, NULL, &transport), 0);
	assert_int_equal(
		transport->ops->gid(transport, REPORTER_GID_INDEX, &entry), 0);
	transport->ops->close(transport);
	return entry.gid;
}

void sa_start(struct sa *sa)
{
	*sa = (struct sa){ .address = { .qpn = IBSA_QPN_GSI,
					.has_grh = true,
					.gid = far_gid(),
					.gid_index = REPORTER_GID_INDEX,
					.hop_limit = REPORTER_HOP_LIMIT } };
	reporter_start(&sa->reporter);
}

void sa_stop(struct sa *sa)
{
	reporter_stop(&sa->reporter);
}

int sa_setup(void **state)
{
	static struct sa sa;

	sa_start(&sa);
	*state = &sa;
	return 0;
}

int sa_teardown(void **state)
{
	sa_stop(*state);
	return 0;
}

void sa_forget(struct sa *sa)
{
	reporter_write(&sa->reporter, "forget\n");
	reporter_await(&sa->reporter, "kept 0");
}

void sa_await_still(struct sa *sa, const char *what)
{
	char line[REPORTER_LINE];

	do {
		reporter_line(&sa->reporter, line);
		assert_string_not_equal(line, "unsubscribed 4");
		assert_string_not_equal(line, "kept 0");
	} while (strcmp(line, what) != 0);
}

unsigned int sa_asked(struct sa *sa)
{
	char line[REPORTER_LINE];
	unsigned int asked;

	reporter_write(&sa->reporter, "count\n");
	do
		reporter_line(&sa->reporter, line);
	while (sscanf(line, "asked %u", &asked) != 1);
	return asked;
}

struct ibsa_client *sa_client(const struct sa *sa,
			      const struct ibsa_options *options)
{
	struct ibsa_options mine = options ? *options
					   : (struct ibsa_options){ 0 };
	struct ibsa_client *client;
	struct ibsa_error error;

	mine.access.sa = &sa->address;
	if (!mine.transport)
		mine.device = "rxe0";
	if (ibsa_open(&mine, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

uint64_t sa_service(char how, uint32_t number)
{
	return (uint64_t)(uint8_t)how << 56 | number;
}

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct sa_seen *seen = arg;
	struct ibsa_service service;

	seen->calls++;
	seen->err = reply->err;
	seen->status = reply->status;
	seen->count = reply->count;
	seen->tries = reply->tries;
	seen->in_order = true;
	for (size_t i = 0; i < reply->count; i++) {
		assert_int_equal(ibsa_reply_decode(reply, i, &service,
						   sizeof(service)),
				 0);
		seen->in_order &= service.service_lease == i;
	}
}

int sa_query_submit(struct ibsa_client *client, uint64_t service,
		    uint8_t method, unsigned int deadline_ms,
		    unsigned int interval_ms, struct sa_seen *seen)
{
	const struct ibsa_service match = { .service_id = service };
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &match,
		.mask = IBSA_SERVICE_CM(service_id),
		.method = method,
		.deadline_ms = deadline_ms,
		.first_interval_ms = interval_ms,
		.jitter_percent = -1,
	};

	*seen = (struct sa_seen){ 0 };
	return ibsa_query_start(client, &query, note, seen, NULL);
}

void sa_wait(struct ibsa_client *client, const struct sa_seen *seen)
{
	const uint64_t end_ms = sa_now_ms() + WAIT_MS;

	while (!seen->calls) {
		int err = ibsa_wait(client, WAIT_MS);

		if (err != -EINTR && err != -ENODEV)
			assert_int_equal(err, 0);
		assert_true(sa_now_ms() < end_ms);
	}
}

void sa_assert_answers(struct ibsa_client *client)
{
	struct sa_seen seen;

	assert_int_equal(sa_query_submit(client, sa_service('A', 0),
					 IBSA_METHOD_GET, 0, 0, &seen),
			 0);
	sa_wait(client, &seen);
	assert_int_equal(seen.calls, 1);
	assert_int_equal(seen.err, 0);
	assert_int_equal(seen.status, 0);
}

uint64_t sa_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
