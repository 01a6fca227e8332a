/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Very many queries from many threads, on a fabric where everything may go
 * wrong: each has one callback, with a result that its manual page lists. And
 * tasks of all kinds, of clients and devices that come and go.
 *
 * IBSA_SEED, or the first argument, is the seed of an earlier run. The threads
 * may still run in another order. IBSA_STRESS_SECONDS is how long the last test
 * runs; if it is set, the others have LONG_FACTOR times as many queries.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "stress.h"

enum {
	QUERIES = 50000,
	QUERIES_BESIDE = 20000, /* number of queries in tests where a fault
				 * affects not only MADs */
	LONG_FACTOR = 4,
	SPELLS = IBSA_FAULT_KINDS, /* minimum, of faults and moves */
	THREADS = 8,
	IN_FLIGHT = 256, /* maximum, in all */
	STAY_ASKS = 12,
	FAIR_ASKS = 1000, /* approximate number between faults */
	DELAY_MS = 10,
	TASKS_S = 4, /* default of $IBSA_STRESS_SECONDS */
	FAILURES_SHOWN = 20,
};

void report_wrong(struct rig *rig, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (atomic_fetch_add(&rig->failures, 1) < FAILURES_SHOWN)
		fprintf(stderr, "IBSA_SEED=0x%llx: %s\n",
			(unsigned long long)rig->seed, text);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void nap_ms(unsigned int ms)
{
	const struct timespec time = { 0, ms * 1000000L };

	nanosleep(&time, NULL);
}

static void device_flush_note(int status, struct ib_sa_service_rec *resp,
			      void *context)
{
	(void)resp;
	if (status == -ETIMEDOUT)
		report_wrong(context, "no answer in fair weather");
}

/*
 * Send a query that no other thread sends, when the port is usable, and wait
 * for the reply: it arrives after everything that was in flight to the device.
 */
static void device_flush(struct rig *rig, struct device *device,
			 uint64_t *chance)
{
	struct ib_sa_service_rec rec = { .id = random_next(chance) };
	struct ib_sa_client client;
	int id;

	ib_sa_register_client(&client);
	do {
		nap_ms(1);
		id = ib_sa_service_rec_query(&client, device->ib, device->port,
					     IB_MGMT_METHOD_GET, &rec,
					     IB_SA_SERVICE_REC_SERVICE_ID,
					     LONG_MS, 0, device_flush_note, rig,
					     NULL);
	} while (id == -EAGAIN);
	if (id < 0)
		report_wrong(rig, "in fair weather: start %d, expected an id",
			     id);
	ib_sa_unregister_client(&client);
}

static void set_fault(struct rig *rig, enum ibsa_fault_kind kind,
		      unsigned int percent)
{
	const struct ibsa_fault fault = {
		.kind = kind,
		.percent = percent,
		.delay_ms = DELAY_MS,
	};

	if (ibsa_fabric_fault(rig->fabric, &fault))
		report_wrong(rig, "fault %d at %u%% is refused", kind, percent);
}

/* Faults of mainly one kind; they end when no affected MAD is in flight. */
static void spell_of_faults(struct rig *rig, enum ibsa_fault_kind most,
			    uint64_t *chance)
{
	const bool corrupt = most == IBSA_FAULT_CORRUPT ||
			     !random_below(chance, 4);

	atomic_fetch_add(&rig->sky[STORM], 1);
	atomic_fetch_add(&rig->sky[TAINT], corrupt);
	for (enum ibsa_fault_kind i = 0; i < IBSA_FAULT_KINDS; i++)
		if (i == IBSA_FAULT_CORRUPT ? corrupt
					    : !random_below(chance, 3))
			set_fault(rig, i, 1 + random_below(chance, 20));
	set_fault(rig, most, most < IBSA_FAULT_BUSY ? 50 : 100);
	nap_ms(10 + random_below(chance, 40));
	for (enum ibsa_fault_kind i = 0; i < IBSA_FAULT_KINDS; i++)
		set_fault(rig, i, 0);
	nap_ms(4 * DELAY_MS);
	for (size_t i = 0; i < 2; i++)
		device_flush(rig, &rig->devices[i], chance);
	atomic_fetch_add(&rig->sky[TAINT], corrupt);
	atomic_fetch_add(&rig->sky[STORM], 1);
}

/*
 * Change the fabric: 0 stops the SA, 1 moves it, 2 changes a LID, 3 takes a
 * link down. @back undoes 0 and 3, and repeats 1 and 2 with other values.
 */
static int fabric_move(struct rig *rig, unsigned int what, unsigned int host,
		       bool back)
{
	const unsigned int lid = atomic_load(&rig->lids[host]) + SAME_LID + 1;
	const struct ibsa_fabric_port_change change = {
		.mask = what == 2 ? IBSA_CHANGE_LID : IBSA_CHANGE_LINK,
		.lid = lid < LID_LIMIT ? lid : lid & SAME_LID,
		.link_up = back,
	};

	if (what == 0) {
		ibsa_fabric_sa_set(rig->fabric, back);
		return 0;
	}
	if (what == 1)
		return ibsa_fabric_sa_move(rig->fabric, rig->hosts[host].node);
	if (what == 2)
		atomic_store(&rig->lids[host], (uint16_t)change.lid);
	return ibsa_fabric_port_set(rig->fabric, rig->hosts[host].node,
				    rig->hosts[host].number, &change);
}

static void spell_of_moves(struct rig *rig, unsigned int what, uint64_t *chance)
{
	const unsigned int host = random_below(chance, HOSTS);

	atomic_fetch_add(&rig->sky[STORM], 1);
	atomic_fetch_add(&rig->sky[MOVE], 1);
	for (int back = 0; back < 2; back++) {
		const int err = fabric_move(rig, what, host, back);

		if (err)
			report_wrong(rig, "move %u of %s: %d, expected 0", what,
				     rig->hosts[host].node, err);
		if (!back) /* time enough to detect the loss */
			nap_ms((what % 3 ? 20 : 200) +
			       random_below(chance, 100));
	}
	atomic_fetch_add(&rig->sky[MOVE], 1);
	atomic_fetch_add(&rig->sky[STORM], 1);
}

/* A spell of faults may be over before it strikes a MAD. */
static bool all_faults_have_struck(struct rig *rig)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(rig->fabric, &stats);
	for (size_t i = 0; i < IBSA_FAULT_KINDS; i++)
		if (!stats.faults[i])
			return false;
	return true;
}

