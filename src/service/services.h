/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service registrations of a client. */
#ifndef SERVICE_SERVICES_H
#define SERVICE_SERVICES_H

#include <ibsa/service.h>

#include "base/hash.h"
#include "registration/registration.h"

struct ibsa__services {
	struct ibsa__registrations registrations;
	struct hash by_id; /* has no chains while there is no service */
};

void ibsa__services_init(struct ibsa__services *services,
			 struct ibsa__engine *engine);

/* Arguments and return values are those of ibsa_service_register(). */
int ibsa__services_add(struct ibsa__services *services,
		       const struct ibsa_service_registration *options,
		       ibsa_registration_fn report, void *arg,
		       struct ibsa_registration **out) IBSA_MUST_USE;

/* Start to release all; more registrations are refused with -ESHUTDOWN. */
void ibsa__services_close(struct ibsa__services *services);

bool ibsa__services_are_empty(const struct ibsa__services *services);

/* Remove one, which was released. */
void ibsa__services_forget(struct ibsa__services *services,
			   struct ibsa_registration *registration);

/* Report the registrations without a request in flight as released; the others
 * are reported when the engine ends. */
void ibsa__services_end(struct ibsa__services *services);

#endif
