/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests arrive at the SA, which may be too busy, or keep silent. */
#include <string.h>

#include "sim/mad/mad.h"
#include "sim/fabric/replay.h"
#include "sim/sa/sa.h"
#include "wire/request.h"

/* The SA is too busy: it sends the request back and says so. */
static void answer_busy(const uint8_t *mad, struct sa_reply *reply)
{
	memcpy(reply->bytes, mad, IBSA_MAD_BYTES);
	reply->bytes[MAD_METHOD] = ibsa__response_method(mad[MAD_METHOD]);
	ibsa_put_be16(reply->bytes + MAD_STATUS, IBSA_STATUS_BUSY);
	reply->len = IBSA_MAD_BYTES;
}

/* Whether the SA answers, and what. */
static bool ask(struct ibsa_fabric *fabric, const struct sa_request *request,
		struct sa_reply *reply)
{
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_SILENCE))
		return false;
	if (ibsa__fault_strikes(fabric, IBSA_FAULT_BUSY)) {
		answer_busy(request->mad, reply);
		return true;
	}
	return fabric->tape
		       ? ibsa__replay_answer(fabric->tape, request->mad, reply)
		       : ibsa__sa_answer(fabric, request, reply);
}

/* An answer to a Report, which gets none itself. */
static bool is_report_answer(const uint8_t *mad)
{
	return IBSA_GET(sa_header, mgmt_class, mad) == IBSA_CLASS_SA &&
	       IBSA_GET(sa_header, method, mad) == IBSA_METHOD_REPORT_RESP;
}

bool ibsa__sa_hear(struct ibsa_fabric *fabric, const struct sa_request *request,
		   struct sa_reply *reply)
{
	if (is_report_answer(request->mad)) {
		ibsa__report_answered(fabric, request->end,
				      IBSA_GET(sa_header, transaction_id,
					       request->mad));
		return false;
	}
	if (ask(fabric, request, reply))
		return true;
	fabric->stats.unanswered++;
	return false;
}
