/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The services that a client keeps registered, on top of its engine. */
#ifndef KEEP_KEEP_H
#define KEEP_KEEP_H

#include <ibsa/service.h>

#include "registration/registration.h"

/* A client's. */
struct ibsa__keeper {
	struct ibsa__registrations registrations;
};

void ibsa__keeper_init(struct ibsa__keeper *keeper,
		       struct ibsa__engine *engine);

/* As ibsa_service_keep() says. */
int ibsa__keeper_add(struct ibsa__keeper *keeper,
		     const struct ibsa_service_keep *keep, ibsa_keep_fn report,
		     void *arg, struct ibsa_kept **out) IBSA_MUST_USE;

/* Begin to release all, and take no more. */
void ibsa__keeper_close(struct ibsa__keeper *keeper);

/* Whether all have been released. */
bool ibsa__keeper_is_empty(const struct ibsa__keeper *keeper);

/* Report those as released that nothing is on its way for; the engine's end
 * does so for the others. */
void ibsa__keeper_end(struct ibsa__keeper *keeper);

#endif
