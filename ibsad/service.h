/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A service of a user, for the files that implement owned.h. */
#ifndef IBSAD_SERVICE_H
#define IBSAD_SERVICE_H

#include "ibsad/daemon.h"

enum { SERVICE_BYTES = 176 };

enum service_state {
	SERVICE_CHECKED, /* the SA is asked whether another program has it */
	SERVICE_SET,	 /* the owner has sent a Set */
	SERVICE_ENDED,	 /* the owner has gone: a Delete is due, or was sent */
	/* set through the last ibsad: its user may come back */
	SERVICE_RESTORED,
};

/*
 * @file:       that waits for the check; or NULL
 * @packet:     the request of @file that waits for the check
 * @record:     the bytes of the last Set, and its component mask
 * @sender:     that has sent the last Set or Delete, until it is answered; or
 *              NULL
 * @tid:        the lower half of the TransactionID of that request
 * @is_delete:  it is a Delete
 * @sets:       how many Sets were sent, without those that failed
 * @end_ns:     time at which the lease of the last Set has ended
 * @is_asked:   a request of ibsad waits for its answer
 * @is_stored:  the file of services has it
 * @retry_ns:   time of the next Delete; or until when its user may come back
 */
struct service {
	struct list link;
	struct owned *owned;
	enum service_state state;
	uid_t user;
	uint32_t port;
	struct client_file *file;
	uint8_t *packet;
	size_t packet_len;
	uint8_t record[SERVICE_BYTES];
	uint64_t mask;
	const struct client_file *sender;
	uint32_t tid;
	bool is_delete;
	unsigned int sets;
	uint64_t end_ns;
	bool is_asked;
	bool is_stored;
	uint64_t retry_ns;
	unsigned int retry_ms;
};

void ibsad_service_free(struct service *service);

/*
 * Note in the file of services that the SA may have the service, or, @is_end,
 * that it does not have it any more.
 */
void ibsad_service_note(struct service *service, bool is_end);

#endif
