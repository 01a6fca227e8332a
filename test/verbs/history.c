/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which Reports are about the same event, and where a gap is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/sm_history.h"
#include "verbs/sm_queue.h"

#define MS UINT64_C(1000000)

enum { IN = 1, OUT = 2 };

static struct sm_history history;

static int start(void **state)
{
	(void)state;
	ibsa__sm_history_init(&history);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	ibsa__sm_history_clear(&history);
	return 0;
}

/*
 * Add a Report to port 1, 2 or 3; port 3 is in another subnet. Return: whether
 * it is a new event.
 */
static bool is_new(uint8_t port, int kind, uint8_t gid, uint64_t ms)
{
	const struct sm_report report = {
		.gid = { { 0xfe, 0x80, [15] = gid } },
		.kind = kind,
		.port = port,
		.prefix = port == 3,
		.time_ns = ms * MS,
	};

	return ibsa__sm_history_is_new(&history, &report);
}

static void second_port_tells_nothing_new(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 1, 0));
	assert_false(is_new(2, OUT, 1, 10));
	assert_true(is_new(2, IN, 1, 20));
	assert_true(is_new(2, OUT, 2, 30));
	assert_false(is_new(1, OUT, 2, 30));
	assert_false(is_new(1, IN, 1, 40));
}

static void same_port_tells_another_event(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 1, 0));
	assert_true(is_new(1, IN, 1, 0));
	assert_true(is_new(1, OUT, 1, 0));
	assert_false(is_new(2, OUT, 1, 1));
	assert_false(is_new(2, IN, 1, 1));
	assert_false(is_new(2, OUT, 1, 1));
	assert_true(is_new(2, OUT, 1, 1));
	assert_false(is_new(1, OUT, 1, 1));
}

static void other_subnet_is_another_event(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 1, 0));
	assert_true(is_new(3, OUT, 1, 0));
}

static void after_a_second_it_is_another_event(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 1, 0));
	assert_true(is_new(1, OUT, 2, 500));
	assert_true(is_new(2, OUT, 1, 1001));
	assert_false(is_new(2, OUT, 2, 1500));
}

static void highest_port_counts(void **state)
{
	(void)state;
	assert_true(is_new(255, OUT, 1, 0));
	assert_false(is_new(64, OUT, 1, 0));
	assert_false(is_new(0, OUT, 1, 0));
	assert_true(is_new(255, OUT, 1, 0));
}

/* Beyond the limit, the oldest events are forgotten, and reported again. */
static void memory_has_an_end(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 255, 0));
	for (unsigned int i = 0; i < 65536; i++)
		assert_true(is_new(1, 3 + (int)i / 128, i % 128, 0));
	assert_int_equal(history.events.count, 65536);
	assert_true(is_new(2, OUT, 255, 0));
}

/* The number of remembered events with the same GID is limited. */
static void same_event_fills_no_memory(void **state)
{
	(void)state;
	assert_true(is_new(1, OUT, 2, 0));
	for (int i = 0; i < 65536; i++)
		assert_true(is_new(1, OUT, 1, 0));
	assert_int_equal(history.events.count, 65);
	for (int i = 0; i < 64; i++)
		assert_false(is_new(2, OUT, 1, 0));
	assert_true(is_new(2, OUT, 1, 0));
	assert_false(is_new(2, OUT, 2, 0));
}

static void push(struct sm_queue *queue, uint8_t last)
{
	const struct ibsa_gid gid = { { [15] = last } };

	ibsa__sm_queue_push(queue, IBV_EVENT_GID_AVAIL, &gid);
}

static void expect(struct sm_queue *queue, int type, uint8_t last)
{
	struct ibsa_async_event event;

	assert_true(ibsa__sm_queue_pop(queue, &event));
	assert_int_equal(event.event_type, type);
	if (type != IBV_EVENT_SM_GAP)
		assert_int_equal(event.element.gid.raw[15], last);
	else
		assert_int_equal(event.element.port_num, last);
}

static void gap_is_read_where_it_happened(void **state)
{
	struct ibsa_async_event event;
	struct sm_queue queue;

	(void)state;
	ibsa__sm_queue_init(&queue);
	queue.gaps_wanted = true;
	queue.limit = 2;
	push(&queue, 1);
	ibsa__sm_queue_gap(&queue, 1);
	expect(&queue, IBV_EVENT_GID_AVAIL, 1);
	push(&queue, 2);
	expect(&queue, IBV_EVENT_SM_GAP, 1);
	push(&queue, 3);
	push(&queue, 4);
	ibsa__sm_queue_gap(&queue, 2);
	expect(&queue, IBV_EVENT_GID_AVAIL, 2);
	push(&queue, 5);
	expect(&queue, IBV_EVENT_GID_AVAIL, 3);
	expect(&queue, IBV_EVENT_SM_GAP, 0);
	expect(&queue, IBV_EVENT_GID_AVAIL, 5);
	assert_false(ibsa__sm_queue_pop(&queue, &event));
	assert_true(ibsa__sm_queue_is_empty(&queue));
}

static void gaps_are_returned_on_request_only(void **state)
{
	struct sm_queue queue;

	(void)state;
	ibsa__sm_queue_init(&queue);
	ibsa__sm_queue_gap(&queue, 1);
	assert_true(ibsa__sm_queue_is_empty(&queue));
	push(&queue, 1);
	push(&queue, 2);
	ibsa__sm_queue_clear(&queue);
	assert_true(ibsa__sm_queue_is_empty(&queue));
}

/* Events of ports stay when those of the SM are removed. */
static void events_of_ports_stay(void **state)
{
	struct sm_queue queue;
	struct ibsa_async_event event;

	(void)state;
	ibsa__sm_queue_init(&queue);
	queue.gaps_wanted = true;
	push(&queue, 1);
	ibsa__sm_queue_push_port(&queue, IBV_EVENT_PORT_ERR, 2);
	push(&queue, 3);
	ibsa__sm_queue_gap(&queue, 1);
	ibsa__sm_queue_clear_sm(&queue);
	assert_true(ibsa__sm_queue_pop(&queue, &event));
	assert_int_equal(event.event_type, IBV_EVENT_PORT_ERR);
	assert_int_equal(event.element.port_num, 2);
	assert_true(ibsa__sm_queue_is_empty(&queue));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(second_port_tells_nothing_new),
		TEST(same_port_tells_another_event),
		TEST(other_subnet_is_another_event),
		TEST(after_a_second_it_is_another_event),
		TEST(highest_port_counts),
		TEST(memory_has_an_end),
		TEST(same_event_fills_no_memory),
		cmocka_unit_test(gap_is_read_where_it_happened),
		cmocka_unit_test(gaps_are_returned_on_request_only),
		cmocka_unit_test(events_of_ports_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
