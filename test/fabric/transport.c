/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports of the embedded fabric as transports: queues, clocks and faults. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>

#include "support.h"
#include "wire/mad.h"

#define MS UINT64_C(1000000)

static const char two_hosts[] = "Switch 4 \"s\"\n"
				"[1] \"node1\"[1]\n"
				"[2] \"node2\"[1]\n"
				"Ca 2 \"node1\"\n"
				"Ca 1 \"node2\"\n";

/* Send a Get of one path with the transaction ID @tid. */
static void send_tid(struct bench *bench, uint32_t tid)
{
	uint8_t *room;

	bench->next_tid = tid;
	room = bench_request(bench, IBSA_METHOD_GET, 0x0035,
			     IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid));
	ibsa_put_be16(room + 40, 1);
	ibsa_put_be16(room + 42, 1);
	bench_send(bench);
}

/*
 * Return: the lower half of the next answer's transaction id; 0 if there is no
 * answer.
 */
static uint32_t next_tid(struct bench *bench)
{
	if (!bench_receive(bench))
		return 0;
	return bench_id(bench);
}

static int start(void **state)
{
	static struct bench bench;

	bench_start_text(&bench, two_hosts, "node2", NULL);
	*state = &bench;
	return 0;
}

static void set_fault(struct bench *bench, enum ibsa_fault_kind kind,
		      double percent, unsigned int count, unsigned int delay_ms)
{
	const struct ibsa_fault fault = { kind, percent, count, delay_ms };

	assert_int_equal(ibsa_fabric_fault(bench->fabric, &fault), 0);
}

static uint64_t strikes(struct bench *bench, enum ibsa_fault_kind kind)
{
	struct ibsa_fabric_stats stats;

	ibsa_fabric_stats_get(bench->fabric, &stats);
	return stats.faults[kind];
}

static void port_state_has_its_lids(void **state)
{
	struct bench *bench = *state;
	struct ibsa_port_state port;

	assert_int_equal(bench->transport->ops->port(bench->transport, &port,
						     sizeof(port)),
			 0);
	assert_int_equal(port.lid, 2);
	assert_int_equal(port.sm_lid, 1);
	assert_int_equal(port.port_num, 1);
	assert_int_equal(port.port_state, IBSA_PORT_ACTIVE);
	assert_int_equal(port.phys_state, 5);
	assert_int_equal(port.pkey_index, 0);
	assert_int_equal(port.gid.raw[0], 0xfe);
	assert_int_equal(port.gid.raw[1], 0x80);
}

static void impossible_ports_cannot_be_opened(void **state)
{
	struct bench *bench = *state;
	struct ibsa_transport *other = NULL;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, "node9", 0, &other),
			 -ENODEV);
	assert_int_equal(ibsa_fabric_attach(bench->fabric, "s", 0, &other),
			 -ENODEV);
	assert_int_equal(ibsa_fabric_attach(bench->fabric, "node1", 3, &other),
			 -ENXIO);
	assert_int_equal(ibsa_fabric_attach(bench->fabric, NULL, 3, &other),
			 -ENXIO);
	assert_int_equal(ibsa_fabric_attach(bench->fabric, "s", 99, &other),
			 -ENODEV);
	assert_int_equal(ibsa_fabric_attach(bench->fabric, "node1", 2, &other),
			 -ENETDOWN);
	assert_null(other);
}

static void answers_come_in_the_order_of_requests(void **state)
{
	struct bench *bench = *state;

	for (uint32_t tid = 1; tid <= 5; tid++)
		send_tid(bench, tid);
	for (uint32_t tid = 1; tid <= 5; tid++)
		assert_int_equal(next_tid(bench), tid);
	assert_int_equal(next_tid(bench), 0);
}

static void clients_have_queues_of_their_own(void **state)
{
	struct bench *bench = *state;
	struct bench other = *bench;

	assert_int_equal(ibsa_fabric_attach(bench->fabric, "node1", 1,
					    &other.transport),
			 0);
	send_tid(bench, 1);
	send_tid(&other, 2);
	assert_int_equal(next_tid(&other), 2);
	assert_int_equal(next_tid(&other), 0);
	assert_int_equal(next_tid(bench), 1);
	other.transport->ops->close(other.transport);
}

