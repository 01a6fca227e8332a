/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What happens to a fabric while it runs: its SA moves, its ports change. */
#include <errno.h>

#include "sim_support.h"

#define MS UINT64_C(1000000)
#define S(name) IBSA_STATUS_##name

/* LIDs: a 1, the switches' 4 and 5, b 2, c 3. */
static const char text[] = "Switch 4 \"s\"\n"
			   "[1] \"a\"[1]\n"
			   "[2] \"b\"[1]\n"
			   "[3] \"t\"[1]\n"
			   "Switch 4 \"t\"\n"
			   "[2] \"c\"[1]\n"
			   "Ca 2 \"a\"\n"
			   "Ca 1 \"b\"\n"
			   "Ca 1 \"c\"\n"
			   "Ca 1 \"alone\"\n";

static int start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, text, "b", NULL);
	*state = &bench;
	return 0;
}

static int stop(void **state)
{
	bench_stop(*state);
	return 0;
}

static void set_port(struct bench *bench, const char *node, unsigned int port,
		     const struct ibsa_fabric_port_change *change)
{
	assert_int_equal(
		ibsa_fabric_port_set(bench->fabric, node, port, change), 0);
}

static void set_link(struct bench *bench, const char *node, bool is_up)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = is_up,
	};

	set_port(bench, node, 1, &change);
}

static void refused(struct bench *bench, const char *node, unsigned int port,
		    const struct ibsa_fabric_port_change *change, int err)
{
	assert_int_equal(
		ibsa_fabric_port_set(bench->fabric, node, port, change), err);
}

static struct ibsa_port_state port_of(struct bench *bench)
{
	struct ibsa_port_state port;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port),
			 0);
	return port;
}

/* What a client at @node reads. */
static struct ibsa_port_state port_at(struct bench *bench, const char *node)
{
	struct bench other = *bench;
	struct ibsa_port_state port;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, node, 0,
					    &other.transport),
			 0);
	port = port_of(&other);
	other.transport->ops->close(other.transport);
	return port;
}

static struct ibsa_fabric_stats stats_of(struct bench *bench)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(bench->fabric, &stats);
	return stats;
}

/* How many NodeRecords there are; -1 for silence. */
static int nodes(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
	return bench_ask(bench) ? -1 : (int)bench_count(bench);
}

/* The status of a Get of the path between two LIDs. */
static int ask_path(struct bench *bench, uint16_t slid, uint16_t dlid)
{
	const struct ibsa_path want = { .slid = slid, .dlid = dlid };

	return bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			   IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));
}

static void set_service(struct bench *bench)
{
	const struct ibsa_service service = {
		.service_id = 7,
		.service_gid = port_of(bench).gid,
	};

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service,
				     IBSA_SERVICE_CM(service_id) |
					     IBSA_SERVICE_CM(service_gid)),
			 0);
}

static size_t services(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x0031, 0);
	assert_int_equal(bench_ask(bench), 0);
	return bench_count(bench);
}

static void subscribe(struct bench *bench)
{
	const struct ibsa_inform_info info = {
		.lid_range_begin = 0xffff,
		.is_generic = 1,
		.subscribe = 1,
		.type = 0xffff,
		.trap_number = 0xffff,
		.producer_type = 0xffffff,
	};

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_inform_info_record, &info, 0),
			 0);
}

static size_t subscriptions(struct bench *bench)
{
	bench_request(bench, IBSA_METHOD_GET_TABLE, 0x00f3, 0);
	assert_int_equal(bench_ask(bench), 0);
	return bench_count(bench);
}

static void moved_sa_is_elsewhere_and_knows_nothing(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_address old = bench_sa(bench);
	const uint64_t lost = stats_of(bench).lost;

	set_service(bench);
	subscribe(bench);
	assert_int_equal(port_of(bench).reregisters, 0);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(port_of(bench).sm_lid, 3);
	assert_int_equal(port_of(bench).reregisters, 1);
	assert_int_equal(port_at(bench, "c").reregisters, 1);
	assert_int_equal(services(bench), 0);
	assert_int_equal(subscriptions(bench), 0);
	assert_int_equal(bench->answer.from.lid, 3);

	/* At the old LID there is nobody, and nobody says so. */
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &old,
						     bench->request, 256, 10),
			 0);
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).lost, lost + 1);
	assert_int_equal(nodes(bench), 5);
}

