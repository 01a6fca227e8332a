/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Explains events of a watch. */
#include <errno.h>
#include <string.h>

#include <ibsa/text.h>

#include "output/cli.h"
#include "session/event_text.h"

const char subscription_second_signal[] = "ended before the SA confirmed the "
					  "end of the subscription; it may "
					  "continue to send reports";

/*
 * Return: the reason why the port cannot be used any more. The fabric server of
 * the port may have ended.
 */
static const char *port_failure(void)
{
	struct ibsa_error error;

	return server_failure(&error) ? "the fabric server has stopped"
				      : "the port is not active";
}

const char *event_failure(int err)
{
	switch (err) {
	case -ENODEV:
	case -ENETDOWN:
		return port_failure();
	case 0:
		return "the SA is busy";
	case -ETIMEDOUT:
		return "the SA does not answer";
	case -EAGAIN:
		return "no subnet manager has configured the port";
	case -ENODATA:
		return "the SA has no table of nodes";
	case -EBUSY:
		return "another client, of this or another program, receives "
		       "the SA's reports at this port";
	case -ECANCELED:
		return "the SA has not answered in time";
	default:
		return strerror(-err);
	}
}

/*
 * Whether the subscription has ended at the SA. The status REQ_INVALID means
 * that the SA does not have the subscription.
 */
bool event_is_end(const struct ibsa_event *event)
{
	return event->err == 0 &&
	       (event->status == 0 || event->status == IBSA_STATUS_REQ_INVALID);
}

const char *event_reason(const struct ibsa_event *event)
{
	switch (event->kind) {
	case IBSA_EVENT_LOST:
		return event->err ? port_failure()
				  : "the SA is asked to report again";
	case IBSA_EVENT_FAILED:
		return event->holder ? event->holder
				     : event_failure(event->err);
	case IBSA_EVENT_REFUSED:
		return ibsa_status_text(event->status);
	case IBSA_EVENT_GID_IN:
	case IBSA_EVENT_GID_OUT:
		return event->audited ? "found by the audit: no report came"
				      : NULL;
	case IBSA_EVENT_GAP:
		return "events may have been missed before";
	case IBSA_EVENT_ENDED:
		if (event_is_end(event))
			return NULL;
		return event->err ? event_failure(event->err)
				  : ibsa_status_text(event->status);
	default:
		return NULL;
	}
}
