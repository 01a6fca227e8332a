/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of nodes, which are requested from the SA without waiting for the
 * reply.
 */
#ifndef COMMAND_NAMES_H
#define COMMAND_NAMES_H

#include <ibsa/ibsa.h>

struct name;

/*
 * Names of nodes, and the queries for them. @asked: number of queries that were
 * sent; @answered: number of queries that have ended. When @answered reaches
 * the value that @asked had at some time, all names that were requested until
 * then are known, or the SA does not have them.
 */
struct names {
	struct ibsa_client *client;
	struct name *all; /* sorted by port GUID */
	size_t count;
	unsigned long asked, answered;
	void (*changed)(void *arg); /* called after each reply */
	void *arg;
};

/* Query all nodes. */
void names_load(struct names *names);

/*
 * Query the name of the node with this port GUID, or this LID, unless it is
 * known.
 */
void names_request_guid(struct names *names, uint64_t guid);
void names_request_lid(struct names *names, uint16_t lid);

/* Return: the description of a node; NULL if it is unknown. */
const char *names_of_guid(const struct names *names, uint64_t guid);
const char *names_of_lid(const struct names *names, uint16_t lid);

void names_done(struct names *names);

#endif
