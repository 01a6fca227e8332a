/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends a query, waits for the reply, prints failures and returns the exit
 * status.
 */
#ifndef COMMAND_QUERY_WAIT_H
#define COMMAND_QUERY_WAIT_H

#include <ibsa/text.h>

#include "output/cli.h"

/*
 * Uses the records of a reply, which is valid only during the call. Return:
 * the exit status.
 */
typedef int (*reply_use_fn)(struct cli *cli, const struct ibsa_reply *reply,
			    void *arg);

/* Open the client if it is not open yet. Return: the exit status. */
int client_open(struct cli *cli);

/*
 * A wait for one or more queries. The callback of the last query sets @ended.
 */
struct client_wait {
	bool ended;
	/*
	 * waiting has failed, a message was printed, and the client was closed
	 */
	bool broken;
};

/* Wait until @wait->ended is set, and show progress on a terminal. */
void client_wait(struct cli *cli, struct client_wait *wait);

/*
 * Close the client, because waiting has failed with @err, which is printed, or
 * because a signal has arrived (@err is 0). Closing the client calls the
 * callbacks of its queries with -ECANCELED.
 */
void client_abandon(struct cli *cli, int err);

/* Print that receiving from the SA has failed. */
void receive_failed(int err);

/* Print why a query could not be submitted. Return: the exit status. */
int query_refused_explain(struct cli *cli, int err);

/*
 * Send a query and wait for the reply. @use is called with a reply that has
 * records. Failures are printed. If no record matches, nothing is printed, and
 * the exit status is CLI_NO.
 *
 * Return: the exit status, or the return value of @use.
 */
int query_wait(struct cli *cli, const struct ibsa_query *query,
	       reply_use_fn use, void *arg);

/*
 * For query_wait(): decode the first record of a reply into the struct @arg.
 */
int record_take(struct cli *cli, const struct ibsa_reply *reply, void *arg);

/*
 * Decode the records of a reply into a new array, to which the pointer at
 * @out_all then leads. Return: false: no memory, and no record.
 */
bool records_decode(const struct ibsa_reply *reply, void *out_all,
		    size_t *out_count);

/*
 * Send a query, and decode the records of the reply into a new array, to which
 * the pointer at @out_all then leads. Return: the exit status; without a
 * record, CLI_DONE and an empty array. The caller frees the array in any case.
 */
int records_query(struct cli *cli, const struct ibsa_query *query,
		  void *out_all, size_t *out_count);

enum { SA_TARGET_TEXT = IBSA_GID_TEXT + 8 };

/*
 * Write the GID of the SA to which the command sends from @port, or "LID 1".
 * Return: @out.
 */
const char *sa_target_text(const struct cli *cli,
			   const struct ibsa_port_state *port,
			   char out[SA_TARGET_TEXT]);

/*
 * If @status is a redirection, print its target. Return: whether it is a
 * redirection.
 */
bool redirection_explain(struct cli *cli, uint16_t status);

/* Print that the SA has refused the request, and what to do. */
void refusal_explain(const struct ibsa_record *record, uint16_t status);

/*
 * Print why a reply has no records, and what to do. If no record matches,
 * nothing is printed. Return: the exit status.
 */
int reply_explain(struct cli *cli, const struct ibsa_reply *reply);

/* With -v, print the tries, the time and the number of records of a reply. */
void reply_statistics_print(const struct cli *cli,
			    const struct ibsa_query *query,
			    const struct ibsa_reply *reply);

/*
 * With -v, print how many queries the client has sent since @before. @what: the
 * subject of the message.
 */
void queries_print(const struct cli *cli, const char *what,
		   const struct ibsa_stats *before);

/* Get the state of the client's port, which includes the port's GID. */
int own_port_get(struct cli *cli, struct ibsa_port_state *out);
int own_gid_get(struct cli *cli, struct ibsa_gid *out);

#endif