static void mad_to_an_unused_lid_is_lost(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_transport_ops *ops = bench->transport->ops;
	struct ibsa_address to = { .lid = 9, .qpn = 1 };

	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(
		ops->send(bench->transport, &to, bench->request, 256, 0), 0);
	to = (struct ibsa_address){ .lid = 1, .qpn = 2 };
	assert_int_equal(
		ops->send(bench->transport, &to, bench->request, 256, 0), 0);
	/* A MAD with a GID, but without a LID, is lost. */
	to = (struct ibsa_address){ .qpn = 1, .has_grh = true };
	assert_int_equal(
		ops->send(bench->transport, &to, bench->request, 256, 0), 0);
	assert_int_equal(next_tid(bench), 0);
	assert_int_equal(bench_stats(bench).requests, 3);
	assert_int_equal(bench_lost(bench), 3);
	assert_int_equal(ops->send(bench->transport, &to, bench->request, 257,
				   0),
			 -EMSGSIZE);
}

static void sa_has_the_well_known_gid(void **state)
{
	struct bench *bench = *state;
	const struct ibsa_address to = {
		.lid = 1,
		.qpn = 1,
		.has_grh = true,
		.gid.raw = { 0xfe, 0x80, [8] = 2, [15] = 2 },
	};

	bench_request(bench, IBSA_METHOD_GET, 0x0001, 0);
	assert_int_equal(bench->transport->ops->send(bench->transport, &to,
						     bench->request, 256, 10),
			 0);
	assert_true(bench_receive(bench));
	assert_memory_equal(&bench->answer.from.gid, &to.gid, sizeof(to.gid));
}

static void virtual_wait_jumps_to_the_answer(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .latency_us = 3000 };
	struct bench bench;
	const struct ibsa_transport_ops *ops;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", &options);
	ops = bench.transport->ops;
	assert_int_equal(ops->fd(bench.transport), -1);
	send_tid(&bench, 1);
	assert_int_equal(next_tid(&bench), 0);
	assert_int_equal(ops->wait(bench.transport, 2), 0);
	assert_int_equal(ops->now_ns(bench.transport), 2 * MS);
	assert_int_equal(next_tid(&bench), 0);
	assert_int_equal(ops->wait(bench.transport, -1), 0);
	assert_int_equal(ops->now_ns(bench.transport), 3 * MS);
	assert_int_equal(next_tid(&bench), 1);
	assert_int_equal(ops->wait(bench.transport, 7), 0);
	assert_int_equal(ops->now_ns(bench.transport), 10 * MS);
	bench_stop(&bench);
}

static void *wake(void *arg)
{
	struct ibsa_transport *transport = arg;

	transport->ops->wake(transport);
	return NULL;
}

static void wake_ends_a_wait_of_either_clock(void **state)
{
	const struct ibsa_fabric_options real = { 0 };
	struct bench benches[2];

	(void)state;
	bench_start_text(&benches[0], two_hosts, "node2", NULL);
	bench_start_text(&benches[1], two_hosts, "node2", &real);
	for (int i = 0; i < 2; i++) {
		struct ibsa_transport *transport = benches[i].transport;
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, wake, transport),
				 0);
		assert_int_equal(transport->ops->wait(transport, -1), 0);
		pthread_join(thread, NULL);
		bench_stop(&benches[i]);
	}
}

