/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients that only watch, at a fabric server: the server reports each change
 * of their port, so they sleep until there is one.
 */
#include <poll.h>

#include <ibsa/event.h>

#include "base/clock.h"
#include "../support/server_rig.h"

enum {
	IDLE_MS = 3000,
	/*
	 * A timer that is far ahead, such as that of an audit, ends a wait
	 * early now and then.
	 */
	EARLY_WAKES_MAX = 2,
	ASKED_MS = 100, /* interval that a program asks for */
	SOON_MS = 900,	/* less than the default interval */
};

/* The changes that a watch of the port has reported. */
struct seen {
	unsigned int changes;
	struct ibsa_port_state port;
};

static void note_port(unsigned int changes, const struct ibsa_port_state *now,
		      void *arg)
{
	struct seen *seen = arg;

	seen->changes |= changes;
	seen->port = *now;
}

static void note_event(const struct ibsa_event *event, void *arg)
{
	(void)event;
	(void)arg;
}

/*
 * Run the client for @ms, or until @seen has one of @changes. Return: how often
 * it woke up.
 */
static unsigned int run(struct ibsa_client *client, int ms,
			const struct seen *seen, unsigned int changes)
{
	struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };
	const uint64_t start_ns = clock_now_ns();
	unsigned int wakes = 0;
	int left;

	while ((left = ibsa__clock_left_ms(ms, start_ns)) &&
	       !(seen && seen->changes & changes)) {
		int timeout = ibsa_timeout_ms(client);

		if (timeout < 0 || timeout > left)
			timeout = left;
		(void)!poll(&fd, 1, timeout);
		/* An error: the server has ended. */
		(void)!ibsa_dispatch(client);
		wakes += ibsa__clock_left_ms(ms, start_ns) > 0;
	}
	return wakes;
}

static void watch_port(struct ibsa_client *client, unsigned int interval_ms,
		       struct seen *out)
{
	struct ibsa_port_watch *watch;

	*out = (struct seen){ .changes = 0 };
	assert_int_equal(ibsa_port_watch_start(client, interval_ms, note_port,
					       out, &watch),
			 0);
}

static void idle_watchers_do_not_wake_up(void **state)
{
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT,
		.audit_nodes = true,
	};
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	struct ibsa_event_watch *events;
	struct seen seen;

	(void)state;
	watch_port(client, 0, &seen);
	assert_int_equal(ibsa_event_watch_start(client, &options, note_event,
						NULL, NULL, &events),
			 0);
	(void)run(client, 1000, NULL, 0);
	assert_in_range(run(client, IDLE_MS, NULL, 0), 0, EARLY_WAKES_MAX);
	server_command(server, "link down right/1");
	(void)run(client, SOON_MS, &seen, IBSA_PORT_CHANGE_STATE);
	assert_int_equal(seen.port.port_state, 1);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

static void an_interval_that_was_asked_for_is_kept(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	struct seen seen[2];

	(void)state;
	watch_port(client, 0, &seen[0]);
	watch_port(client, ASKED_MS, &seen[1]);
	assert_true(run(client, 10 * ASKED_MS, NULL, 0) >= 5);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

static void a_restart_of_the_server_is_reported(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_client *client = server_client(server, "right");
	struct seen seen;

	(void)state;
	watch_port(client, 0, &seen);
	(void)run(client, 100, NULL, 0);
	server_end(server);
	(void)run(client, SOON_MS, &seen, IBSA_PORT_CHANGE_STATE);
	assert_int_equal(seen.port.port_state, 1);
	seen.changes = 0;
	server_restart(server);
	(void)run(client, 10000, &seen, IBSA_PORT_CHANGE_REREGISTER);
	assert_int_equal(seen.port.port_state, 4);
	assert_in_range(run(client, IDLE_MS, NULL, 0), 0, EARLY_WAKES_MAX);
	seen.changes = 0;
	server_command(server, "link down right/1");
	(void)run(client, SOON_MS, &seen, IBSA_PORT_CHANGE_STATE);
	assert_int_equal(seen.port.port_state, 1);
	assert_int_equal(ibsa_close(client), 0);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_watchers_do_not_wake_up),
		cmocka_unit_test(an_interval_that_was_asked_for_is_kept),
		cmocka_unit_test(a_restart_of_the_server_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