static void *make_weather(void *arg)
{
	struct rig *rig = arg;
	uint64_t chance = rig->seed ^ 0xfa117;
	unsigned int until = 0;

	for (unsigned int i = 0; !atomic_load(&rig->stop);) {
		nap_ms(1);
		if (atomic_load(&rig->started) < until)
			continue;
		if (rig->moves && i % 5)
			spell_of_moves(rig, i % 5 - 1, &chance);
		else
			spell_of_faults(rig, i % IBSA_FAULT_KINDS, &chance);
		until = atomic_load(&rig->started) +
			random_below(&chance, 2 * FAIR_ASKS);
		i++;
		if (i >= SPELLS && (rig->moves || all_faults_have_struck(rig)))
			atomic_store(&rig->has_had_spells, true);
	}
	return NULL;
}

int open_device(struct rig *rig, struct device *device, unsigned int host,
		bool no_thread)
{
	const struct ibsa_ib_device_options options = {
		.name = rig->hosts[host].node,
		.on = rig->fabric,
		.window = no_thread ? 32 : 512,
		.no_thread = no_thread,
	};

	device->port = (uint8_t)rig->hosts[host].number;
	return ibsa_ib_device_open(&options, NULL, &device->ib);
}

/* Find the ports with a link. */
static void find_hosts(struct rig *rig)
{
	struct ibsa_fabric_port port;
	size_t count = 0;

	for (size_t i = 0; !ibsa_fabric_port_at(rig->fabric, i, &port); i++) {
		if (!port.state.lid)
			continue;
		assert_true(count < HOSTS && port.state.lid <= SAME_LID);
		atomic_init(&rig->lids[count], (uint16_t)port.state.lid);
		rig->hosts[count++] = port;
	}
	assert_int_equal(count, HOSTS);
}

static struct rig *rig_new(unsigned int queries)
{
	const char *seed = getenv("IBSA_SEED");
	struct rig *rig = calloc(1, sizeof(*rig));
	struct ibsa_fabric_options options = { 0 };