static bool is_readable(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

static void fd_is_readable_while_there_is_something(void **state)
{
	const struct ibsa_fabric_options real = { 0 };
	struct bench bench;
	int fd;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", &real);
	fd = bench.transport->ops->fd(bench.transport);
	assert_true(fd >= 0);
	assert_false(is_readable(fd));
	send_tid(&bench, 1);
	send_tid(&bench, 2);
	assert_true(is_readable(fd));
	assert_int_equal(next_tid(&bench), 1);
	assert_true(is_readable(fd));
	assert_int_equal(next_tid(&bench), 2);
	assert_int_equal(next_tid(&bench), 0);
	assert_false(is_readable(fd));
	bench.transport->ops->wake(bench.transport);
	assert_true(is_readable(fd));
	assert_int_equal(next_tid(&bench), 0);
	assert_false(is_readable(fd));
	assert_int_equal(ibsa_fabric_advance(bench.fabric, 1), -EINVAL);
	bench_stop(&bench);
}

/* The fd's timer is set to when the answer is due. */
static void late_answer_makes_the_fd_readable(void **state)
{
	const struct ibsa_fabric_options real = { .latency_us = 2000 };
	struct bench bench;
	struct pollfd fd;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", &real);
	fd.fd = bench.transport->ops->fd(bench.transport);
	fd.events = POLLIN;
	send_tid(&bench, 1);
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(next_tid(&bench), 1);
	send_tid(&bench, 2);
	assert_int_equal(bench.transport->ops->wait(bench.transport, 10000), 0);
	assert_int_equal(next_tid(&bench), 2);
	bench_stop(&bench);
}

static void fabric_lives_as_long_as_its_clients(void **state)
{
	struct bench bench;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", NULL);
	ibsa_fabric_put(bench.fabric);
	send_tid(&bench, 1);
	assert_int_equal(next_tid(&bench), 1);
	send_tid(&bench, 2);
	bench.transport->ops->close(bench.transport);
	ibsa_fabric_put(NULL);
}

static void fault_ends_after_its_count(void **state)
{
	struct bench *bench = *state;

	set_fault(bench, IBSA_FAULT_LOSE, 100, 2, 0);
	for (uint32_t tid = 1; tid <= 3; tid++)
		send_tid(bench, tid);
	assert_int_equal(next_tid(bench), 3);
	assert_int_equal(next_tid(bench), 0);
	assert_int_equal(strikes(bench, IBSA_FAULT_LOSE), 2);
}

static void delayed_is_late_but_not_too_late(void **state)
{
	struct bench *bench = *state;

	set_fault(bench, IBSA_FAULT_DELAY, 100, 1, 50);
	send_tid(bench, 1);
	assert_int_equal(next_tid(bench), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 50 * MS), 0);
	assert_int_equal(next_tid(bench), 1);
}

static void long_delays_fill_their_range(void **state)
{
	struct bench *bench = *state;
	int early = 0;
	int late = 0;

	set_fault(bench, IBSA_FAULT_DELAY, 100, 40, 20000);
	for (uint32_t tid = 1; tid <= 40; tid++)
		send_tid(bench, tid);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 10000 * MS), 0);
	while (next_tid(bench))
		early++;
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 10000 * MS), 0);
	while (next_tid(bench))
		late++;
	assert_int_equal(early + late, 40);
	assert_in_range(late, 8, 32);
}

/* The umad file waits for one answer: a second answer is for no agent. */
static void duplicate_comes_once(void **state)
{
	struct bench *bench = *state;

	set_fault(bench, IBSA_FAULT_DUPLICATE, 100, 1, 0);
	send_tid(bench, 1);
	assert_int_equal(next_tid(bench), 1);
	assert_int_equal(next_tid(bench), 0);
	assert_int_equal(strikes(bench, IBSA_FAULT_DUPLICATE), 1);
	assert_int_equal(bench_stats(bench).drops[IBSA_DROP_NO_AGENT], 1);
}

static void reordered_comes_after_the_next(void **state)
{
	struct bench *bench = *state;

	set_fault(bench, IBSA_FAULT_REORDER, 100, 1, 0);
	for (uint32_t tid = 1; tid <= 3; tid++)
		send_tid(bench, tid);
	assert_int_equal(next_tid(bench), 2);
	assert_int_equal(next_tid(bench), 1);
	assert_int_equal(next_tid(bench), 3);
	/* If no other MAD overtakes the held-back MAD, it still arrives. */
	set_fault(bench, IBSA_FAULT_REORDER, 100, 1, 20);
	send_tid(bench, 4);
	assert_int_equal(next_tid(bench), 0);
	assert_int_equal(ibsa_fabric_advance(bench->fabric, 20 * MS), 0);
	assert_int_equal(next_tid(bench), 4);
}