static void what_is_on_its_way_finds_the_sa_gone(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.delay_ms = 10,
	};
	struct bench *bench = *state;
	const uint64_t lost = stats_of(bench).lost;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &delay), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 100 * MS), 0);
	assert_false(bench_receive(bench));
	assert_int_equal(stats_of(bench).lost, lost + 1);
}

/* A request that had come in before is answered by the SA as it was. */
static void what_had_arrived_was_heard(void **state)
{
	const struct ibsa_fault delay = {
		.kind = IBSA_FAULT_DELAY,
		.percent = 100,
		.count = 1,
		.delay_ms = 10,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &delay), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 100 * MS), 0);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_true(bench_receive(bench));
	assert_int_equal(bench->answer.from.lid, 1);
}

static void sa_moves_to_a_switch_and_to_the_first(void **state)
{
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "s"), 0);
	assert_int_equal(port_of(bench).sm_lid, 4);
	assert_int_equal(nodes(bench), 5);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, NULL), 0);
	assert_int_equal(port_of(bench).sm_lid, 1);
	assert_int_equal(port_of(bench).reregisters, 2);
}

static void sa_that_cannot_move_stays(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "nowhere"),
			 -ENODEV);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "alone"),
			 -ENETDOWN);
	assert_int_equal(port_of(bench).sm_lid, 1);
	assert_int_equal(port_of(bench).reregisters, 0);
	assert_int_equal(services(bench), 1);
}

static void stopped_sa_moves_and_stays_stopped(void **state)
{
	struct bench *bench = *state;

	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(ibsa_fabric_sa_move(bench->fabric, "c"), 0);
	assert_int_equal(port_of(bench).sm_lid, 0);
	assert_int_equal(port_of(bench).reregisters, 0);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(port_of(bench).sm_lid, 3);
	assert_int_equal(port_of(bench).reregisters, 1);
	assert_int_equal(nodes(bench), 5);
}

static void started_sa_asks_to_register_again(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	subscribe(bench);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(port_of(bench).reregisters, 0);
	assert_int_equal(services(bench), 1);
	ibsa_fabric_sa_set(bench->fabric, false);
	assert_int_equal(port_of(bench).reregisters, 0);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(port_of(bench).reregisters, 1);
	assert_int_equal(services(bench), 0);
	assert_int_equal(subscriptions(bench), 0);
}

/* Out of reach of the new SA nobody learns of it. */
static void sa_of_another_island(void **state)
{
	static const char islands[] = "Switch 2 \"s\"\n"
				      "[1] \"a\"[1]\n"
				      "[2] \"b\"[1]\n"
				      "Switch 2 \"t\"\n"
				      "[1] \"c\"[1]\n"
				      "[2] \"d\"[1]\n"
				      "Ca 1 \"a\"\nCa 1 \"b\"\n"
				      "Ca 1 \"c\"\n[1] \"t\"[1] # lid 9\n"
				      "Ca 1 \"d\"\n";
	struct bench bench;

	(void)state;
	bench_start_text(&bench, islands, "b", NULL);
	assert_int_equal(port_at(&bench, "d").port_state, IBSA_PORT_INIT);
	assert_int_equal(port_at(&bench, "d").lid, 0);
	assert_int_equal(nodes(&bench), 3);
	assert_int_equal(ibsa_fabric_sa_move(bench.fabric, "c"), 0);
	assert_int_equal(port_at(&bench, "c").lid, 9);
	assert_int_equal(port_at(&bench, "d").sm_lid, 9);
	assert_int_equal(port_at(&bench, "d").port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port_at(&bench, "d").lid, 4);
	assert_int_equal(port_of(&bench).sm_lid, 1);
	assert_int_equal(port_of(&bench).reregisters, 0);
	assert_int_equal(nodes(&bench), -1);
	bench_stop(&bench);
}

