/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Captures the packets on the links of a fabric. */
#ifndef FABRIC_CAPTURE_CAPTURE_H
#define FABRIC_CAPTURE_CAPTURE_H

#include <ibsa/fabric.h>

#include "common/frame.h"

struct message;

struct capture {
	/* The function that receives the packets; NULL: nothing is captured. */
	ibsa_packet_fn report;
	void *arg;
	uint32_t count; /* packets captured */
};

static inline bool capture_is_on(const struct capture *capture)
{
	return capture->report != NULL;
}

/*
 * Capture a MAD at @time_ns of the fabric's clock. The caller fills in the
 * addresses in @frame; this function fills in mad and psn. An RMPP message of
 * more than IBSA_MAD_BYTES, in the form in which the receiving kernel passes
 * it to a client, is split into segments. The fabric is locked.
 */
void ibsa__capture_mad(struct capture *capture, const struct frame *frame,
		       const uint8_t *mad, size_t len, uint64_t time_ns);

/* Capture a MAD when it leaves a port; called through struct mad_tap. */
void ibsa__capture_posted(void *arg, const struct message *message,
			  uint64_t now_ns);

#endif