static void corrupt_differs_in_some_bits(void **state)
{
	struct bench *bench = *state;
	uint8_t clean[IBSA_MAD_BYTES];
	unsigned int received = 0;
	unsigned int differ = 0;

	send_tid(bench, 1);
	assert_int_equal(next_tid(bench), 1);
	memcpy(clean, bench->answer.mad, sizeof(clean));
	set_fault(bench, IBSA_FAULT_CORRUPT, 100, 0, 0);
	for (uint32_t tid = 2; tid < 52; tid++) {
		send_tid(bench, tid);
		while (bench_receive(bench)) {
			received++;
			ibsa_put_be32(clean + MAD_TID + 4, tid);
			differ += memcmp(bench->answer.mad, clean, 256) != 0;
		}
	}
	/* Corruption may turn a request into one that the SA drops. */
	assert_true(received > 10);
	assert_int_equal(differ, received);
}

static void busy_and_silent(void **state)
{
	struct bench *bench = *state;
	struct ibsa_fabric_stats stats;

	set_fault(bench, IBSA_FAULT_BUSY, 100, 1, 0);
	send_tid(bench, 1);
	assert_int_equal(next_tid(bench), 1);
	assert_int_equal(IBSA_GET(sa_header, status, bench->answer.mad),
			 IBSA_STATUS_BUSY);
	assert_int_equal(bench->answer.mad[MAD_METHOD], IBSA_METHOD_GET_RESP);
	set_fault(bench, IBSA_FAULT_SILENCE, 100, 1, 0);
	send_tid(bench, 2);
	assert_int_equal(next_tid(bench), 0);
	send_tid(bench, 3);
	assert_int_equal(next_tid(bench), 3);
	ibsa_fabric_stats_get(bench->fabric, &stats);
	assert_int_equal(stats.unanswered, 1);
	assert_int_equal(stats.answers, 2);
}

static void impossible_faults_are_refused(void **state)
{
	const struct ibsa_fault faults[] = {
		{ .kind = IBSA_FAULT_KINDS, .percent = 1 },
		{ .kind = IBSA_FAULT_LOSE, .percent = -1 },
		{ .kind = IBSA_FAULT_LOSE, .percent = 101 },
		{ .kind = IBSA_FAULT_LOSE, .percent = __builtin_nan("") },
	};
	struct bench *bench = *state;

	for (int i = 0; i < 4; i++)
		assert_int_equal(ibsa_fabric_fault(bench->fabric, &faults[i]),
				 -EINVAL);
}

/*
 * Return: a checksum over what a client receives in a fabric with all faults.
 */
static uint64_t history(uint64_t seed)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true,
						     .seed = seed,
						     .latency_us = 100 };
	struct bench bench;
	uint64_t sum = 0;

	bench_start_text(&bench, two_hosts, "node2", &options);
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++)
		set_fault(&bench, (enum ibsa_fault_kind)kind, 20, 0, 3);
	for (uint32_t tid = 1; tid <= 500; tid++) {
		send_tid(&bench, tid);
		assert_int_equal(ibsa_fabric_advance(bench.fabric, MS / 2), 0);
		while (bench_receive(&bench)) {
			const uint64_t now =
				bench.transport->ops->now_ns(bench.transport);

			sum = bench_mix(sum, &now, sizeof(now));
			sum = bench_mix(sum, bench.answer.mad,
					bench.answer.len);
		}
	}
	for (int kind = 0; kind < IBSA_FAULT_KINDS; kind++)
		assert_true(strikes(&bench, (enum ibsa_fault_kind)kind) > 20);
	bench_stop(&bench);
	return sum;
}

static void same_seed_is_the_same_history(void **state)
{
	(void)state;
	assert_true(history(1) == history(1));
	assert_true(history(1) != history(2));
}

static void close_frees_unread_messages(void **state)
{
	struct bench bench;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", NULL);
	set_fault(&bench, IBSA_FAULT_DELAY, 50, 0, 3);
	set_fault(&bench, IBSA_FAULT_REORDER, 50, 0, 3);
	for (uint32_t tid = 1; tid <= 100; tid++)
		send_tid(&bench, tid);
	next_tid(&bench);
	bench_stop(&bench);
}

/* Each thread has a client of its own and gets its own answers. */
static void *query_many(void *arg)
{
	struct bench bench = *(struct bench *)arg;
	uintptr_t wrong = 0;

	if (ibsa_fabric_attach(bench.fabric, "node1", 1, &bench.transport))
		return (void *)(uintptr_t)1;
	for (uint32_t tid = 1; tid <= 500; tid++) {
		send_tid(&bench, tid);
		bench.transport->ops->wait(bench.transport, 1000);
		wrong += next_tid(&bench) != tid;
	}
	bench.transport->ops->close(bench.transport);
	return (void *)wrong;
}