static void dead_link_is_seen_and_carries_nothing(void **state)
{
	struct bench *bench = *state;
	struct bench other = *bench;

	assert_int_equal(
		ibsa_fabric_attach(bench->fabric, "c", 0, &other.transport), 0);
	set_link(bench, "b", false);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_DOWN);
	assert_int_equal(port_of(bench).phys_state, 2);
	assert_int_equal(port_of(bench).lid, 2);
	assert_int_equal(nodes(bench), -1);

	assert_int_equal(nodes(&other), 4);
	assert_int_equal(ask_path(&other, 3, 2), S(NO_RECORDS));
	assert_int_equal(ask_path(&other, 3, 1), 0);
	bench_request(&other, IBSA_METHOD_GET_TABLE, 0x0035, 0);
	assert_int_equal(bench_ask(&other), 0);
	assert_int_equal(bench_count(&other), 4 * 4);
	assert_int_equal(port_of(&other).lid, 3);
	assert_int_equal(port_of(&other).reregisters, 0);
	other.transport->ops->close(other.transport);
}

static void link_that_comes_up_is_set_up_anew(void **state)
{
	struct bench *bench = *state;

	set_service(bench);
	subscribe(bench);
	set_link(bench, "b", false);
	set_link(bench, "b", false);
	assert_int_equal(port_of(bench).reregisters, 0);
	set_link(bench, "b", true);
	set_link(bench, "b", true);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port_of(bench).phys_state, 5);
	assert_int_equal(port_of(bench).lid, 2);
	assert_int_equal(port_of(bench).reregisters, 1);
	assert_int_equal(port_at(bench, "c").reregisters, 0);
	assert_int_equal(nodes(bench), 5);
	/* OpenSM keeps both for those that come back. */
	assert_int_equal(services(bench), 1);
	assert_int_equal(subscriptions(bench), 1);
}

/* The far end's name for a link is as good. */
static void link_of_a_switch_takes_down_what_is_behind(void **state)
{
	const struct ibsa_fabric_port_change down = {
		.mask = IBSA_CHANGE_LINK,
	};
	const struct ibsa_fabric_port_change up = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = true,
	};
	struct bench *bench = *state;

	set_port(bench, "s", 2, &down);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_DOWN);
	set_port(bench, "b", 1, &up);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_ACTIVE);

	/* Behind the other link ports are up, but nobody reaches them. */
	assert_int_equal(ask_path(bench, 2, 3), 0);
	set_port(bench, "s", 3, &down);
	assert_int_equal(nodes(bench), 3);
	assert_int_equal(ask_path(bench, 2, 3), S(NO_RECORDS));
	assert_int_equal(port_at(bench, "c").port_state, IBSA_PORT_ACTIVE);
	set_port(bench, "t", 1, &up);
	assert_int_equal(nodes(bench), 5);
	assert_int_equal(ask_path(bench, 2, 3), 0);
	assert_int_equal(port_at(bench, "c").reregisters, 0);
}

static void dead_link_takes_with_it_what_is_on_its_way(void **state)
{
	const struct ibsa_fabric_options options = {
		.virtual_clock = true,
		.latency_us = 1000,
	};
	struct bench bench;

	(void)state;
	bench_start_text(&bench, text, "b", &options);
	/* The first answer has arrived when the link goes down. */
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(&bench);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 1 * MS), 0);
	bench_request(&bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(&bench);
	set_link(&bench, "b", false);
	set_link(&bench, "b", true);
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 10 * MS), 0);
	assert_true(bench_receive(&bench));
	assert_int_equal(IBSA_GET(sa_header, transaction_id, bench.answer.mad),
			 1);
	assert_false(bench_receive(&bench));
	bench_stop(&bench);
}

