/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What users have registered at the SA through ibsad: services and
 * subscriptions. A registration belongs to a user, or to the umad file that
 * receives its Reports; others can neither change nor delete it, and it is
 * deleted when its owner has gone.
 */
#ifndef IBSAD_OWNED_H
#define IBSAD_OWNED_H

#include <sys/types.h>

#include <ibsa/ibsa.h>

#include "base/list.h"
#include "ibsad/port.h"

struct daemon;
struct client_file;

/* @ports: clients of ibsad's own requests, by port number; NULL: not open */
struct owned {
	struct daemon *daemon;
	struct list registrations;
	struct ibsa_client *clients[IBSAD_PORTS + 1];
	const char *fabric; /* of the clients */
};

void ibsad_owned_init(struct owned *owned, struct daemon *daemon,
		      const char *fabric);

/*
 * Wait until what is being deleted is deleted, at most @ms milliseconds, and
 * close the clients. No client file is open any more.
 */
void ibsad_owned_done(struct owned *owned, int ms);

/* What becomes of a request that registers or deletes something. */
enum owned_answer {
	OWNED_PASS,
	OWNED_DENIED, /* *@out_reason is for the log */
	OWNED_BUSY,   /* as by an SA that has too much to do */
	OWNED_LATER,  /* ibsad_file_continue() is called with the request */
};

/*
 * Judge a Set or Delete of a ServiceRecord, or a Set of an InformInfo, of a
 * client. The caller holds the lock.
 */
enum owned_answer ibsad_owned_judge(struct owned *owned,
				    struct client_file *file,
				    const uint8_t *packet, size_t len,
				    const char **out_reason);

/* A response to a client has arrived. */
void ibsad_owned_response(struct owned *owned, struct client_file *file,
			  const uint8_t *mad, size_t len);

/* A client file, or the last connection of a user, has ended. */
void ibsad_owned_file_end(struct owned *owned, struct client_file *file);
void ibsad_owned_user_end(struct owned *owned, uid_t user);

/* Milliseconds until ibsad_owned_dispatch() must be called; -1: never. */
int ibsad_owned_timeout_ms(const struct owned *owned);

/* Continue ibsad's own requests. The caller does not hold the lock. */
void ibsad_owned_dispatch(struct owned *owned);

#endif
