/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The set of services that clients have registered with the embedded SA. */
#ifndef FABRIC_SA_SERVICE_H
#define FABRIC_SA_SERVICE_H

#include <ibsa/records.h>

enum { SERVICES_MAX = 65536 };

struct service {
	/* Time at which the lease ends; UINT64_MAX: it never ends. */
	uint64_t ends_ns;
	struct ibsa_service record;
};

struct services {
	struct service *all; /* oldest first */
	size_t count;
	size_t room;
};

/* Remove the services whose lease has ended by @now_ns. */
void ibsa__services_expire(struct services *services, uint64_t now_ns);

/* Return: the service with the ID, GID and P_Key of @record, or NULL. */
struct service *ibsa__services_find(const struct services *services,
				    const struct ibsa_service *record);

/*
 * Register @record, or replace the service with the same ID, GID and P_Key.
 * Return: 0; -ENOMEM; -ENOSPC there are SERVICES_MAX services.
 */
int ibsa__services_set(struct services *services,
		       const struct ibsa_service *record, uint64_t ends_ns);

void ibsa__services_remove(struct services *services, struct service *service);

void ibsa__services_done(struct services *services);

#endif
