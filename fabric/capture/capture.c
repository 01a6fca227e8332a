/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the fabric's MADs as packets, for a program that captures traffic. A
 * MAD between two ports is captured once, at the port that sends it.
 */
#include "common/segment.h"
#include "fabric/mad/agent.h"
#include "fabric/capture/capture.h"
#include "fabric/mad/queue.h"

enum {
	PSN_MASK = 0xffffff,
};

/* A MAD that is captured. */
struct captured {
	struct capture *capture;
	struct frame frame;
	uint64_t time_ns;
};

static void capture_one(const uint8_t *mad, void *arg)
{
	struct captured *captured = arg;
	struct capture *capture = captured->capture;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ibsa_packet packet = {
		.time_ns = captured->time_ns,
		.bytes = bytes,
	};

	captured->frame.mad = mad;
	captured->frame.psn = capture->count++ & PSN_MASK;
	packet.len = ibsa__frame_put(&captured->frame, bytes);
	capture->report(&packet, capture->arg);
}

void ibsa__capture_mad(struct capture *capture, const struct frame *frame,
		       const uint8_t *mad, size_t len, uint64_t time_ns)
{
	struct captured captured = { capture, *frame, time_ns };
	const uint8_t mgmt_class = mad[MAD_CLASS];

	if (capture_is_on(capture))
		ibsa__segments_put(
			mad, len,
			ibsa__class_has_rmpp(mgmt_class)
				? ibsa__class_header_bytes(mgmt_class)
				: 0,
			capture_one, &captured);
}

void ibsa__capture_posted(void *arg, const struct message *message,
			  uint64_t now_ns)
{
	struct capture *capture = arg;
	const struct mad_headers *mad = &message->mad;
	const struct frame frame = {
		.slid = (uint16_t)mad->slid,
		.dlid = (uint16_t)mad->dlid,
		.src_qp = mad->src_qpn,
		.dst_qp = mad->dst_qpn,
		.pkey = mad->dst_qpn ? mad->pkey : IBSA_PKEY_DEFAULT,
		.sl = mad->sl,
		.has_grh = mad->has_grh,
		.hop_limit = mad->hop_limit,
		.traffic_class = mad->traffic_class,
		.flow_label = mad->flow_label,
		.sgid = mad->sgid,
		.dgid = mad->dgid,
	};

	ibsa__capture_mad(capture, &frame, message->body.bytes,
			  message->body.len,
			  message->due_ns > now_ns ? message->due_ns : now_ns);
}
