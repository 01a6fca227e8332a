/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Part of the library for LD_PRELOAD: libibverbs' functions that create
 * queues. The async fd of their context may refer to an epoll file, which the
 * kernel does not accept for a queue.
 */
#include "preload/device.h"
#include "preload/stock.h"

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe,
			     void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct ibsa_verbs_async_fd *held;
	struct ibv_cq *cq;

	if (own_device_of(context)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	held = ibsa_verbs_async_fd_get(context);
	cq = STOCK(NULL, ibv_create_cq, context, cqe, cq_context, channel,
		   comp_vector);
	ibsa_verbs_async_fd_put(held);
	return cq;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibsa_verbs_async_fd *held = ibsa_verbs_async_fd_get(pd->context);
	struct ibv_qp *qp = STOCK(NULL, ibv_create_qp, pd, attr);

	ibsa_verbs_async_fd_put(held);
	return qp;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd,
			       struct ibv_srq_init_attr *attr)
{
	struct ibsa_verbs_async_fd *held = ibsa_verbs_async_fd_get(pd->context);
	struct ibv_srq *srq = STOCK(NULL, ibv_create_srq, pd, attr);

	ibsa_verbs_async_fd_put(held);
	return srq;
}
