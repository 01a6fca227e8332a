/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Redirection by the SA (IBSA_FAULT_REDIRECT). The SA's own port redirects to
 * the next channel adapter, which redirects to the one after it, and so on for
 * the configured number of hops. Each of these adapters receives requests at a
 * QP of its own.
 */
#ifndef FABRIC_SA_REDIRECT_H
#define FABRIC_SA_REDIRECT_H

#include "fabric/sa/sa.h"

/* Whether the SA receives requests at a QP of the end port @end. */
bool ibsa__sa_is_at(const struct sa *sa, uint32_t end, uint32_t qpn);

/*
 * Redirect a request, if the fault is set and applies to it. Return: whether
 * @reply contains a redirection.
 */
bool ibsa__sa_redirect(struct sa *sa, const struct sa_request *request,
		       struct sa_reply *reply);

#endif
