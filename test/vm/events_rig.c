/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A device of libibverbs, its SA, and queues with events of their own. */
#include "events_rig.h"

#include <poll.h>

enum {
	GID_INDEX = REPORTER_GID_INDEX,
	HOP_LIMIT = REPORTER_HOP_LIMIT,
	PORT = 1,
	RECEIVES = 3,
};

static struct ibv_context *device_open(const char *name)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	assert_non_null(devices);
	for (size_t i = 0; devices[i]; i++) {
		if (!strcmp(ibv_get_device_name(devices[i]), name))
			context = ibv_open_device(devices[i]);
	}
	ibv_free_device_list(devices);
	assert_non_null(context);
	return context;
}

static void gid_read(struct ibv_context *context, union ibv_gid *out)
{
	assert_int_equal(ibv_query_gid(context, PORT, GID_INDEX, out), 0);
}

int rig_setup(void **state)
{
	static struct rig rig;
	struct ibv_context *far = device_open("rxe1");
	union ibv_gid gid;

	memset(&rig, 0, sizeof(rig));
	gid_read(far, &gid);
	assert_int_equal(ibv_close_device(far), 0);
	rig.context = device_open("rxe0");
	rig.sa = (struct ibsa_address){
		.qpn = IBSA_QPN_GSI,
		.has_grh = true,
		.gid_index = GID_INDEX,
		.hop_limit = HOP_LIMIT,
	};
	memcpy(rig.sa.gid.raw, gid.raw, sizeof(gid.raw));
	reporter_start(&rig.reporter);
	*state = &rig;
	return 0;
}

void rig_reopen(struct rig *rig)
{
	rig->context = device_open("rxe0");
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	reporter_stop(&rig->reporter);
	return 0;
}

void rig_subscribe(struct rig *rig, const struct ibsa_verbs_options *options)
{
	struct ibsa_verbs_options with_sa = { 0 };

	if (options)
		with_sa = *options;
	with_sa.access.sa = &rig->sa;
	assert_int_equal(ibsa_verbs_attach(rig->context, &with_sa), 0);
	assert_int_equal(ibv_register_sm_events(rig->context, IBV_SM_EVENT_ALL,
						0, NULL),
			 0);
	reporter_await(&rig->reporter, "subscribed 4");
}

void rig_close_subscribed(struct rig *rig,
			  int (*close)(struct ibv_context *context))
{
	assert_int_equal(close(rig->context), 0);
	reporter_await(&rig->reporter, "unsubscribed 4");
}

void rig_change_gids(void)
{
	vm_shell("ip addr add 10.90.0.1/24 dev eth0 && "
		 "ip addr del 10.90.0.1/24 dev eth0");
}

bool rig_poll(int fd, int timeout_ms)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	return poll(&polled, 1, timeout_ms) == 1 && polled.revents == POLLIN;
}

static struct ibv_qp *qp_create(struct pair *pair, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = pair->cq,
		.recv_cq = pair->cq,
		.srq = srq,
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = srq ? 0 : 4,
			 .max_send_sge = 1,
			 .max_recv_sge = srq ? 0 : 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pair->pd, &attr);

	assert_non_null(qp);
	return qp;
}

static void qp_connect(struct ibv_qp *qp, const struct ibv_qp *to)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qp_num,
		.min_rnr_timer = 12,
		.ah_attr = { .is_global = 1,
			     .port_num = PORT,
			     .grh = { .sgid_index = GID_INDEX,
				      .hop_limit = HOP_LIMIT } },
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	gid_read(qp->context, &attr.ah_attr.grh.dgid);
	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_PKEY_INDEX |
					       IBV_QP_PORT |
					       IBV_QP_ACCESS_FLAGS),
			 0);
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &attr,
				       IBV_QP_STATE | IBV_QP_AV |
					       IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					       IBV_QP_MAX_DEST_RD_ATOMIC |
					       IBV_QP_MIN_RNR_TIMER),
			 0);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(
		ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				      IBV_QP_MAX_QP_RD_ATOMIC),
		0);
}

void pair_open(struct pair *pair, struct ibv_context *context)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = RECEIVES + 1,
						    .max_sge = 1 } };

	memset(pair, 0, sizeof(*pair));
	pair->pd = ibv_alloc_pd(context);
	assert_non_null(pair->pd);
	pair->mr = ibv_reg_mr(pair->pd, pair->buffer, sizeof(pair->buffer),
			      IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(pair->mr);
	pair->cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	assert_non_null(pair->cq);
	pair->srq = ibv_create_srq(pair->pd, &attr);
	assert_non_null(pair->srq);
	pair->sender = qp_create(pair, NULL);
	pair->receiver = qp_create(pair, pair->srq);
	qp_connect(pair->sender, pair->receiver);
	qp_connect(pair->receiver, pair->sender);
}

void pair_reach_limit(struct pair *pair)
{
	struct ibv_srq_attr limit = { .srq_limit = RECEIVES };
	struct ibv_sge sge = {
		.addr = (uintptr_t)pair->buffer,
		.length = sizeof(pair->buffer),
		.lkey = pair->mr->lkey,
	};
	struct ibv_recv_wr receive = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr send = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad_send;

	for (int i = 0; i < RECEIVES; i++)
		assert_int_equal(ibv_post_srq_recv(pair->srq, &receive,
						   &bad_receive),
				 0);
	assert_int_equal(ibv_modify_srq(pair->srq, &limit, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_post_send(pair->sender, &send, &bad_send), 0);
}

void pair_close(struct pair *pair)
{
	assert_int_equal(ibv_destroy_qp(pair->sender), 0);
	assert_int_equal(ibv_destroy_qp(pair->receiver), 0);
	assert_int_equal(ibv_destroy_srq(pair->srq), 0);
	assert_int_equal(ibv_destroy_cq(pair->cq), 0);
	assert_int_equal(ibv_dereg_mr(pair->mr), 0);
	assert_int_equal(ibv_dealloc_pd(pair->pd), 0);
}

static void drained_modify(struct drained *drained, enum ibv_qp_state to,
			   int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = to,
		.port_num = 1,
		.qkey = 1,
		.en_sqd_async_notify = 1,
	};

	assert_int_equal(ibv_modify_qp(drained->qp, &attr, IBV_QP_STATE | mask),
			 0);
}

void drained_open(struct drained *drained, struct ibv_context *context)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1,
			 .max_recv_wr = 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	drained->pd = ibv_alloc_pd(context);
	assert_non_null(drained->pd);
	drained->cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	assert_non_null(drained->cq);
	attr.send_cq = drained->cq;
	attr.recv_cq = drained->cq;
	drained->qp = ibv_create_qp(drained->pd, &attr);
	assert_non_null(drained->qp);
	drained_modify(drained, IBV_QPS_INIT,
		       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	drained_modify(drained, IBV_QPS_RTR, 0);
	drained_modify(drained, IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

void drained_stop_sending(struct drained *drained)
{
	drained_modify(drained, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

void drained_close(struct drained *drained)
{
	assert_int_equal(ibv_destroy_qp(drained->qp), 0);
	assert_int_equal(ibv_destroy_cq(drained->cq), 0);
	assert_int_equal(ibv_dealloc_pd(drained->pd), 0);
}
