/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the result of a query as an English sentence. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibsa/ibsa.h>
#include <ibsa/text.h>

#include "base/error.h"
#include "engine/reply.h"

/* Explain why a redirection was not followed. */
static void redirect_explain(const struct ibsa_reply *reply,
			     struct ibsa_error *out)
{
	const char *why = "this port cannot send to the P_Key, Q_Key and "
			  "address in the reply";
	struct ibsa__redirect target;
	char gid[IBSA_GID_TEXT];

	if (!reply->redirect) {
		ibsa__fail(out, 0,
			   "the SA redirected the request, but its reply is "
			   "too short to contain the new address (status "
			   "0x%04x)",
			   reply->status);
		return;
	}
	ibsa__redirect_read(reply, &target);
	if (reply->redirects >= IBSA__REDIRECTS_MAX)
		why = "it was redirected too often before";
	if (ibsa_gid_format(&target.to.gid, gid, sizeof(gid)) < 0)
		gid[0] = '\0';
	if (target.to.lid)
		ibsa__fail(
			out, 0,
			"the SA redirected the request to LID %u, but the "
			"client did not follow: %s; query the SA at this LID",
			target.to.lid, why);
	else
		ibsa__fail(
			out, 0,
			"the SA redirected the request to GID %s, but the "
			"client did not follow: %s; query the SA at this GID",
			gid, why);
}

static void answer_explain(const struct ibsa_reply *reply,
			   struct ibsa_error *out)
{
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		ibsa__fail(out, 0, "the SA answered; records: %zu",
			   reply->count);
		break;
	case IBSA_OUTCOME_NONE:
		ibsa__fail(out, 0, "the SA has no such record");
		break;
	case IBSA_OUTCOME_BUSY:
		ibsa__fail(out, 0,
			   "the SA was busy until the deadline; try again "
			   "later, or allow more time");
		break;
	default:
		ibsa__fail(out, 0, "the SA refused: %s (status 0x%04x)%s",
			   ibsa_status_text(reply->status), reply->status,
			   may_be_no_sa(reply->status)
				   ? "; a node on which no SA runs replies "
				     "with this status, too"
				   : "");
	}
}

static void error_explain(const struct ibsa_reply *reply,
			  struct ibsa_error *out)
{
	switch (reply->err) {
	case -ETIMEDOUT:
		ibsa__fail(out, 0,
			   "the SA did not answer before the deadline; "
			   "requests sent: %u",
			   reply->tries);
		break;
	case -EAGAIN:
		ibsa__fail(out, 0,
			   "no subnet manager had configured the port when the "
			   "deadline passed; start one on the fabric; requests "
			   "sent: %u",
			   reply->tries);
		break;
	case -ENETDOWN:
		ibsa__fail(out, 0,
			   "this port was down when the deadline passed; check "
			   "its cable; requests sent: %u",
			   reply->tries);
		break;
	case -ECANCELED:
		ibsa__fail(out, 0, "the query was cancelled");
		break;
	case -EPROTO:
		ibsa__fail(out, 0, "the SA's reply is malformed");
		break;
	case -EMSGSIZE:
		ibsa__fail(out, 0,
			   "the SA's reply is larger than accepted; select "
			   "fewer records, or raise reply_bytes of struct "
			   "ibsa_options");
		break;
	case -ENOMEM:
		ibsa__fail(out, 0,
			   "there was not enough memory for the SA's reply; "
			   "select fewer records");
		break;
	case -ENODATA:
		ibsa__fail(out, 0,
			   "only the first part of the SA's reply arrived; "
			   "select fewer records; complete records: %zu",
			   reply->count);
		break;
	default:
		ibsa__fail(out, 0, "the request failed: %s",
			   strerror(-reply->err));
	}
}

void ibsa_reply_explain(const struct ibsa_reply *reply, struct ibsa_error *out)
{
	if (!reply->err && reply->status & IBSA_STATUS_REDIRECT)
		redirect_explain(reply, out);
	else if (!reply->err)
		answer_explain(reply, out);
	else if (reply->err == -ETIMEDOUT && !reply->tries)
		ibsa__fail(out, 0,
			   "the request was not sent before the deadline: the "
			   "window was full, or the port could not send it; "
			   "allow more time");
	else
		error_explain(reply, out);
}
