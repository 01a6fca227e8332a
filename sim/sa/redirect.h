/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An SA that redirects (IBSA_FAULT_REDIRECT): from its own port to the next
 * channel adapter's, from there to the next, and so on. Each of these ports has
 * a QP of its own at which the SA is asked.
 */
#ifndef SIM_SA_REDIRECT_H
#define SIM_SA_REDIRECT_H

#include "sim/sa/sa.h"

/* The end port at which a request to @to reaches the SA, or SIM_NONE. */
uint32_t ibsa__sa_end_at(const struct sa *sa, const struct ibsa_address *to);

/* Whether requests to a QP of an end port reach the SA. */
bool ibsa__sa_is_at(const struct sa *sa, uint32_t end, uint32_t qpn);

/* Whether the request is redirected, and @reply says where to. */
bool ibsa__sa_redirect(struct sa *sa, const struct sa_request *request,
		       struct sa_reply *reply);

#endif
