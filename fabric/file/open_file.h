/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The struct of an open umad file, for the functions that deliver MADs to it.
 */
#ifndef FABRIC_FILE_OPEN_FILE_H
#define FABRIC_FILE_OPEN_FILE_H

#include "fabric/mad/agent.h"
#include "fabric/mad/port.h"
#include "fabric/mad/net.h"
#include "fabric/file/file.h"
#include "fabric/file/inbox.h"
#include "fabric/file/sent.h"

struct port_file {
	struct port_handler handler; /* among those of the port */
	struct port_files *files;
	void (*ready)(void *arg);
	void *arg;
	uint32_t port; /* index in the topology */
	uint32_t end;  /* index of the end port */
	struct agent agents[AGENTS_MAX];
	struct sents sents;
	struct inbox inbox;
};

/*
 * Update the fabric's statistics most_in_flight: the number of requests
 * without a response plus the packets in the file's queue.
 */
static inline void ibsa__port_file_count(const struct port_file *file)
{
	struct ibsa_fabric_stats *stats = &file->files->net->stats;
	const size_t count = file->sents.by_id.count + file->inbox.count;

	if (stats->most_in_flight < count)
		stats->most_in_flight = count;
}

/*
 * ibsa__port_file_deliver() is the member take of a struct port_handler: it
 * delivers a MAD that is not a response to the agent of the file @arg that has
 * registered for it. ibsa__port_files_deliver() is that of a struct
 * response_handler: it delivers a response to the agent of the files @arg that
 * waits for it; a response that comes too late is not delivered.
 */
bool ibsa__port_file_deliver(void *arg, const struct message *message,
			     const struct arrival *at, uint64_t now_ns);
bool ibsa__port_files_deliver(void *arg, struct message *message,
			      const struct arrival *at);

#endif
