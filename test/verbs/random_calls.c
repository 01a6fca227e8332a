/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls that threads of the program verbs-random make. */
#include "test/verbs/random.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Under libibverbs' names, the library for LD_PRELOAD is called first. */
int close_any(struct ibv_context *context)
{
	int before;
	int failed;

	/* A cancellation in libibverbs' own close would lose descriptors. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	failed = is_device() ? ibv_close_device(context)
			     : ibsa_close_device(context);
	pthread_setcancelstate(before, &before);
	return failed;
}

/*
 * Allow the result that libibverbs returns, or one after a signal, a close or a
 * fork.
 */
static void expect(int failed, const char *call)
{
	must(!failed || errno == EINTR || errno == EAGAIN || errno == EBADF ||
		     errno == EIO || errno == EINVAL || errno == EBUSY ||
		     errno == ENODEV || errno == ENXIO,
	     call);
}

static void event_get_stock(struct ibv_context *context)
{
	struct ibv_async_event event;

	if (!is_device())
		return;
	if (!ibv_get_async_event(context, &event)) {
		(void)!ibsa_stock_event_gid(&event);
		(void)!ibv_event_type_str(event.event_type);
		ibv_ack_async_event(&event);
	}
}

static void event_get(struct ibv_context *context, bool is_stock)
{
	struct ibsa_async_event event;
	const int failed = is_stock ? ibsa_stock_get_event(context, &event)
				    : ibsa_get_async_event(context, &event);

	expect(failed, "get");
	if (failed)
		return;
	(void)!ibsa_event_type_text(event.event_type);
	ibsa_ack_async_event(&event);
}

static void wait_shared(struct worker *worker)
{
	event_get(worker->shared, false);
}

static void wait_shared_stock(struct worker *worker)
{
	event_get_stock(worker->shared);
}

static void wait_shared_preload(struct worker *worker)
{
	event_get(worker->shared, true);
}

/*
 * If the thread is cancelled during the wait, its cleanup handler closes the
 * context in @worker->own.
 */
static void wait_own(struct worker *worker)
{
	struct ibv_context *context;

	worker->own = context_open();
	if (worker->random & 1)
		expect(ibsa_verbs_attach(worker->own, NULL), "attach");
	worker->is_waiting = true;
	event_get(worker->own, worker->random & 2);
	worker->is_waiting = false;
	context = worker->own;
	worker->own = NULL;
	if (context)
		must(!close_any(context), "close");
}

static void register_all(struct worker *worker)
{
	expect(ibv_register_sm_events(worker->shared, IBV_SM_EVENT_ALL, 0,
				      NULL),
	       "register");
}

static void unregister_all(struct worker *worker)
{
	expect(ibv_unregister_sm_events(worker->shared, IBV_SM_EVENT_ALL, 0,
					NULL),
	       "unregister");
}

static void attach(struct worker *worker)
{
	const struct ibsa_verbs_options options = { .gaps = true };
	const int err = ibsa_verbs_attach(worker->shared, &options);

	must(!err || err == -EALREADY || err == -EBUSY, "attach");
}

static void detach(struct worker *worker)
{
	const int err = ibsa_verbs_detach(worker->shared);

	must(!err || err == -EINVAL, "detach");
}

static void reach(struct worker *worker)
{
	union ibv_gid gid = { { 0xfe, 0x80, [15] = 1 } };

	expect(ibv_gid_reachable(worker->shared, 0, &gid, 0), "reachable");
}

static void gids_query(struct worker *worker)
{
	struct ibv_gid_entry entries[16];

	(void)!ibsa_query_gid_ex(worker->shared, 1, 0, &entries[0], 0);
	(void)!ibsa_query_gid_table(worker->shared, entries, 16, 0);
	(void)!_ibv_query_gid_ex(worker->shared, 1, 0, &entries[0], 0,
				 sizeof(entries[0]));
	(void)!_ibv_query_gid_table(worker->shared, entries, 16, 0,
				    sizeof(entries[0]));
}

static void device_file_hold(struct worker *worker)
{
	worker->held = ibsa_verbs_async_fd_get(worker->shared);
	pthread_testcancel();
	ibsa_verbs_async_fd_put(worker->held);
	worker->held = NULL;
}

/* Open a context, set O_NONBLOCK at its async fd, and close the context. */
static void context_open_and_close(struct worker *worker)
{
	struct ibv_context *context;
	int before;
	int number;

	(void)worker;
	/*
	 * A cancellation would not find the new context, which would stay open.
	 */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	context = context_open();
	number = context->async_fd;
	must(!fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK),
	     "fcntl");
	event_get(context, false);
	must(!close_any(context), "close");
	pthread_setcancelstate(before, &before);
}

static void queues_create(struct worker *worker)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { 4, 1, 0 } };
	struct ibv_qp_init_attr qp_attr = { .cap = { 1, 1, 1, 1, 0 },
					    .qp_type = IBV_QPT_RC };
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	if (!is_device())
		return;
	pd = ibv_alloc_pd(worker->shared);
	cq = ibv_create_cq(worker->shared, 4, NULL, NULL, 0);
	must(pd && cq, "ibv_create_cq");
	srq = ibv_create_srq(pd, &srq_attr);
	must(srq, "ibv_create_srq");
	qp_attr.send_cq = cq;
	qp_attr.recv_cq = cq;
	qp = ibv_create_qp(pd, &qp_attr);
	must(qp, "ibv_create_qp");
	must(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq) &&
		     !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd),
	     "destroy");
}

typedef void (*call_fn)(struct worker *worker);

static const call_fn calls_at_once[] = {
	register_all,  unregister_all, attach,		 detach,
	reach,	       gids_query,     device_file_hold, context_open_and_close,
	queues_create,
};

static const call_fn calls_waiting[] = {
	wait_shared,
	wait_shared_stock,
	wait_shared_preload,
	wait_own,
};

enum {
	AT_ONCE = sizeof(calls_at_once) / sizeof(calls_at_once[0]),
	WAITING = sizeof(calls_waiting) / sizeof(calls_waiting[0]),
};

void worker_call_at_once(struct worker *worker, unsigned int number)
{
	calls_at_once[number % AT_ONCE](worker);
}

void worker_call(struct worker *worker, unsigned int number)
{
	number %= AT_ONCE + WAITING;
	if (number < AT_ONCE)
		calls_at_once[number](worker);
	else
		calls_waiting[number - AT_ONCE](worker);
}
