/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The set of services that clients have registered with the embedded SA. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/array.h"
#include "fabric/sa/service.h"

void ibsa__services_expire(struct services *services, uint64_t now_ns)
{
	size_t left = 0;

	for (size_t i = 0; i < services->count; i++) {
		if (services->all[i].ends_ns <= now_ns)
			continue;
		if (left != i)
			services->all[left] = services->all[i];
		left++;
	}
	services->count = left;
}

static bool service_is_same(const struct ibsa_service *a,
			    const struct ibsa_service *b)
{
	return a->service_id == b->service_id &&
	       a->service_pkey == b->service_pkey &&
	       !memcmp(&a->service_gid, &b->service_gid,
		       sizeof(a->service_gid));
}

struct service *ibsa__services_find(const struct services *services,
				    const struct ibsa_service *record)
{
	for (size_t i = 0; i < services->count; i++) {
		if (service_is_same(&services->all[i].record, record))
			return &services->all[i];
	}
	return NULL;
}

static int services_grow(struct services *services)
{
	if (services->count == SERVICES_MAX)
		return -ENOSPC;
	return ARRAY_GROW(services->all, services->room, services->count + 1);
}

int ibsa__services_set(struct services *services,
		       const struct ibsa_service *record, uint64_t ends_ns)
{
	struct service *service = ibsa__services_find(services, record);
	int err;

	if (!service) {
		err = services_grow(services);
		if (err)
			return err;
		service = &services->all[services->count++];
	}
	service->record = *record;
	service->ends_ns = ends_ns;
	return 0;
}

void ibsa__services_remove(struct services *services, struct service *service)
{
	const size_t index = (size_t)(service - services->all);

	services->count--;
	memmove(service, service + 1,
		(services->count - index) * sizeof(*service));
}

void ibsa__services_done(struct services *services)
{
	ibsa__free(services->all);
	*services = (struct services){ 0 };
}
