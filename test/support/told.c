/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A client with a service and a watch, and counters of their events. */
#include "told.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { WAIT_MS = 10000 };

void told_reply(const struct ibsa_reply *reply, void *arg)
{
	struct told *told = arg;

	told->answers++;
	told->good += ibsa_reply_outcome(reply) == IBSA_OUTCOME_OK;
}

static void note_registration(const struct ibsa_registration_report *report,
			      void *arg)
{
	struct told *told = arg;

	told->registered += report->event == IBSA_REGISTRATION_REGISTERED;
	told->missing += report->event == IBSA_REGISTRATION_LOST;
	told->released += report->event == IBSA_REGISTRATION_RELEASED;
}

static void note_event(const struct ibsa_event *event, void *arg)
{
	struct told *told = arg;

	told->subscribed += event->kind == IBSA_EVENT_SUBSCRIBED;
	told->lost += event->kind == IBSA_EVENT_LOST;
	told->gaps += event->kind == IBSA_EVENT_GAP;
	told->reports += event->kind == IBSA_EVENT_GID_IN;
	told->ended += event->kind == IBSA_EVENT_ENDED;
}

void told_watch(struct ibsa_client *client, uint64_t service_id,
		struct told *told)
{
	const struct ibsa_service service = { .service_id = service_id };
	const struct ibsa_service_options service_registration = {
		.service = &service,
		.mask = IBSA_SERVICE_CM(service_id),
	};

	assert_int_equal(ibsa_event_watch_start(client, NULL, note_event, told,
						NULL, &told->watch),
			 0);
	told_await(client, &told->subscribed, 1);
	assert_int_equal(ibsa_service_register(client, &service_registration,
					       note_registration, told,
					       &told->registration),
			 0);
	told_await(client, &told->registered, 1);
}

void told_await(struct ibsa_client *client, const int *what, int times)
{
	while (*what < times)
		assert_int_equal(ibsa_wait(client, WAIT_MS), 0);
}
