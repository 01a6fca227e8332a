/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many services, memberships and subscriptions after the SM has moved: how
 * evenly the requests are spread over the recovery, and how long the recovery
 * takes.
 */
#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ibsa/event.h>
#include <ibsa/ib_sa.h>
#include <ibsa/service.h>
#include <ibsa/fabric.h>

enum {
	HOSTS = 101,
	SERVICES = 1000,
	MEMBERSHIPS = 1000,
	SUBSCRIPTIONS = 100,
	MS = 1000000,
	SLICE_MS = 100,
	LIMIT_MS = IBSA_DEFAULT_AUDIT_MS,
	SLICES = LIMIT_MS / SLICE_MS,
	FULL_MEMBER = 1,
};

static struct ibsa_fabric *fabric;
static struct ibsa_client *clients[HOSTS];
static struct ib_device *devices[HOSTS];
static struct ib_sa_client sa_client;
static struct ib_sa_multicast *members[MEMBERSHIPS];

/* Registrations that the SA has confirmed since the last reset. */
static struct {
	unsigned int services, memberships, subscriptions;
} confirmed;

static void service_note(const struct ibsa_registration_report *report,
			 void *arg)
{
	(void)arg;
	confirmed.services += report->event == IBSA_REGISTRATION_REGISTERED;
}

static void watch_note(const struct ibsa_event *event, void *arg)
{
	(void)arg;
	confirmed.subscriptions += event->kind == IBSA_EVENT_SUBSCRIBED;
}

static ib_sa_comp_mask group_mask(void)
{
	return IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
	       IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
	       IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_FLOW_LABEL |
	       IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_JOIN_STATE;
}

static int member_note(int status, struct ib_sa_multicast *multicast);

static void member_join(size_t number, struct ib_device *device,
			const struct ib_sa_mcmember_rec *rec)
{
	struct ib_sa_mcmember_rec copy = *rec;

	members[number] = ib_sa_join_multicast(&sa_client, device, 1, &copy,
					       group_mask(), 0, member_note,
					       &members[number]);
	assert_false(ibsa_is_err(members[number]));
}

static struct ib_device *member_device(size_t number);

/* A membership that has ended is joined again, as ib_sa_join_multicast()
 * describes. */
static int member_note(int status, struct ib_sa_multicast *multicast)
{
	const size_t number =
		(size_t)((struct ib_sa_multicast **)multicast->context -
			 members);

	if (!status) {
		confirmed.memberships++;
		return 0;
	}
	assert_int_equal(status, -ENETRESET);
	member_join(number, member_device(number), &multicast->rec);
	return 1;
}

static void fabric_load(void)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = 1 };
	enum { TEXT_BYTES = 1 << 16 };
	char *text = malloc(TEXT_BYTES);
	FILE *out = fmemopen(text, TEXT_BYTES, "w");
	long len;

	assert_non_null(out);
	fprintf(out, "Switch %d \"S\"\n", HOSTS);
	for (int i = 0; i < HOSTS; i++)
		fprintf(out, "[%d] \"H%d\"[1]\n", i + 1, i);
	for (int i = 0; i < HOSTS; i++)
		fprintf(out, "\nCa 1 \"H%d\"\n[1] \"S\"[%d]\n", i, i + 1);
	len = ftell(out);
	fclose(out);
	assert_int_equal(ibsa_fabric_parse(text, (size_t)len, &options, NULL,
					   &fabric),
			 0);
	free(text);
}

static void dispatch_all(void)
{
	assert_int_equal(ibsa_fabric_advance(fabric, MS), 0);
	for (int i = 0; i < HOSTS; i++) {
		if (clients[i])
			assert_int_equal(ibsa_dispatch(clients[i]), 0);
		if (devices[i])
			assert_int_equal(ibsa_ib_device_dispatch(devices[i]),
					 0);
	}
}

static void time_pass(unsigned int ms)
{
	while (ms--)
		dispatch_all();
}

static struct ibsa_client *client_of(int host)
{
	char name[16];
	struct ibsa_options options = { .device = name,
					.on = fabric,
					.seed = (uint64_t)host + 1 };

