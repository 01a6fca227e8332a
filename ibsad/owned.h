/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The services, memberships and alias GUIDs that users have registered at the SA through
 * ibsad. A registration belongs to a user; others can neither change nor delete
 * it. ibsad renews it while the client that has set it is connected, and deletes
 * it when the user's last connection has ended.
 */
#ifndef IBSAD_OWNED_H
#define IBSAD_OWNED_H

#include <sys/types.h>

#include <ibsa/ibsa.h>

#include "base/list.h"
#include "ibsad/state.h"

struct daemon;
struct client_file;

/*
 * @count:    of all registrations; @most: the limit of those of all users but
 *            root, 0: none
 * @deletes:  Deletes that wait for the SA's answer
 * @due_ns:   when ibsad_owned_tick() has something to do
 * @state:    the registrations, for the next ibsad
 */
struct owned {
	struct daemon *daemon;
	struct list all;
	uint32_t count;
	uint32_t most;
	uint32_t deletes;
	uint64_t due_ns;
	struct ibsad_state state;
};

void ibsad_owned_init(struct owned *owned, struct daemon *daemon,
		      uint32_t most);

/*
 * Take over the registrations of an ibsad that was killed, from the directory
 * @folder; NULL: none. One whose user is not connected after RESTORE_MS is
 * deleted. Return: 0 or -errno.
 */
int ibsad_owned_restore(struct owned *owned, const char *folder) IBSA_MUST_USE;

/* Free the memory of all registrations. */
void ibsad_owned_done(struct owned *owned);

/* Whether nothing is registered, and nothing is being deleted. */
bool ibsad_owned_is_empty(const struct owned *owned);

/* Return: how many registrations a user has, those being deleted included. */
uint32_t ibsad_owned_count(const struct owned *owned, uid_t user);

/* What to do with a request that registers or deletes a service. */
enum owned_answer {
	OWNED_PASS,
	OWNED_DENIED, /* *@out_reason is for the log */
	OWNED_BUSY,   /* answer it with the status BUSY */
	OWNED_LATER,  /* ibsad_file_continue() is called with the request */
};

/*
 * Judge a Set or Delete of a client, of a record of which users can have
 * registrations. The caller holds the lock.
 */
enum owned_answer ibsad_owned_judge(struct owned *owned,
				    struct client_file *file,
				    const uint8_t *packet, size_t len,
				    const char **out_reason);

/*
 * ibsad_owned_response(): a response for a client has arrived; @len is at least
 * that of both headers. ibsad_owned_unanswered(): a client's request has ended
 * without a response; @packet has the headers of the request.
 */
void ibsad_owned_response(struct owned *owned, struct client_file *file,
			  const uint8_t *packet, size_t len);
void ibsad_owned_unanswered(struct owned *owned, struct client_file *file,
			    const uint8_t *packet);

/* A request for which ibsad_owned_judge() returned OWNED_PASS was not sent. */
void ibsad_owned_unsent(struct owned *owned, struct client_file *file,
			const uint8_t *packet);

/* A client file, or the last connection of a user, has ended. */
void ibsad_owned_file_end(struct owned *owned, struct client_file *file);
void ibsad_owned_user_end(struct owned *owned, uid_t user);

/* ibsad ends: no user comes back to what was taken over. */
void ibsad_owned_end(struct owned *owned);

/* The SA of a port may have lost what is registered: set it again. */
void ibsad_owned_renew(struct owned *owned, uint32_t port);

/*
 * Send the requests that are due, and free what has ended. Return: ms until
 * this is to be called again; -1: never.
 */
int ibsad_owned_tick(struct owned *owned);

#endif
