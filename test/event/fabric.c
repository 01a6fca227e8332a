/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events on an embedded fabric with faults. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/event.h>
#include <ibsa/fabric.h>

enum {
	HOSTS = 16,
	SEEN = 4096,
	MS = 1000000,
	AUDIT_MS = IBSA_DEFAULT_AUDIT_MS
};

static struct ibsa_fabric *fabric;
static struct ibsa_client *client;

/* The events of the watch. */
static struct {
	int count;
	struct ibsa_event events[SEEN];
} seen;

static void note(const struct ibsa_event *event, void *arg)
{
	(void)arg;
	assert_in_range(seen.count, 0, SEEN - 1);
	seen.events[seen.count++] = *event;
}

/* Load sixteen hosts on one switch; the SM is on H1, the client on H2. */
static void load(void)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = 1 };
	char text[2048];
	size_t len = 0;

	len += (size_t)snprintf(text + len, sizeof(text) - len,
				"Switch 36 \"S\"\n");
	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"[%d] \"H%d\"[1]\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"\nCa 1 \"H%d\"\n[1] \"S\"[%d]\n", i,
					i);
	assert_int_equal(ibsa_fabric_parse(text, len, &options, NULL, &fabric),
			 0);
}

static int set_up(void **state)
{
	struct ibsa_options options = { .seed = 1, .device = "H2" };

	(void)state;
	load();
	seen.count = 0;
	options.on = fabric;
	return ibsa_open(&options, NULL, &client);
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(seen.events[seen.count - 1].kind, IBSA_EVENT_ENDED);
	ibsa_fabric_put(fabric);
	return 0;
}

static void time_pass(unsigned int ms)
{
	while (ms--) {
		assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
}

static void watch_by(const struct ibsa_event_options *options, unsigned int ms)
{
	struct ibsa_event_watch *watch;

	assert_int_equal(ibsa_event_watch_start(client, options, note, NULL,
						NULL, &watch),
			 0);
	time_pass(ms);
	assert_int_equal(seen.events[0].kind, IBSA_EVENT_SUBSCRIBED);
}

static void watch_begin(unsigned int kinds)
{
	watch_by(&(struct ibsa_event_options){ .kinds = kinds }, 50);
}

static void lose(double percent, unsigned int count)
{
	const struct ibsa_fault fault = { .kind = IBSA_FAULT_LOSE,
					  .percent = percent,
					  .count = count };

	assert_int_equal(ibsa_fabric_fault(fabric, &fault), 0);
}

static void set_link(const char *node, bool up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = up,
	};

	assert_int_equal(ibsa_fabric_port_set(fabric, node, 1, &change), 0);
}

static struct ibsa_gid gid_of(const char *node)
{
	struct ibsa_fabric_port port;

	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		if (!strcmp(port.node, node))
			return port.state.gid;
	}
	fail();
	return (struct ibsa_gid){ { 0 } };
}

/* Return: how many events of @kind there are from the @from-th on. */
static int count(int from, enum ibsa_event_kind kind)
{
	int found = 0;

	for (int i = from; i < seen.count; i++)
		found += seen.events[i].kind == kind;
	return found;
}

/* Check that the last event is of @kind and about @node. */
static void assert_last(enum ibsa_event_kind kind, const char *node)
{
	const struct ibsa_event *last = &seen.events[seen.count - 1];
	const struct ibsa_gid gid = gid_of(node);

	assert_string_equal(ibsa_event_name(last->kind), ibsa_event_name(kind));
	assert_memory_equal(&last->gid, &gid, sizeof(gid));
	assert_int_equal(last->port_num, 1);
}

static void host_leaves_and_comes_back(void **state)
{
	(void)state;
	watch_begin(0);
	time_pass(100);
	set_link("H5", false);
	time_pass(100);
	assert_last(IBSA_EVENT_GID_OUT, "H5");
	set_link("H5", true);
	time_pass(100);
	assert_last(IBSA_EVENT_GID_IN, "H5");
	assert_int_equal(count(0, IBSA_EVENT_GID_OUT), 1);
	assert_int_equal(count(0, IBSA_EVENT_GAP), 0);
}

