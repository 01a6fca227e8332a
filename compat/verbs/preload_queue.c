/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: libibverbs' functions that create
 * queues. The async fd of their context may refer to an epoll file, which the
 * kernel does not accept for a queue.
 */
#include <errno.h>

#include <ibsa/verbs.h>

#include "verbs/stock_find.h"

/*
 * The address of a function of libibverbs, as a pointer of the function's type.
 */
union stock {
	void *address;
	__typeof__(ibv_create_cq) *cq;
	__typeof__(ibv_create_qp) *qp;
	__typeof__(ibv_create_srq) *srq;
};

static union stock queue_find(const char *name)
{
	const union stock stock = { stock_find(name) };

	if (!stock.address)
		errno = ENOSYS;
	return stock;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	const union stock stock = queue_find("ibv_create_cq");
	struct ibsa_verbs_async_fd *held;
	struct ibv_cq *cq;

	if (!stock.cq)
		return NULL;
	held = ibsa_verbs_async_fd_get(context);
	cq = stock.cq(context, cqe, cq_context, channel, comp_vector);
	ibsa_verbs_async_fd_put(held);
	return cq;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const union stock stock = queue_find("ibv_create_qp");
	struct ibsa_verbs_async_fd *held;
	struct ibv_qp *qp;

	if (!stock.qp)
		return NULL;
	held = ibsa_verbs_async_fd_get(pd->context);
	qp = stock.qp(pd, attr);
	ibsa_verbs_async_fd_put(held);
	return qp;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	const union stock stock = queue_find("ibv_create_srq");
	struct ibsa_verbs_async_fd *held;
	struct ibv_srq *srq;

	if (!stock.srq)
		return NULL;
	held = ibsa_verbs_async_fd_get(pd->context);
	srq = stock.srq(pd, attr);
	ibsa_verbs_async_fd_put(held);
	return srq;
}