/* What waits to be overtaken is on its way too. */
static void dead_link_takes_with_it_what_was_held(void **state)
{
	const struct ibsa_fault reorder = {
		.kind = IBSA_FAULT_REORDER,
		.percent = 100,
		.count = 1,
	};
	struct bench *bench = *state;

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &reorder), 0);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	bench_send(bench);
	set_link(bench, "b", false);
	set_link(bench, "b", true);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 1000 * MS), 0);
	assert_false(bench_receive(bench));
}

static void sa_without_a_link_hears_nobody_and_forgets_nothing(void **state)
{
	struct bench *bench = *state;

	subscribe(bench);
	set_link(bench, "a", false);
	assert_int_equal(nodes(bench), -1);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port_of(bench).sm_lid, 1);
	assert_int_equal(port_at(bench, "a").port_state, IBSA_PORT_DOWN);
	set_link(bench, "a", true);
	assert_int_equal(nodes(bench), 5);
	assert_int_equal(subscriptions(bench), 1);
	assert_int_equal(port_of(bench).reregisters, 0);
}

/* No SM sets it up until one runs. */
static void link_comes_up_without_an_sm(void **state)
{
	struct bench *bench = *state;

	ibsa_fabric_sa_set(bench->fabric, false);
	set_link(bench, "b", false);
	set_link(bench, "b", true);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_INIT);
	ibsa_fabric_sa_set(bench->fabric, true);
	assert_int_equal(port_of(bench).port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port_of(bench).reregisters, 1);
}

static void port_that_is_down_can_be_opened(void **state)
{
	struct bench *bench = *state;

	set_link(bench, "c", false);
	assert_int_equal(port_at(bench, "c").port_state, IBSA_PORT_DOWN);
}

static void lid_and_lmc_change(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LID | IBSA_CHANGE_LMC,
		.lid = 0x40,
		.lmc = 2,
	};
	const struct ibsa_fabric_port_change back = {
		.mask = IBSA_CHANGE_LMC,
	};
	struct bench *bench = *state;
	struct ibsa_fabric_info info;

	set_port(bench, "b", 1, &change);
	assert_int_equal(port_of(bench).lid, 0x40);
	assert_int_equal(port_of(bench).lmc, 2);
	assert_int_equal(port_of(bench).reregisters, 0);
	assert_int_equal(ask_path(bench, 0x43, 3), 0);
	assert_int_equal(ask_path(bench, 2, 3), S(NO_RECORDS));
	ibsa_fabric_info_get(bench->fabric, &info);
	assert_int_equal(info.lids, 8);

	set_port(bench, "b", 1, &back);
	assert_int_equal(port_of(bench).lid, 0x40);
	assert_int_equal(port_of(bench).lmc, 0);
	assert_int_equal(ask_path(bench, 0x43, 3), S(NO_RECORDS));
	assert_int_equal(ask_path(bench, 0x40, 3), 0);
}

static void new_lid_of_the_sa_is_told_to_all(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LID,
		.lid = 0xbfff,
	};
	struct bench *bench = *state;

	set_service(bench);
	set_port(bench, "a", 0, &change);
	assert_int_equal(port_of(bench).sm_lid, 0xbfff);
	assert_int_equal(services(bench), 1);
	assert_int_equal(bench->answer.from.lid, 0xbfff);
}

/* The LID that one gives up another may have. */
static void lids_are_handed_on(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LID };
	struct bench *bench = *state;

	for (uint32_t lid = 6; lid < 600; lid++) {
		change.lid = lid;
		set_port(bench, "b", 1, &change);
		change.lid = lid == 6 ? 2 : lid - 1;
		set_port(bench, "c", 1, &change);
		assert_int_equal(ask_path(bench, (uint16_t)lid,
					  (uint16_t)change.lid),
				 0);
	}
}