/* Events of links and nodes are delivered to a watch that selects them. */
static void links_and_changes_are_reported(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_CAPABILITIES,
		.capability_mask = 0x10000,
	};
	struct ibsa_fabric_port h5;

	(void)state;
	assert_int_equal(ibsa_fabric_port_at(fabric, 4, &h5), 0);
	watch_begin(IBSA_EVENT_ALL);
	time_pass(100);
	set_link("H7", false);
	time_pass(100);
	assert_int_equal(count(0, IBSA_EVENT_LINK_STATE), 1);
	assert_int_equal(count(0, IBSA_EVENT_GID_OUT), 1);
	assert_int_equal(ibsa_fabric_port_set(fabric, h5.node, 1, &change), 0);
	time_pass(100);
	assert_int_equal(seen.events[seen.count - 1].kind,
			 IBSA_EVENT_LOCAL_CHANGES);
	assert_int_equal(seen.events[seen.count - 1].lid, h5.state.lid);
}

/* Only one client at a port gets Reports, as with the kernel. */
static void second_client_of_the_port_is_refused(void **state)
{
	struct ibsa_options options = { .device = "H2", .on = fabric };
	struct ibsa_event_watch *watch_of;
	struct ibsa_client *second;
	struct ibsa_error error;

	(void)state;
	watch_begin(0);
	assert_int_equal(ibsa_open(&options, NULL, &second), 0);
	assert_int_equal(ibsa_event_watch_start(second, NULL, note, NULL,
						&error, &watch_of),
			 -EBUSY);
	assert_non_null(strstr(error.text, "another client, of this"));
	assert_int_equal(ibsa_close(second), 0);
}

/* The SA restarts: it reports all ports as new, and later events as before. */
static void sa_restarts(void **state)
{
	int from;

	(void)state;
	watch_begin(0);
	time_pass(1000);
	from = seen.count;
	ibsa_fabric_sa_set(fabric, false);
	time_pass(3000);
	ibsa_fabric_sa_set(fabric, true);
	time_pass(5000);
	assert_int_equal(count(from, IBSA_EVENT_LOST), 1);
	assert_int_equal(count(from, IBSA_EVENT_SUBSCRIBED), 1);
	assert_int_equal(count(from, IBSA_EVENT_GAP), 1);
	assert_int_equal(count(from, IBSA_EVENT_GID_IN), HOSTS + 1);
	set_link("H5", false);
	time_pass(100);
	assert_last(IBSA_EVENT_GID_OUT, "H5");
}

static void sa_moves(void **state)
{
	(void)state;
	watch_begin(0);
	time_pass(1000);
	assert_int_equal(ibsa_fabric_sa_move(fabric, "H9"), 0);
	time_pass(3000);
	assert_int_equal(count(0, IBSA_EVENT_GAP), 1);
	set_link("H5", false);
	time_pass(100);
	assert_last(IBSA_EVENT_GID_OUT, "H5");
}

/* While the client's own port is down, it gets no events and reports LOST. */
static void own_port_goes_down(void **state)
{
	(void)state;
	watch_begin(0);
	time_pass(1000);
	set_link("H2", false);
	time_pass(1100);
	assert_int_equal(seen.events[seen.count - 1].kind, IBSA_EVENT_LOST);
	assert_int_equal(seen.events[seen.count - 1].err, -ENETDOWN);
	set_link("H5", false);
	time_pass(1000);
	set_link("H2", true);
	time_pass(3000);
	assert_int_equal(count(0, IBSA_EVENT_GAP), 1);
	assert_int_equal(count(0, IBSA_EVENT_GID_OUT), 0);
	set_link("H5", true);
	time_pass(100);
	assert_last(IBSA_EVENT_GID_IN, "H5");
}

/*
 * Check that a host's events say in turn that it is down and up. The same event
 * may follow once for each Report that the SA stopped sending.
 */
static void assert_turns(const char *node, uint64_t given_up)
{
	const struct ibsa_gid gid = gid_of(node);
	enum ibsa_event_kind last = IBSA_EVENT_GID_IN;
	uint64_t left_out = 0;

	for (int i = 0; i < seen.count; i++) {
		const struct ibsa_event *event = &seen.events[i];

		if (!(event->kind & IBSA_EVENT_OF_SM) ||
		    memcmp(&event->gid, &gid, sizeof(gid)) != 0)
			continue;
		left_out += event->kind == last;
		last = event->kind;
	}
	assert_true(left_out <= given_up);
}

/* Although MADs are lost, delayed, duplicated and reordered, each event is
 * delivered once. */
