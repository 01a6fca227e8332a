/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is on the links of a fabric, for whoever has tapped it. */
#ifndef SIM_CAPTURE_CAPTURE_H
#define SIM_CAPTURE_CAPTURE_H

#include <ibsa/sim.h>

#include "sim/capture/frame.h"

struct message;

struct capture {
	ibsa_packet_fn seen; /* the program that sees packets, or NULL */
	void *arg;
	uint32_t count; /* packets that it has seen */
};

static inline bool capture_is_on(const struct capture *capture)
{
	return capture->seen != NULL;
}

/*
 * A MAD with its addresses, @frame without mad and psn, is on a link at
 * @time_ns of the fabric's clock. One of more than IBSA_MAD_BYTES, an RMPP
 * message as the receiving kernel hands it up, is cut into its segments. The
 * fabric is locked.
 */
void ibsa__capture_mad(struct capture *capture, const struct frame *frame,
		       const uint8_t *mad, size_t len, uint64_t time_ns);

/* One between two ports leaves the first; @arg of struct mad_tap. */
void ibsa__capture_posted(void *arg, const struct message *message,
			  uint64_t now_ns);

#endif
