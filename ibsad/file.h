/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the other parts of ibsad need of a client's umad file. */
#ifndef IBSAD_FILE_H
#define IBSAD_FILE_H

#include "ibsad/daemon.h"

struct client_file;

uid_t ibsad_file_user(const struct client_file *file);
uint32_t ibsad_file_port(const struct client_file *file);

/* Whether the user may have one more service or subscription. */
bool ibsad_file_may_register(const struct client_file *file);

/* Continue with a request after OWNED_LATER, by another answer. */
void ibsad_file_continue(struct client_file *file, const uint8_t *packet,
			 size_t len, enum owned_answer answer);

/*
 * Answer a request of at least MAD_HEADER_BYTES as an SA does, with a status; a
 * request without an error needs a whole MAD, whose record is in the answer.
 */
void ibsad_file_answer(struct client_file *file, const uint8_t *packet,
		       uint16_t mad_status);

/*
 * Queue a packet for the client. Return: false: the memory of the user, or of
 * the system, is short. ibsad_file_queued(): the bytes of the queue.
 */
bool ibsad_file_queue(struct client_file *file, const uint8_t *packet,
		      size_t len);
size_t ibsad_file_queued(const struct client_file *file);

#endif
