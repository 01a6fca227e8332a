/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queues that are created while their context is attached, with the names of
 * <ibsa/verbs.h>.
 *
 * usage: vm-queues REPORTER
 */
#define IBSA_VERBS_NAMES
#include <ibsa/verbs.h>

#include "events_rig.h"

#include <unistd.h>

enum { ENTRIES = 4 };

static int setup(void **state)
{
	rig_setup(state);
	rig_subscribe(*state, NULL);
	return 0;
}

static int teardown(void **state)
{
	rig_close_subscribed(*state, ibv_close_device);
	return rig_teardown(state);
}

static void completion_queues_can_be_made(void **state)
{
	struct rig *rig = *state;
	struct ibv_cq_init_attr_ex attr = { .cqe = ENTRIES };
	const int number = rig->context->async_fd;
	struct ibv_cq *cq = ibv_create_cq(rig->context, ENTRIES, NULL, NULL, 0);
	struct ibv_cq_ex *cq_ex = ibv_create_cq_ex(rig->context, &attr);

	assert_int_equal(rig->context->async_fd, number);
	assert_non_null(cq);
	assert_non_null(cq_ex);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq_ex)), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
}

static void queue_pairs_can_be_made(void **state)
{
	struct rig *rig = *state;
	struct ibv_pd *pd = ibv_alloc_pd(rig->context);
	struct ibv_cq *cq = ibv_create_cq(rig->context, ENTRIES, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_init_attr_ex attr_ex = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);
	struct ibv_qp *qp_ex = ibv_create_qp_ex(rig->context, &attr_ex);

	assert_non_null(qp);
	assert_non_null(qp_ex);
	assert_int_equal(ibv_destroy_qp(qp_ex), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void shared_receive_queues_can_be_made(void **state)
{
	struct rig *rig = *state;
	struct ibv_pd *pd = ibv_alloc_pd(rig->context);
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = ENTRIES,
						    .max_sge = 1 } };
	struct ibv_srq_init_attr_ex attr_ex = {
		.attr = { .max_wr = ENTRIES, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);
	struct ibv_srq *srq_ex = ibv_create_srq_ex(rig->context, &attr_ex);

	assert_non_null(srq);
	assert_non_null(srq_ex);
	assert_int_equal(ibv_destroy_srq(srq_ex), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/*
 * Soft RoCE does not support this queue; libibverbs' own error is returned
 * unchanged.
 */
static void errno_is_that_of_libibverbs(void **state)
{
	struct rig *rig = *state;
	struct ibv_wq_init_attr attr = { .wq_type = IBV_WQT_RQ };

	errno = 0;
	assert_null(ibv_create_wq(rig->context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_create_cq(rig->context, -1, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
}

/* The events of the queue come, and so do the SM's. */
static void event_of_a_queue_made_on_the_device_file_comes(void **state)
{
	struct rig *rig = *state;
	struct ibsa_verbs_async_fd *held =
		ibsa_verbs_async_fd_get(rig->context);
	struct ibv_async_event event;
	struct pair pair;

	assert_non_null(held);
	pair_open(&pair, rig->context);
	ibsa_verbs_async_fd_put(held);
	pair_reach_limit(&pair);
	assert_true(rig_poll(rig->context->async_fd, RIG_WAIT_MS));
	do {
		assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(event.element.srq, pair.srq);
	reporter_report(&rig->reporter, 65, RIG_GID);
	assert_true(rig_poll(rig->context->async_fd, RIG_WAIT_MS));
	assert_int_equal(ibv_get_async_event(rig->context, &event), 0);
	assert_int_equal(event.event_type, IBV_EVENT_GID_UNAVAIL);
	ibv_ack_async_event(&event);
	pair_close(&pair);
}

/* If gets overlap, only the last put restores the member async_fd. */
static void gets_may_overlap(void **state)
{
	struct rig *rig = *state;
	const int number = rig->context->async_fd;
	struct ibsa_verbs_async_fd *first =
		ibsa_verbs_async_fd_get(rig->context);
	struct ibsa_verbs_async_fd *second =
		ibsa_verbs_async_fd_get(rig->context);

	assert_int_not_equal(rig->context->async_fd, number);
	ibsa_verbs_async_fd_put(first);
	assert_int_not_equal(rig->context->async_fd, number);
	ibsa_verbs_async_fd_put(second);
	assert_int_equal(rig->context->async_fd, number);
}

#define SUBSCRIBED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		SUBSCRIBED(completion_queues_can_be_made),
		SUBSCRIBED(queue_pairs_can_be_made),
		SUBSCRIBED(shared_receive_queues_can_be_made),
		SUBSCRIBED(errno_is_that_of_libibverbs),
		SUBSCRIBED(event_of_a_queue_made_on_the_device_file_comes),
		SUBSCRIBED(gets_may_overlap),
	};

	if (!reporter_is_named(argc, argv))
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
