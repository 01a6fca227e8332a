/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the other parts of ibsad need of a client's umad file. */
#ifndef IBSAD_FILE_H
#define IBSAD_FILE_H

#include "ibsad/daemon.h"
#include "ibsad/queue.h"
#include "ibsad/wait.h"

struct client_file;

uid_t ibsad_file_user(const struct client_file *file);
uint32_t ibsad_file_port(const struct client_file *file);

/* Settle the file soon. */
void ibsad_file_wake(struct client_file *file);

/* Whether the user may have one more service or subscription. */
bool ibsad_file_may_register(const struct client_file *file);

/* Continue with a request for which ibsad_owned_judge() has returned
 * OWNED_LATER: @answer is its final answer. */
void ibsad_file_continue(struct client_file *file, const uint8_t *packet,
			 size_t len, enum owned_answer answer);

struct packet_queue *ibsad_file_queue(struct client_file *file);
struct cache_client *ibsad_file_cache_client(struct client_file *file);

/*
 * Count a request that waits for its response. Return: 0; -ENOBUFS: the quota of
 * the user is used up.
 */
int ibsad_file_in_flight_begin(struct client_file *file) IBSA_MUST_USE;
void ibsad_file_in_flight_end(struct client_file *file);

#endif
