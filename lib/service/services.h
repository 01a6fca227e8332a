/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Service registrations of a client. */
#ifndef SERVICE_SERVICES_H
#define SERVICE_SERVICES_H

#include <ibsa/service.h>

#include "base/hash.h"
#include "registration/registration.h"

struct ibsa__services {
	struct ibsa__registrations registrations;
	/*
	 * Registrations by id. The table has no memory for chains while there
	 * is no service.
	 */
	struct hash by_id;
};

void ibsa__services_init(struct ibsa__services *services,
			 struct ibsa__engine *engine);

/*
 * Register a service. Arguments and return values are those of
 * ibsa_service_register(). While the client's registrations are being closed,
 * it returns -ESHUTDOWN.
 */
int ibsa__services_add(struct ibsa__services *services,
		       const struct ibsa_service_options *options,
		       ibsa_registration_fn report, void *arg,
		       struct ibsa_registration **out) IBSA_MUST_USE;

/* Remove one, which was released. */
void ibsa__services_forget(struct ibsa__services *services,
			   struct ibsa_registration *registration);

#endif