static void impaired_links_change_nothing(void **state)
{
	static const struct ibsa_fault faults[] = {
		{ .kind = IBSA_FAULT_LOSE, .percent = 10 },
		{ .kind = IBSA_FAULT_DUPLICATE, .percent = 30 },
		{ .kind = IBSA_FAULT_REORDER, .percent = 30 },
	};
	struct ibsa_fabric_stats stats;

	(void)state;
	watch_begin(0);
	time_pass(1000);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		assert_int_equal(ibsa_fabric_fault(fabric, &faults[i]), 0);
	for (int i = 0; i < 100; i++) {
		char node[8];

		snprintf(node, sizeof(node), "H%d", 3 + i % (HOSTS - 2));
		set_link(node, false);
		time_pass(1500);
		set_link(node, true);
		time_pass(1500);
	}
	time_pass(5000);
	ibsa_fabric_stats_get(fabric, &stats);
	assert_in_range(count(0, IBSA_EVENT_GID_OUT), 90, 100);
	assert_in_range(count(0, IBSA_EVENT_GID_IN), 90, 100);
	for (int i = 3; i <= HOSTS; i++) {
		char node[8];

		snprintf(node, sizeof(node), "H%d", i);
		assert_turns(node, stats.reports_unanswered);
	}
	lose(0, 0);
}

/* All four tries of Reports are lost; the audit of nodes finds the changes. */
static void audit_finds_lost_reports(void **state)
{
	(void)state;
	watch_by(&(struct ibsa_event_options){ .audit_nodes = true }, 1000);
	for (int i = 3; i <= HOSTS; i++) {
		char node[8];

		snprintf(node, sizeof(node), "H%d", i);
		for (int up = 0; up <= 1; up++) {
			lose(100, 4);
			set_link(node, up);
			time_pass(2 * AUDIT_MS);
			assert_last(up ? IBSA_EVENT_GID_IN : IBSA_EVENT_GID_OUT,
				    node);
			assert_true(seen.events[seen.count - 1].audited);
		}
	}
	assert_int_equal(seen.count, 1 + 2 * (HOSTS - 2));
}

/* Return: whether the last event of a host, if any, says that it is up. */
static bool is_reported_up(const char *node)
{
	const struct ibsa_gid gid = gid_of(node);

	for (int i = seen.count - 1; i >= 0; i--) {
		const struct ibsa_event *event = &seen.events[i];

		if (!memcmp(&event->gid, &gid, sizeof(gid)))
			return event->kind == IBSA_EVENT_GID_IN;
	}
	return true;
}

/*
 * Hosts join and leave at any time, also while a table is being read. Two
 * intervals after the last change, the watch has the right state of each host.
 */
static void audit_finds_all_changes(double percent, bool *is_up)
{
	uint32_t number = 1;

	for (int round = 0; round < 20; round++) {
		char node[8];

		lose(percent, 0);
		for (int i = 0; i < 6; i++) {
			int host;

			number = number * 1103515245 + 12345;
			host = 3 + (int)(number >> 16) % (HOSTS - 2);
			snprintf(node, sizeof(node), "H%d", host);
			is_up[host] = !is_up[host];
			set_link(node, is_up[host]);
			time_pass((number >> 8) % 2000);
		}
		time_pass(2 * AUDIT_MS);
		for (int i = 3; i <= HOSTS; i++) {
			snprintf(node, sizeof(node), "H%d", i);
			assert_int_equal(is_reported_up(node), is_up[i]);
		}
	}
	lose(0, 0);
}

static void audit_finds_changes_under_any_loss(void **state)
{
	static const double percents[] = { 0, 10, 30, 50 };
	bool is_up[HOSTS + 1];

	(void)state;
	memset(is_up, true, sizeof(is_up));
	watch_by(&(struct ibsa_event_options){ .audit_nodes = true }, 1000);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		audit_finds_all_changes(percents[i], is_up);
	assert_in_range(count(0, IBSA_EVENT_GID_OUT), 100, 300);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(host_leaves_and_comes_back),
		TEST(links_and_changes_are_reported),
		TEST(second_client_of_the_port_is_refused),
		TEST(sa_restarts),
		TEST(sa_moves),
		TEST(own_port_goes_down),
		TEST(impaired_links_change_nothing),
		TEST(audit_finds_lost_reports),
		TEST(audit_finds_changes_under_any_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
