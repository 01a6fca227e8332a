/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The services that a client keeps registered, on top of its engine. */
#ifndef SERVICE_SERVICES_H
#define SERVICE_SERVICES_H

#include <ibsa/service.h>

#include "registration/registration.h"

/* A client's. */
struct ibsa__services {
	struct ibsa__registrations registrations;
};

void ibsa__services_init(struct ibsa__services *services,
			 struct ibsa__engine *engine);

/* As ibsa_service_register() says. */
int ibsa__services_add(struct ibsa__services *services,
		       const struct ibsa_service_registration *options,
		       ibsa_registration_fn report, void *arg,
		       struct ibsa_registration **out) IBSA_MUST_USE;

/* Begin to release all, and take no more. */
void ibsa__services_close(struct ibsa__services *services);

/* Whether all have been released. */
bool ibsa__services_are_empty(const struct ibsa__services *services);

/* Report those as released that nothing is on its way for; the engine's end
 * does so for the others. */
void ibsa__services_end(struct ibsa__services *services);

#endif