static void lids_that_cannot_be(void **state)
{
	struct ibsa_fabric_port_change change = { .mask = IBSA_CHANGE_LID };
	struct bench *bench = *state;

	refused(bench, "b", 1, &change, -EINVAL);
	change.lid = 0xc000;
	refused(bench, "b", 1, &change, -EINVAL);
	change.lid = 3;
	refused(bench, "b", 1, &change, -EADDRINUSE);
	refused(bench, "alone", 1, &change, -ENETDOWN);
	change.mask = IBSA_CHANGE_LMC;
	change.lmc = 8;
	refused(bench, "b", 1, &change, -EINVAL);
	change.lmc = 1; /* 2 and 3, which is c's */
	refused(bench, "b", 1, &change, -EADDRINUSE);
	change.lmc = 2; /* 2 is no multiple of 4 */
	refused(bench, "b", 1, &change, -EINVAL);
	assert_int_equal(port_of(bench).lid, 2);
	assert_int_equal(port_of(bench).lmc, 0);
}

static void port_reads_what_was_set(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0x7fff, 0, 0xffff };
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_SM_SL | IBSA_CHANGE_PKEYS |
			IBSA_CHANGE_NEEDS_GRH,
		.sm_sl = 5,
		.needs_grh = true,
		.pkeys = pkeys,
		.pkey_count = 4,
	};
	struct bench *bench = *state;
	uint16_t pkey = 1;

	assert_false(port_of(bench).needs_grh);
	set_port(bench, "b", 1, &change);
	assert_int_equal(port_of(bench).sm_sl, 5);
	assert_true(port_of(bench).needs_grh);
	assert_int_equal(port_of(bench).pkey_index, 3);
	assert_int_equal(port_of(bench).link, IBSA_LINK_INFINIBAND);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(bench->transport->ops->pkey(bench->transport,
							     i, &pkey),
				 0);
		assert_int_equal(pkey, pkeys[i]);
	}
	assert_int_equal(bench->transport->ops->pkey(bench->transport, 4,
						     &pkey),
			 -EINVAL);
	assert_int_equal(port_of(bench).reregisters, 0);
}

static void limited_default_key_will_do(void **state)
{
	const uint16_t limited[] = { 0x8001, 0x7fff };
	const uint16_t none[] = { 0x8002, 0x8001 };
	struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = limited,
		.pkey_count = 2,
	};
	struct bench *bench = *state;

	set_port(bench, "b", 1, &change);
	assert_int_equal(port_of(bench).pkey_index, 1);
	change.pkeys = none;
	set_port(bench, "b", 1, &change);
	assert_int_equal(port_of(bench).pkey_index, 0);
}

static void reregister_is_an_event_and_nothing_else(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_REREGISTER,
	};
	struct bench *bench = *state;
	struct ibsa_port_state before = port_of(bench);
	struct ibsa_port_state after;

	set_service(bench);
	set_port(bench, "b", 1, &change);
	after = port_of(bench);
	before.reregisters++;
	assert_memory_equal(&before, &after, sizeof(after));
	assert_int_equal(services(bench), 1);
	assert_int_equal(port_at(bench, "c").reregisters, 0);
}

static void changes_that_cannot_be(void **state)
{
	const uint16_t pkeys[129] = { 0xffff };
	struct ibsa_fabric_port_change change = { .mask = 0 };
	struct bench *bench = *state;

	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = 1 << 8;
	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_REREGISTER;
	refused(bench, "nobody", 1, &change, -ENODEV);
	refused(bench, "b", 2, &change, -ENODEV);
	refused(bench, "s", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_LINK;
	refused(bench, "s", 0, &change, -EINVAL);
	refused(bench, "s", 4, &change, -ENETDOWN);
	refused(bench, "alone", 1, &change, -ENETDOWN);
	change.mask = IBSA_CHANGE_SM_SL | IBSA_CHANGE_REREGISTER;
	change.sm_sl = 16;
	refused(bench, "b", 1, &change, -EINVAL);
	change.mask = IBSA_CHANGE_PKEYS;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkeys = pkeys;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkey_count = 129;
	refused(bench, "b", 1, &change, -EINVAL);
	change.pkey_count = 128;
	set_port(bench, "b", 1, &change);
	assert_int_equal(port_of(bench).reregisters, 0);
}

/* As the kernel refuses an address without one. */
static void port_that_needs_a_grh_sends_nothing_without(void **state)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_NEEDS_GRH,
		.needs_grh = true,
	};
	struct bench *bench = *state;
	struct ibsa_address sa = bench_sa(bench);

	set_port(bench, "b", 1, &change);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa,
						     bench->request, 256, 10),
			 -EINVAL);
	sa.has_grh = true;
	sa.gid = port_of(bench).gid;
	ibsa_put_be64(sa.gid.raw + 8, UINT64_C(0x0200000000000002));
	assert_int_equal(bench->transport->ops->send(bench->transport, &sa,
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_true(bench->answer.from.has_grh);
}

static void set_pkeys(struct bench *bench, const char *node,
		      const uint16_t *pkeys, size_t count)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_PKEYS,
		.pkeys = pkeys,
		.pkey_count = count,
	};

	set_port(bench, node, 1, &change);
}

