/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to an SA and what it has answered, from a capture. */
#ifndef SIM_CAPTURE_TAPE_H
#define SIM_CAPTURE_TAPE_H

#include <ibsa/sa.h>
#include <ibsa/transport.h>

#include "sim/tools/map.h"

/* One request, which may have been sent more than once. */
struct exchange {
	uint8_t request[IBSA_MAD_BYTES];
	uint8_t *answer; /* as the receiving kernel hands it up; NULL: none */
	size_t len;
	size_t room;
	uint32_t segment; /* the last that was put to it */
	uint16_t slid;	  /* of the request */
	uint16_t dlid;
	bool is_whole; /* nothing more comes of it */
	uint32_t next; /* the same question, asked again later; or SIM_NONE */
};

struct recording {
	struct exchange *exchanges;
	uint32_t count;
	size_t room;
	struct map by_id;	/* of a request that is being answered */
	struct map by_question; /* to the exchange that is to answer next */
	struct ibsa_port_state port; /* of who has asked first */
	uint16_t pkey;
};

/*
 * Read a capture. Return: 0; -EINVAL it is none, or nobody asks an SA in it;
 * -ENOMEM. @out is untouched on failure.
 */
int ibsa__recording_read(const char *name, const uint8_t *bytes, size_t len,
			 struct ibsa_error *error, struct recording *out);

/*
 * What was answered to such a request of IBSA_MAD_BYTES; to a question that
 * was asked more than once, the answers in their order, and then the last for
 * ever. NULL: nobody has asked that.
 */
const struct exchange *ibsa__recording_query(struct recording *recording,
					     const uint8_t *request);

void ibsa__recording_done(struct recording *recording);

#endif
