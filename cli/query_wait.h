/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asking the SA: open, wait, say what went wrong, exit status. */
#ifndef CLI_QUERY_WAIT_H
#define CLI_QUERY_WAIT_H

#include "cli.h"

/*
 * What to do with a reply that has records; it is gone when this returns.
 * Return: the exit status.
 */
typedef int (*reply_use_fn)(struct cli *cli, const struct ibsa_reply *reply,
			    void *arg);

/* Open the client if it is not open yet. Return: the exit status. */
int client_open(struct cli *cli);

/*
 * Ask and wait. All failures are reported but one: that there is no record
 * is CLI_NO, for the caller to say what it means.
 *
 * Return: the exit status; of @use if it was called.
 */
int query_wait(struct cli *cli, const struct ibsa_query *query,
	       reply_use_fn use, void *arg);

/* Whether a refusal is a redirection; if so, say where to. */
bool redirection_explain(struct cli *cli, uint16_t status);

/* Say that the SA said no, and what to try. */
void refusal_explain(const struct ibsa_record *record, uint16_t status);

/*
 * Say why a reply has no records, unless that is the answer, and what to try.
 * Return: the exit status.
 */
int reply_explain(struct cli *cli, const struct ibsa_reply *reply);

/* The port that asks, and its GID. Return: the exit status. */
int own_port_get(struct cli *cli, struct ibsa_port_state *out);
int own_gid_get(struct cli *cli, struct ibsa_gid *out);

#endif
