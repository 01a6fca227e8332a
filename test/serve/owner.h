/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An owner of umad files without InfiniBand: two devices, "one" and "two",
 * with two ports each. A MAD that is sent returns as it is.
 */
#ifndef TEST_SERVE_OWNER_H
#define TEST_SERVE_OWNER_H

#include "serve/serve.h"

enum {
	OWNER_AGENT = 7, /* the number of each agent */
	OWNER_PKEY = 0x8012,
	OWNER_WORK = 3,	    /* turns that a slow answer takes */
	OWNER_QUEUED = 100, /* bytes of a file's queue */
	/* Attributes of MADs that are answered slowly, or not sent. */
	OWNER_SLOW = 0x0100,
	OWNER_ENDLESS,
	OWNER_REFUSED,
	/* of one that is refused if its user has too many in flight */
	OWNER_COUNTED,
	/* and of one with which the file's queue uses 2 MiB from then on */
	OWNER_LARGE,
};

struct owner {
	pthread_mutex_t lock;
	struct server *server;
	char folder[32];
	char path[64]; /* of the server's socket */
	uint32_t lid;  /* of all ports */
	unsigned int files_open;
	unsigned int turns;   /* in which a file has worked */
	unsigned int dropped; /* works that were given up */
	size_t memory;	      /* of all queues */
	bool is_sm[4];	      /* IsSM of each port */
	unsigned int left;    /* users that have left */
	uid_t last_left;
	/* Quotas of the server, which then serves all users; or NULL. */
	const struct serve_limits *quotas;
	uint32_t connections; /* of the server; 0: the default */
};

/* Start an owner, and its server with these limits. */
void owner_start(struct owner *owner, uint32_t memory_mb, bool has_rings);
void owner_start_for_users(struct owner *owner,
			   const struct serve_limits *quotas,
			   uint32_t connections);
void owner_stop(struct owner *owner);

/* Open the server; its socket may be an earlier server's. Return: 0 or -errno. */
int owner_open_server(struct owner *owner, uint32_t memory_mb, bool has_rings,
		      struct ibsa_error *error, struct server **out);

#endif
