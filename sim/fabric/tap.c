/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is on the links of a fabric, for the program that has tapped it. Of an
 * in-process client it is what one would see at its port: a request when it is
 * sent, whatever becomes of it, and an answer when it arrives, if it does.
 */
#include <errno.h>

#include "sim/capture/capture.h"
#include "sim/fabric/link.h"

int ibsa_fabric_tap(struct ibsa_fabric *fabric, ibsa_packet_fn seen, void *arg)
{
	int err = 0;

	if (fabric->subnet.is_opa)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&fabric->lock);
	if (seen && fabric->capture.seen) {
		err = -EBUSY;
	} else {
		fabric->capture.seen = seen;
		fabric->capture.arg = arg;
		fabric->net.tap = (struct mad_tap){
			.seen = seen ? ibsa__capture_posted : NULL,
			.arg = &fabric->capture,
		};
	}
	pthread_mutex_unlock(&fabric->lock);
	return err;
}

static uint16_t own_lid(const struct link *link, const struct ibsa_address *far)
{
	const struct end_port *end = &link->fabric->subnet.ends[link->end];

	return (uint16_t)(end->lid | far->path_bits);
}

/* Where a MAD between a client and @far goes; its LID may be in the GID. */
static struct frame frame_between(const struct link *link,
				  const struct ibsa_address *far)
{
	const struct ibsa_fabric *fabric = link->fabric;
	struct frame frame = {
		.slid = own_lid(link, far),
		.dlid = (uint16_t)(far->lid ? far->lid
					    : fabric->subnet
						      .ends[fabric->subnet
								    .sa_end]
						      .lid),
		.src_qp = IBSA_QPN_GSI,
		.dst_qp = far->qpn,
		.pkey = setup_pkey(&fabric->subnet.setups[link->end],
				   far->pkey_index),
		.sl = far->sl,
		.has_grh = far->has_grh,
		.hop_limit = far->hop_limit,
		.traffic_class = far->traffic_class,
		.flow_label = far->flow_label,
		.dgid = far->gid,
	};

	end_gid(&fabric->subnet, &fabric->subnet.ends[link->end],
		frame.sgid.raw);
	return frame;
}

void ibsa__link_tap_sent(struct link *link, const struct ibsa_address *to,
			 const uint8_t *mad, uint64_t time_ns)
{
	struct frame frame;

	if (!capture_is_on(&link->fabric->capture))
		return;
	frame = frame_between(link, to);
	ibsa__capture_mad(&link->fabric->capture, &frame, mad, IBSA_MAD_BYTES,
			  time_ns);
}

void ibsa__link_tap_arrived(struct link *link, const struct message *message)
{
	struct frame out;
	struct frame in;

	if (!capture_is_on(&link->fabric->capture))
		return;
	out = frame_between(link, &message->sa);
	in = out;
	in.slid = out.dlid;
	in.dlid = out.slid;
	in.sgid = out.dgid;
	in.dgid = out.sgid;
	in.src_qp = out.dst_qp;
	in.dst_qp = out.src_qp;
	ibsa__capture_mad(&link->fabric->capture, &in, message->body.bytes,
			  message->body.len, message->due_ns);
}
