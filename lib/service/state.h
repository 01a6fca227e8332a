/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of one service registration, shared by the files of lib/service. */
#ifndef SERVICE_STATE_H
#define SERVICE_STATE_H

#include "service/services.h"

enum { SERVICE_BYTES = 176 };

/*
 * The registration of one service. A function that reports an event must not
 * use the registration afterwards: the callback may release it.
 */
struct ibsa_registration {
	struct ibsa__registration schedule;
	struct hash_node node; /* in ibsa__services.by_id */
	struct ibsa_service record;
	uint64_t mask;
	ibsa_registration_fn report;
	void *arg;
	uint32_t granted_s;
	uint8_t read_method;
	bool follows_gid; /* service_gid is always the port's GID 0 */
};

/* service.c */
void ibsa__service_start(struct ibsa_registration *registration,
			 struct ibsa__registrations *registrations,
			 const struct ibsa_service_options *options);

#endif