	snprintf(name, sizeof(name), "H%d", host);
	if (!clients[host])
		assert_int_equal(ibsa_open(&options, NULL, &clients[host]), 0);
	return clients[host];
}

static struct ib_device *device_of(int host)
{
	char name[16];
	const struct ibsa_ib_device_options options = {
		.name = name,
		.on = fabric,
		.no_thread = true,
	};

	snprintf(name, sizeof(name), "H%d", host);
	if (!devices[host])
		assert_int_equal(
			ibsa_ib_device_open(&options, NULL, &devices[host]), 0);
	return devices[host];
}

static void service_begin(int host, unsigned int number)
{
	const struct ibsa_service service = { .service_id = number + 1,
					      .service_name = "disk" };
	const struct ibsa_service_options options = { .service = &service };
	struct ibsa_registration *registration;

	assert_int_equal(ibsa_service_register(client_of(host), &options,
					       service_note, NULL,
					       &registration),
			 0);
}

static void membership_begin(int host, size_t number)
{
	struct ib_sa_mcmember_rec rec = { .join_state = FULL_MEMBER,
					  .pkey = htobe16(0xffff),
					  .qkey = htobe32(0x1b) };
	struct ibsa_port_state port;

	assert_int_equal(ibsa_port_get(client_of(host), false, &port), 0);
	memcpy(&rec.port_gid, &port.gid, sizeof(port.gid));
	rec.mgid.raw[0] = 0xff;
	rec.mgid.raw[1] = 0x12;
	rec.mgid.raw[14] = (uint8_t)(number >> 8);
	rec.mgid.raw[15] = (uint8_t)number;
	member_join(number, device_of(host), &rec);
}

/* Subscribe to the traps of switches: with those of the SM, each subscription
 * would cause a Report for each port. */
static void watch_begin(int host)
{
	const struct ibsa_event_options options = {
		.kinds = IBSA_EVENT_LINK_STATE,
	};
	struct ibsa_event_watch *watch;

	assert_int_equal(ibsa_event_watch_start(client_of(host), &options,
						watch_note, NULL, NULL, &watch),
			 0);
}

/* Number of hosts among which the services and memberships are divided. */
static int sharers;

static struct ib_device *member_device(size_t number)
{
	return device_of(1 + (int)number % sharers);
}

static void fabric_settle(void)
{
	for (unsigned int ms = 0; ms < LIMIT_MS; ms++) {
		if (confirmed.services == SERVICES &&
		    confirmed.memberships == MEMBERSHIPS &&
		    confirmed.subscriptions == SUBSCRIPTIONS)
			return;
		dispatch_all();
	}
	fail_msg("not registered: %u services, %u memberships, "
		 "%u subscriptions",
		 confirmed.services, confirmed.memberships,
		 confirmed.subscriptions);
}

/* The hosts read their ports at times that are spread over the interval. */
static void register_all(int hosts)
{
	sharers = hosts;
	ib_sa_register_client(&sa_client);
	for (int host = 1; host <= SUBSCRIPTIONS; host++) {
		watch_begin(host);
		for (unsigned int i = 0; i < SERVICES && host <= hosts; i++) {
			if ((int)i % hosts == host - 1)
				service_begin(host, i);
		}
		for (size_t i = 0; i < MEMBERSHIPS && host <= hosts; i++) {
			if ((int)i % hosts == host - 1)
				membership_begin(host, i);
		}
		time_pass(IBSA_DEFAULT_PORT_INTERVAL_MS / SUBSCRIPTIONS);
	}
	fabric_settle();
	time_pass(3000);
}

static int fabric_start(void **state)
{
	(void)state;
	memset(&confirmed, 0, sizeof(confirmed));
	fabric_load();
	return 0;
}

static int fabric_stop(void **state)
{
	(void)state;
	ib_sa_unregister_client(&sa_client);
	for (int host = 0; host < HOSTS; host++) {
		ibsa_close(clients[host]);
		clients[host] = NULL;
		if (devices[host])
			ibsa_ib_device_put(devices[host]);
		devices[host] = NULL;
	}
	ibsa_fabric_put(fabric);
	return 0;
}