/* The index of the right key is what moved; the other's MADs are lost. */
static void pkey_of_a_request_must_pass(void **state)
{
	const uint16_t pkeys[] = { 0x8001, 0xffff };
	struct bench *bench = *state;
	struct ibsa_address sa = bench_sa(bench);
	const uint64_t lost = stats_of(bench).lost;

	set_pkeys(bench, "b", pkeys, 2);
	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	for (sa.pkey_index = 0; sa.pkey_index < 3; sa.pkey_index++) {
		assert_int_equal(
			bench->transport->ops->send(bench->transport, &sa,
						    bench->request, 256, 10),
			0);
		assert_int_equal(bench_receive(bench), sa.pkey_index == 1);
	}
	assert_int_equal(stats_of(bench).lost, lost + 2);
}

/* The P_Key that the path from b to c is given; 0: there is none. */
static uint16_t path_pkey(struct bench *bench)
{
	const struct ibsa_path want = { .slid = 2, .dlid = 3 };

	if (bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid)))
		return 0;
	return (uint16_t)IBSA_GET(path, pkey, bench_record(bench, 0));
}

static int ask_pkey(struct bench *bench, uint16_t pkey)
{
	const struct ibsa_path want = { .slid = 2, .dlid = 3, .pkey = pkey };

	return bench_query(bench, IBSA_METHOD_GET, &ibsa_path_record, &want,
			   IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
				   IBSA_PATH_CM(pkey));
}

static void paths_are_within_a_partition(void **state)
{
	const uint16_t b[] = { 0xffff, 0x8003, 0x0001 };
	const uint16_t c[] = { 0x0001, 0x8003, 0xffff };
	const uint16_t limited[] = { 0x7fff };
	struct bench *bench = *state;

	assert_int_equal(path_pkey(bench), 0xffff);
	set_pkeys(bench, "b", b, 3);
	assert_int_equal(path_pkey(bench), 0xffff);
	/* 1 is in both, but for limited members of it only. */
	set_pkeys(bench, "c", c, 3);
	assert_int_equal(path_pkey(bench), 0x8003);
	assert_int_equal(ask_pkey(bench, 0x8003), 0);
	assert_int_equal(ask_pkey(bench, 0x0003), 0);
	assert_int_equal(ask_pkey(bench, 0xffff), 0);
	assert_int_equal(ask_pkey(bench, 0x8001), S(NO_RECORDS));
	assert_int_equal(ask_pkey(bench, 0x8009), S(NO_RECORDS));
	assert_int_equal(ask_pkey(bench, 0), S(NO_RECORDS));
	/* b does not meet them, though a full member could. */
	set_pkeys(bench, "b", limited, 1);
	set_pkeys(bench, "c", limited, 1);
	assert_int_equal(path_pkey(bench), 0);
	assert_int_equal(ask_path(bench, 2, 1), 0);
}

static void services_are_within_a_partition(void **state)
{
	const uint16_t pkeys[] = { 0xffff, 0x8003 };
	const struct ibsa_service service = {
		.service_id = 7,
		.service_gid = port_of(*state).gid,
		.service_pkey = 0x8003,
	};
	const uint64_t mask = IBSA_SERVICE_CM(service_id) |
			      IBSA_SERVICE_CM(service_gid) |
			      IBSA_SERVICE_CM(service_pkey);
	struct bench *bench = *state;

	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service, mask),
			 S(REQ_INVALID));
	set_pkeys(bench, "b", pkeys, 2);
	assert_int_equal(bench_query(bench, IBSA_METHOD_SET,
				     &ibsa_service_record, &service, mask),
			 0);
}

