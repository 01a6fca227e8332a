/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What nodes are called, as far as the SA has said, and without waiting. */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include <ibsa/ibsa.h>

struct name;

/*
 * @asked and @answered count questions to the SA: when as many have been
 * answered as had been asked at a time, what could be known then is known.
 */
struct names {
	struct ibsa_client *client;
	struct name *all; /* sorted by GUID */
	size_t count;
	unsigned long asked, answered;
	void (*changed)(void *arg); /* called after each answer */
	void *arg;
};

/* Ask for all nodes. */
void names_load(struct names *names);

/* Ask for the node with this port GUID, or this LID, unless it is known. */
void names_request_guid(struct names *names, uint64_t guid);
void names_request_lid(struct names *names, uint16_t lid);

/* A node's description; NULL if it is not known. */
const char *names_of_guid(const struct names *names, uint64_t guid);
const char *names_of_lid(const struct names *names, uint16_t lid);

void names_done(struct names *names);

#endif