static uint64_t requests(void)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(fabric, &stats);
	return stats.requests;
}

/* Number of requests in each time slice, and in the busiest one. */
struct load {
	uint64_t total, most;
	unsigned int slices, busiest;
};

static bool is_recovered(void)
{
	return confirmed.services >= SERVICES &&
	       confirmed.memberships >= MEMBERSHIPS &&
	       confirmed.subscriptions >= SUBSCRIPTIONS;
}

static void slice_count(struct load *load)
{
	const uint64_t before = requests();
	uint64_t sent;

	time_pass(SLICE_MS);
	sent = requests() - before;
	load->total += sent;
	if (sent > load->most) {
		load->most = sent;
		load->busiest = load->slices;
	}
	load->slices++;
}

/* Stop the SM for @stopped_ms and move it. Return: requests until recovery. */
static struct load recover(unsigned int stopped_ms)
{
	struct load load = { 0 };

	if (stopped_ms)
		ibsa_fabric_sa_set(fabric, false);
	time_pass(stopped_ms);
	memset(&confirmed, 0, sizeof(confirmed));
	assert_int_equal(ibsa_fabric_sa_move(fabric, "H100"), 0);
	if (stopped_ms)
		ibsa_fabric_sa_set(fabric, true);
	while (!is_recovered() && load.slices < SLICES)
		slice_count(&load);
	return load;
}

static void count_records(const struct ibsa_reply *reply, void *arg)
{
	*(size_t *)arg = reply->count;
}

static size_t records(const struct ibsa_record *record)
{
	const struct ibsa_query query = { .record = record,
					  .method = IBSA_METHOD_GET_TABLE };
	struct ibsa_client *client = client_of(0);
	size_t count = 0;

	assert_int_equal(ibsa_query_wait(client, &query, count_records, &count),
			 0);
	return count;
}

static void assert_all_at_sa(void)
{
	assert_int_equal(records(&ibsa_service_record), SERVICES);
	assert_int_equal(records(&ibsa_inform_info_rec_record), SUBSCRIPTIONS);
	assert_in_range(records(&ibsa_mcmember_record), MEMBERSHIPS,
			MEMBERSHIPS + 1);
}

static void recovery_is_even(int hosts, unsigned int stopped_ms)
{
	struct load load;

	register_all(hosts);
	load = recover(stopped_ms);
	print_message("%d hosts: %u services, %u memberships and %u "
		      "subscriptions after %u ms; %ju requests, %ju a slice, "
		      "at most %ju, after %u ms\n",
		      hosts, confirmed.services, confirmed.memberships,
		      confirmed.subscriptions, load.slices * SLICE_MS,
		      (uintmax_t)load.total,
		      (uintmax_t)(load.total / load.slices),
		      (uintmax_t)load.most, load.busiest * SLICE_MS);
	assert_true(is_recovered());
	assert_all_at_sa();
	assert_true(load.most * load.slices <= 2 * load.total);
}

static void one_host_has_all(void **state)
{
	(void)state;
	recovery_is_even(1, 0);
}

static void hundred_hosts_share_all(void **state)
{
	(void)state;
	recovery_is_even(100, 0);
}

static void sm_was_stopped(void **state)
{
	(void)state;
	recovery_is_even(1, 5000);
}

/* Registrations of one second are read back within the random eighth of the
 * interval. */
static void reads_are_spread(void **state)
{
	const unsigned int random_slices = LIMIT_MS / 8 / SLICE_MS;
	struct load load = { 0 };

	(void)state;
	register_all(1);
	while (load.slices < SLICES)
		slice_count(&load);
	print_message("%ju requests, at most %ju in a slice\n",
		      (uintmax_t)load.total, (uintmax_t)load.most);
	assert_true(load.total >= SERVICES + MEMBERSHIPS);
	assert_true(load.most * random_slices <= 2 * load.total);
}

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, fabric_start, fabric_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_host_has_all),
		TEST(hundred_hosts_share_all),
		TEST(sm_was_stopped),
		TEST(reads_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
