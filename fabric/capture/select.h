/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers requests for a part of a table that a recording has as a whole. */
#ifndef FABRIC_CAPTURE_SELECT_H
#define FABRIC_CAPTURE_SELECT_H

#include "fabric/capture/recording.h"
#include "fabric/mad/reply.h"

/*
 * Answer a request of IBSA_MAD_BYTES with the records that it selects from a
 * recorded table. Return: false: the recording does not have such a table, or
 * an SA does more for the request than compare the fields of its component mask.
 */
bool ibsa__recording_select(struct recording *recording, const uint8_t *request,
			    struct sa_reply *reply);

#endif
