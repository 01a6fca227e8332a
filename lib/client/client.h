/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Access to parts of a client for the layers above it. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <ibsa/ibsa.h>

#include "base/environment.h"

struct ibsa__engine;
struct ibsa__reaches;

/*
 * Do what ibsa_open() does, but with @environment instead of the current
 * environment variables: the object to which the client belongs read them when
 * it was opened.
 */
int ibsa__client_open(const struct ibsa_options *options,
		      const struct ibsa__environment *environment,
		      struct ibsa_error *error,
		      struct ibsa_client **out) IBSA_MUST_USE;

/*
 * Return: the engine of @client, with which a layer above sets alarms. Only
 * the thread that uses the client may use the engine.
 */
struct ibsa__engine *ibsa__client_engine(struct ibsa_client *client);

/*
 * Write into @error why the client did not accept @query, or did not receive a
 * reply to it, with @err. Return: @err.
 */
int ibsa__query_fail(struct ibsa_client *client, const struct ibsa_query *query,
		     struct ibsa_error *error, int err);

/* Return: the batches of ibsa_reach_start() of @client. */
struct ibsa__reaches *ibsa__client_reaches(struct ibsa_client *client);

/*
 * Write the message that a forked child cannot use the clients of its parent.
 * Return: -EINVAL.
 */
int ibsa__client_inherited_fail(struct ibsa_error *error);

#endif