static uint64_t mix(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < len; i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* A sum over all that a client sees where MADs and much else go wrong. */
static uint64_t history(uint64_t seed)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = seed,
						     .latency_us = 100 };
	struct bench bench;
	uint64_t sum = 0;

	bench_start_text(&bench, text, "b", &options);
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++) {
		const struct ibsa_fault fault = { (enum ibsa_fault_kind)kind,
						  20, 0, 3 };

		assert_int_equal(ibsa_fabric_fault(bench.fabric, &fault), 0);
	}
	for (int round = 0; round < 300; round++) {
		const struct ibsa_port_state port = port_of(&bench);

		bench_request(&bench, IBSA_METHOD_GET_TABLE, 0x0011, 0);
		bench_send(&bench);
		assert_int_equal(ibsa_fabric_advance(bench.fabric, MS / 2), 0);
		if (round % 7 == 0)
			set_link(&bench, "b", round % 2);
		if (round % 31 == 0)
			assert_int_equal(ibsa_fabric_sa_move(bench.fabric,
							     round % 2 ? "a"
								       : "c"),
					 0);
		sum = mix(sum, &port, sizeof(port));
		while (bench_receive(&bench))
			sum = mix(sum, bench.answer.mad, bench.answer.len);
	}
	bench_stop(&bench);
	return sum;
}

static void same_seed_is_the_same_history(void **state)
{
	(void)state;
	assert_true(history(1) == history(1));
	assert_true(history(1) != history(2));
}

/* A client that does not look must not use up the memory. */
static void queue_has_a_limit(void **state)
{
	struct bench *bench = *state;
	unsigned int received = 0;

	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	for (int i = 0; i < 131072 + 3; i++)
		bench_send(bench);
	assert_int_equal(stats_of(bench).dropped, 3);
	while (bench_receive(bench))
		received++;
	assert_int_equal(received, 131072);
	assert_int_equal(bench_ask(bench), 0);
	assert_int_equal(stats_of(bench).dropped, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest tests[] = {
		TEST(moved_sa_is_elsewhere_and_knows_nothing),
		TEST(what_is_on_its_way_finds_the_sa_gone),
		TEST(what_had_arrived_was_heard),
		TEST(sa_moves_to_a_switch_and_to_the_first),
		TEST(sa_that_cannot_move_stays),
		TEST(stopped_sa_moves_and_stays_stopped),
		TEST(started_sa_asks_to_register_again),
		cmocka_unit_test(sa_of_another_island),
		TEST(dead_link_is_seen_and_carries_nothing),
		TEST(link_that_comes_up_is_set_up_anew),
		TEST(link_of_a_switch_takes_down_what_is_behind),
		cmocka_unit_test(dead_link_takes_with_it_what_is_on_its_way),
		TEST(dead_link_takes_with_it_what_was_held),
		TEST(sa_without_a_link_hears_nobody_and_forgets_nothing),
		TEST(link_comes_up_without_an_sm),
		TEST(port_that_is_down_can_be_opened),
		TEST(lid_and_lmc_change),
		TEST(new_lid_of_the_sa_is_told_to_all),
		TEST(lids_are_handed_on),
		TEST(lids_that_cannot_be),
		TEST(port_reads_what_was_set),
		TEST(limited_default_key_will_do),
		TEST(reregister_is_an_event_and_nothing_else),
		TEST(changes_that_cannot_be),
		TEST(port_that_needs_a_grh_sends_nothing_without),
		TEST(pkey_of_a_request_must_pass),
		TEST(paths_are_within_a_partition),
		TEST(services_are_within_a_partition),
		cmocka_unit_test(same_seed_is_the_same_history),
		TEST(queue_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