	assert_non_null(rig);
	rig->seed = seed ? strtoull(seed, NULL, 0) : now_ns();
	printf("IBSA_SEED=0x%llx\n", (unsigned long long)rig->seed);
	options.seed = rig->seed;
	assert_int_equal(ibsa_fabric_load(FABRIC, &options, NULL, &rig->fabric),
			 0);
	find_hosts(rig);
	rig->wanted = queries;
	/* Some will not be accepted, and the spells may need more. */
	rig->room = 3 * queries + 200000;
	rig->asks = calloc(rig->room, sizeof(*rig->asks));
	assert_non_null(rig->asks);
	for (unsigned int i = 0; i < rig->room; i++)
		atomic_init(&rig->asks[i].id, -1);
	assert_int_equal(sem_init(&rig->slots, 0, IN_FLIGHT), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(open_device(rig, &rig->devices[i], i, i), 0);
		ib_sa_register_client(&rig->clients[i]);
	}
	return rig;
}

static void check_called(struct rig *rig, struct query *query, const char *when)
{
	const int calls = atomic_load(&query->calls);
	const int wanted = atomic_load(&query->accepted);

	if (calls != wanted)
		report_wrong(rig, "#%u: %d callbacks after %s, expected %d",
			     (unsigned int)(query - rig->asks), calls, when,
			     wanted);
}

static void client_free(struct ib_sa_client *client)
{
	ib_sa_unregister_client(client);
	free(client);
}

/*
 * A thread registers, opens, sends queries and ends: after unregistering, and
 * after the put of a device that is not shared, no callback may come.
 */
static void client_life(struct rig *rig, uint64_t *chance)
{
	struct ib_sa_client *client = calloc(1, sizeof(*client));
	const unsigned int what = random_below(chance, 4);
	const bool put = what % 2;
	struct device own = { 0 };
	struct device *device = what ? &own
				     : &rig->devices[random_below(chance, 2)];
	struct query *asks[STAY_ASKS];

	ib_sa_register_client(client);
	if (what && open_device(rig, &own, random_below(chance, HOSTS),
				random_below(chance, 2)))
		report_wrong(rig, "a device does not open");
	for (size_t i = 0; i < STAY_ASKS; i++) {
		sem_wait(&rig->slots);
		asks[i] = query_start(rig, device, client, NULL, chance);
	}
	atomic_store(&own.closing, put);
	if (put)
		ibsa_ib_device_put(own.ib);
	else
		client_free(client);
	for (size_t i = 0; i < STAY_ASKS; i++)
		if (asks[i])
			check_called(rig, asks[i], put ? "put" : "unregister");
	if (put)
		client_free(client);
	else
		ibsa_ib_device_put(own.ib);
}

static void *queries_start(void *arg)
{
	struct rig *rig = arg;
	uint64_t chance = rig->seed + atomic_fetch_add(&rig->threads, 1);

	while (!run_is_over(rig) && atomic_load(&rig->taken) < rig->room) {
		const unsigned int any = random_below(&chance, 4);

		sem_wait(&rig->slots);
		if (!query_start(rig, &rig->devices[any % 2],
				 &rig->clients[any / 2], NULL, &chance) ||
		    random_below(&chance, 2))
			nap_ms(1);
		if (rig->stays && !random_below(&chance, 64))
			client_life(rig, &chance);
		if (rig->tasks && !random_below(&chance, 8))
			tasks_life(rig, &chance);
	}
	return NULL;
}

/*
 * Dispatching fails while another thread that unregisters dispatches the
 * device.
 */
static void *device_dispatch(void *arg)
{
	struct rig *rig = arg;

	while (!atomic_load(&rig->still)) {
		const int err = ibsa_ib_device_wait(rig->devices[1].ib, 20);

		if (err == -EBUSY)
			nap_ms(1);
		else if (err)
			report_wrong(rig, "ibsa_ib_device_wait: %d, expected 0",
				     err);
	}
	return NULL;
}

static pthread_t start(void *(*work)(void *), struct rig *rig)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, work, rig), 0);
	return thread;
}

static void run(struct rig *rig)
{
	const pthread_t dispatcher = start(device_dispatch, rig);
	const pthread_t weather = start(make_weather, rig);
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		threads[i] = start(queries_start, rig);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&rig->stop, true);
	pthread_join(weather, NULL);
	/* No query may be started while its client unregisters. */
	for (size_t i = 0; i < IN_FLIGHT; i++)
		sem_wait(&rig->slots);
	atomic_store(&rig->still, true);
	pthread_join(dispatcher, NULL);
	for (size_t i = 0; i < 2; i++)
		ib_sa_unregister_client(&rig->clients[i]);
	for (size_t i = 0; i < 2; i++)
		ibsa_ib_device_put(rig->devices[i].ib);
	for (size_t i = 0; i < rig->room; i++)
		check_called(rig, &rig->asks[i], "the end");
}