static void clients_may_be_in_different_threads(void **state)
{
	enum { THREADS = 4 };
	const struct ibsa_fabric_options real = { 0 };
	pthread_t threads[THREADS];
	struct bench bench;

	(void)state;
	bench_start_text(&bench, two_hosts, "node2", &real);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, query_many,
						&bench),
				 0);
	for (int i = 0; i < 20; i++) {
		struct ibsa_fabric_stats stats;

		ibsa_fabric_stats_get(bench.fabric, &stats);
		set_fault(&bench, IBSA_FAULT_DUPLICATE, 0, 0, 0);
	}
	for (int i = 0; i < THREADS; i++) {
		void *wrong;

		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	bench_stop(&bench);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, bench_teardown)

static void faults_are_read_from_text(void **state)
{
	static const char *const wrong[] = {
		"",
		"lose",
		"lose=",
		"lose=x",
		"lose=-1",
		"lose=101",
		"lose=100.01",
		"lose=1e1",
		"lose=0x1",
		"lose=2,5,",
		"lose=2.5.5",
		"lost=1",
		"lose=1,",
		"lose=1,-1",
		"lose=1,1,",
		"LOSE=1",
		"lose=1;1",
		"lose=1,1x",
		"lose=1,1,1,1",
		"lose=1,4294967296",
		"lose=1,99999999999999999999",
	};
	const struct ibsa_fault before = { .percent = 7 };
	struct ibsa_fault fault = before;
	struct ibsa_error error = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(ibsa_fault_parse(wrong[i], &fault, &error),
				 -EINVAL);
		assert_memory_equal(&fault, &before, sizeof(fault));
	}
	assert_non_null(strstr(error.text, "silence"));
	assert_int_equal(ibsa_fault_parse(NULL, &fault, NULL), -EINVAL);
	assert_int_equal(ibsa_fault_parse("delay=2.5%,3,200", &fault, NULL), 0);
	assert_int_equal(fault.kind, IBSA_FAULT_DELAY);
	assert_true(fault.percent == 2.5);
	assert_int_equal(fault.count, 3);
	assert_int_equal(fault.delay_ms, 200);
	assert_int_equal(ibsa_fault_parse("lose=012.345", &fault, NULL), 0);
	assert_true(fault.percent == 12.345);
	assert_int_equal(ibsa_fault_parse("busy=100", &fault, NULL), 0);
	assert_int_equal(fault.kind, IBSA_FAULT_BUSY);
	assert_int_equal(fault.count, 0);
	assert_int_equal(ibsa_fault_parse("lose=1,4294967295,0", &fault, NULL),
			 0);
	assert_true(fault.count == UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(port_state_has_its_lids),
		TEST(impossible_ports_cannot_be_opened),
		TEST(answers_come_in_the_order_of_requests),
		TEST(clients_have_queues_of_their_own),
		TEST(mad_to_an_unused_lid_is_lost),
		TEST(sa_has_the_well_known_gid),
		cmocka_unit_test(virtual_wait_jumps_to_the_answer),
		cmocka_unit_test(wake_ends_a_wait_of_either_clock),
		cmocka_unit_test(fd_is_readable_while_there_is_something),
		cmocka_unit_test(late_answer_makes_the_fd_readable),
		cmocka_unit_test(fabric_lives_as_long_as_its_clients),
		TEST(fault_ends_after_its_count),
		TEST(delayed_is_late_but_not_too_late),
		TEST(long_delays_fill_their_range),
		TEST(duplicate_comes_once),
		TEST(reordered_comes_after_the_next),
		TEST(corrupt_differs_in_some_bits),
		TEST(busy_and_silent),
		TEST(impossible_faults_are_refused),
		cmocka_unit_test(faults_are_read_from_text),
		cmocka_unit_test(same_seed_is_the_same_history),
		cmocka_unit_test(close_frees_unread_messages),
		cmocka_unit_test(clients_may_be_in_different_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
