/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording: the SA requests in a capture, and their answers. */
#ifndef FABRIC_CAPTURE_RECORDING_H
#define FABRIC_CAPTURE_RECORDING_H

#include <ibsa/types.h>
#include <ibsa/transport.h>

#include "base/map.h"
#include "wire/rate.h"

/*
 * A request in a recording, which may have been sent more than once, and its
 * answer.
 */
struct exchange {
	uint8_t request[IBSA_MAD_BYTES];
	/* The answer after RMPP reassembly; NULL: the request has no answer. */
	uint8_t *answer;
	size_t len;
	size_t room;
	uint32_t segment; /* the last one received */
	uint16_t slid;	  /* of the request */
	uint16_t dlid;
	bool is_whole; /* the answer is complete */
	/*
	 * Index of the next exchange whose request is equal; MAP_NONE: this is
	 * the last one.
	 */
	uint32_t next;
};

struct recording {
	struct exchange *exchanges;
	uint32_t count;
	size_t room;
	struct map by_id; /* requests without an answer yet */
	/* Map from a request to the exchange with the answer to return next. */
	struct map by_request;
	struct ibsa_port_state port; /* of the first requester */
	uint16_t pkey;
	struct link_rate rate; /* of that port's link; unknown: not recorded */
};

/*
 * Read a recording from a capture. Return: 0; -EINVAL the file is not a
 * capture, or contains no SA requests; -ENOMEM. @out is unchanged on failure.
 */
int ibsa__recording_read(const char *name, const uint8_t *bytes, size_t len,
			 struct ibsa_error *error, struct recording *out);

/*
 * Find the exchange with a request equal to @request, of IBSA_MAD_BYTES. If
 * there are several, each call returns the next one, and after the last one the
 * last one again. Return: the exchange, which has no complete answer unless
 * is_whole is set; NULL: the recording does not have the request.
 */
const struct exchange *ibsa__recording_query(struct recording *recording,
					     const uint8_t *request);

void ibsa__recording_done(struct recording *recording);

#endif