/*
 * Each result that was provoked must have occurred; otherwise, nothing was
 * tested.
 */
static void check_counts(struct rig *rig)
{
	const bool all = !rig->moves && !rig->stays;
	struct ibsa_fabric_stats stats;
	unsigned int highest = 0;

	printf("%u of %u accepted; counts:", rig->started, rig->taken);
	for (size_t i = 0; i < COUNTS; i++)
		printf(" %u", rig->counts[i]);
	printf("\n");
	assert_true(rig->started >= rig->wanted);
	for (size_t i = 0; i < (all ? AGAIN : TOLD_EIO); i++)
		if (i != TOLD_EIO) /* few flipped bits make it malformed */
			assert_int_not_equal(rig->counts[i], 0);
	assert_int_equal(!rig->counts[AGAIN], !rig->moves);
	ibsa_fabric_stats_get(rig->fabric, &stats);
	for (size_t i = 0; all && i < IBSA_FAULT_KINDS; i++)
		assert_int_not_equal(stats.faults[i], 0);
	for (size_t i = 0; i < rig->room; i++)
		if (rig->asks[i].id > (int)highest)
			highest = (unsigned int)rig->asks[i].id;
	assert_true(highest + 1 < rig->started); /* ids were reused */
}

static void rig_free(struct rig *rig)
{
	assert_int_equal(atomic_load(&rig->failures), 0);
	ibsa_fabric_put(rig->fabric);
	sem_destroy(&rig->slots);
	free(rig->asks);
	free(rig);
}

static const char *long_seconds(void)
{
	return getenv("IBSA_STRESS_SECONDS");
}

static void stress(unsigned int queries, bool moves, bool stays)
{
	struct rig *rig = rig_new(long_seconds() ? queries * LONG_FACTOR
						 : queries);

	rig->moves = moves;
	rig->stays = stays;
	run(rig);
	check_counts(rig);
	rig_free(rig);
}

static void queries_end_once_with_right_results_despite_faults(void **state)
{
	(void)state;
	stress(QUERIES, false, false);
}

static void queries_find_an_sa_that_moves(void **state)
{
	(void)state;
	stress(QUERIES_BESIDE, true, false);
}

static void queries_go_on_while_devices_and_clients_come_and_go(void **state)
{
	(void)state;
	stress(QUERIES_BESIDE, false, true);
}

static void time_print(const char *what)
{
	const time_t now = time(NULL);

	printf("%s: %s", what, ctime(&now));
	fflush(stdout);
}

/* Runs of tasks of all kinds, one after another, until the time is over. */
static void tasks_end_once_whatever_ends_them(void **state)
{
	const char *seconds = long_seconds();
	const uint64_t end_ns = now_ns() + (seconds ? strtoull(seconds, NULL, 0)
						    : TASKS_S) *
						   1000000000;
	unsigned int totals[TASK_COUNTS] = { 0 };
	unsigned int queries = 0;

	(void)state;
	setenv("IBSA_FABRIC", FABRIC, 1);
	time_print("start");
	while (now_ns() < end_ns) {
		struct rig *rig = rig_new(QUERIES_BESIDE);

		rig->moves = rig->stays = rig->tasks = true;
		run(rig);
		queries += rig->started;
		for (size_t i = 0; i < TASK_COUNTS; i++)
			totals[i] += rig->task_counts[i];
		rig_free(rig);
	}
	time_print("end");
	printf("%u queries; counts of tasks:", queries);
	for (size_t i = 0; i < TASK_COUNTS; i++)
		printf(" %u", totals[i]);
	printf("\n");
	for (size_t i = 0; i < TASK_COUNTS; i++)
		assert_int_not_equal(totals[i], 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			queries_end_once_with_right_results_despite_faults),
		cmocka_unit_test(queries_find_an_sa_that_moves),
		cmocka_unit_test(
			queries_go_on_while_devices_and_clients_come_and_go),
		cmocka_unit_test(tasks_end_once_whatever_ends_them),
	};

	if (argc > 1)
		setenv("IBSA_SEED", argv[1], 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
