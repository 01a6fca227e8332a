/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One service that is kept, as the files of the keep layer share it. */
#ifndef SERVICE_STATE_H
#define SERVICE_STATE_H

#include "service/services.h"

enum { SERVICE_BYTES = 176 };

/* Each event ends with a report, since in a report a service may be
 * released. */
struct ibsa_registration {
	struct ibsa__registration schedule;
	struct ibsa_service record;
	uint64_t mask;
	ibsa_registration_fn report;
	void *arg;
	uint32_t granted_s;
	uint8_t read_method;
	bool follows_gid; /* of the port */
};

/* service.c */
void ibsa__service_start(struct ibsa_registration *registration,
			 struct ibsa__registrations *registrations,
			 const struct ibsa_service_registration *options);

#endif
