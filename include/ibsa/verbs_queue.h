/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions that create queues, which stand in place of those of libibverbs if
 * IBSA_VERBS_NAMES is defined. libibverbs passes the context's async_fd to the kernel for the
 * events of the queue, and the kernel accepts only the device's own file.
 */
#ifndef IBSA_VERBS_QUEUE_H
#define IBSA_VERBS_QUEUE_H

#include <ibsa/verbs.h>

IBSA_BEGIN

static inline struct ibv_cq *ibsa__create_cq(struct ibv_context *context,
					     int cqe, void *cq_context,
					     struct ibv_comp_channel *channel,
					     int comp_vector)
{
	struct ibsa_verbs_async_fd *held = ibsa_verbs_async_fd_get(context);
	struct ibv_cq *cq = ibv_create_cq(context, cqe, cq_context, channel,
					  comp_vector);

	ibsa_verbs_async_fd_put(held);
	return cq;
}

/* @of: the struct in which the queue is created; @context: its context;
 * @wanted: the struct of the queue's attributes. */
#define IBSA__CREATE(made, name, of, context, wanted)                       \
	static inline struct made *ibsa__create_##name(struct of *where,    \
						       struct wanted *what) \
	{                                                                   \
		struct ibsa_verbs_async_fd *held =                          \
			ibsa_verbs_async_fd_get(context);                   \
		struct made *queue = ibv_create_##name(where, what);        \
                                                                            \
		ibsa_verbs_async_fd_put(held);                              \
		return queue;                                               \
	}

IBSA__CREATE(ibv_cq_ex, cq_ex, ibv_context, where, ibv_cq_init_attr_ex)
IBSA__CREATE(ibv_qp, qp, ibv_pd, where->context, ibv_qp_init_attr)
IBSA__CREATE(ibv_qp, qp_ex, ibv_context, where, ibv_qp_init_attr_ex)
IBSA__CREATE(ibv_srq, srq, ibv_pd, where->context, ibv_srq_init_attr)
IBSA__CREATE(ibv_srq, srq_ex, ibv_context, where, ibv_srq_init_attr_ex)
IBSA__CREATE(ibv_wq, wq, ibv_context, where, ibv_wq_init_attr)

#ifdef IBSA_VERBS_NAMES
#define ibv_create_cq ibsa__create_cq
#define ibv_create_cq_ex ibsa__create_cq_ex
#define ibv_create_qp ibsa__create_qp
#define ibv_create_qp_ex ibsa__create_qp_ex
#define ibv_create_srq ibsa__create_srq
#define ibv_create_srq_ex ibsa__create_srq_ex
#define ibv_create_wq ibsa__create_wq
#endif

IBSA_END

#endif
