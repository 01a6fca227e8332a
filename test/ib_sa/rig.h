/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Helpers for tests of the kernel's calls: a device on an embedded fabric whose
 * clock advances only in waits, and callbacks that record their arguments.
 */
#ifndef IB_SA_RIG_H
#define IB_SA_RIG_H

#include <endian.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibsa/ib_sa.h>
#include <ibsa/fabric.h>

enum { RIG_TIMEOUT_MS = 1000, RIG_RECORDS = 8 };

/* The fabric of three_nodes.h, and a device of it. */
struct rig {
	struct ibsa_fabric *fabric;
	struct ib_device *device; /* node1; without a worker */
	struct ib_sa_client client;
};

/* The arguments of a callback; @device is for the reply behind it. */
struct told {
	struct ib_device *device;
	int calls;
	int status;
	bool has_resp;
	bool has_reply;
	struct ibsa_reply reply; /* without its records */
	unsigned int count;
	struct sa_path_rec path;
	struct ib_sa_service_rec service;
	struct ib_sa_mcmember_rec mcmember;
	struct ib_sa_guidinfo_rec guid_info;
	struct sa_service_rec services[RIG_RECORDS];
};

struct ibsa_fabric *rig_fabric(bool virtual_clock);
void rig_start(struct rig *rig);
void rig_start_on(struct rig *rig, struct ibsa_fabric *fabric);
void rig_stop(struct rig *rig);

/* Open another device of the rig's fabric. */
struct ib_device *rig_open(struct ibsa_fabric *fabric, const char *node,
			   bool no_thread);

/* Stop the SA's replies, or allow them again. */
void rig_silence(struct rig *rig, bool silent);

/*
 * Query the path from LID 1 to @dlid; only queries for the same LID are
 * identical.
 * Return: as ib_sa_path_rec_get().
 */
int rig_query(struct rig *rig, uint16_t dlid, struct told *told,
	      struct ib_sa_query **query);
int rig_query_on(struct ib_sa_client *client, struct ib_device *device,
		 uint8_t port, uint16_t dlid, unsigned long timeout_ms,
		 void (*callback)(int, struct sa_path_rec *, void *),
		 void *context, struct ib_sa_query **query);

/* Wait and dispatch until the callback has run. */
void rig_run(struct rig *rig, const struct told *told);

void told_path(int status, struct sa_path_rec *resp, void *context);
void told_service(int status, struct ib_sa_service_rec *resp, void *context);
void told_services(int status, struct sa_service_rec *resp, unsigned int count,
		   void *context);
void told_mcmember(int status, struct ib_sa_mcmember_rec *resp, void *context);
void told_guid_info(int status, struct ib_sa_guidinfo_rec *resp, void *context);

#endif
