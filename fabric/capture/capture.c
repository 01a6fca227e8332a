/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the fabric's MADs as packets, for a program that captures traffic. A
 * MAD between two ports is captured once, at the port that sends it.
 */
#include <string.h>

#include "fabric/mad/agent.h"
#include "fabric/capture/capture.h"
#include "fabric/mad/queue.h"

enum {
	PSN_MASK = 0xffffff,
};

static void capture_one(struct capture *capture, const struct frame *frame,
			const uint8_t *mad, uint64_t time_ns)
{
	struct frame whole = *frame;
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ibsa_packet packet = { .time_ns = time_ns, .bytes = bytes };

	whole.mad = mad;
	whole.psn = capture->count++ & PSN_MASK;
	packet.len = ibsa__frame_put(&whole, bytes);
	capture->report(&packet, capture->arg);
}

static bool is_rmpp(const uint8_t *mad, size_t len)
{
	return ibsa__class_has_rmpp(mad[MAD_CLASS]) &&
	       len >= ibsa__class_header_bytes(mad[MAD_CLASS]) &&
	       mad[MAD_RMPP_VERSION] == 1 &&
	       mad[MAD_RMPP_TYPE] == IBSA_RMPP_TYPE_DATA &&
	       mad[MAD_RMPP_FLAGS] & IBSA_RMPP_ACTIVE;
}

/*
 * Write segment @number of the @count segments of an RMPP message.
 * PayloadLength includes the class header: in the first segment it covers the
 * whole message, in the last one only that segment. IBA vol 1, 13.6.2.
 */
static void fill_segment(uint8_t *segment, uint32_t number, uint32_t count,
			 uint32_t last_len)
{
	enum { ROOM = IBSA_MAD_BYTES - MAD_RMPP_END };
	uint8_t flags = (uint8_t)(segment[MAD_RMPP_FLAGS] & 0xf8) |
			IBSA_RMPP_ACTIVE;
	uint32_t len = 0;

	if (number == count) {
		flags |= IBSA_RMPP_LAST;
		len = last_len;
	}
	if (number == 1) {
		flags |= IBSA_RMPP_FIRST;
		len = (count - 1) * ROOM + last_len;
	}
	segment[MAD_RMPP_FLAGS] = flags;
	ibsa_put_be32(segment + MAD_RMPP_SEGMENT, number);
	ibsa_put_be32(segment + MAD_RMPP_LENGTH, len);
}

static void capture_segments(struct capture *capture, const struct frame *frame,
			     const uint8_t *mad, size_t len, uint64_t time_ns)
{
	const size_t header = ibsa__class_header_bytes(mad[MAD_CLASS]);
	const size_t room = IBSA_MAD_BYTES - header;
	const size_t data = len - header;
	const size_t count = data ? (data + room - 1) / room : 1;
	const size_t last = data - (count - 1) * room;
	uint8_t segment[IBSA_MAD_BYTES];

	memcpy(segment, mad, header);
	for (size_t i = 0; i < count; i++) {
		const size_t part = i + 1 < count ? room : last;

		memcpy(segment + header, mad + header + i * room, part);
		memset(segment + header + part, 0, room - part);
		fill_segment(segment, (uint32_t)i + 1, (uint32_t)count,
			     (uint32_t)(header - MAD_RMPP_END + last));
		capture_one(capture, frame, segment, time_ns);
	}
}

void ibsa__capture_mad(struct capture *capture, const struct frame *frame,
		       const uint8_t *mad, size_t len, uint64_t time_ns)
{
	uint8_t room[IBSA_MAD_BYTES] = { 0 };

	if (!capture_is_on(capture))
		return;
	if (is_rmpp(mad, len)) {
		capture_segments(capture, frame, mad, len, time_ns);
		return;
	}
	memcpy(room, mad, len < sizeof(room) ? len : sizeof(room));
	capture_one(capture, frame, room, time_ns);
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
