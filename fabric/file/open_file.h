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

struct sim_file {
	struct port_handler handler; /* among those of the port */
	struct sim_files *files;
	void (*ready)(void *arg);
	void *arg;
	uint32_t port; /* index in the topology */
	uint32_t end;  /* index of the end port */
	struct agent agents[SIM_AGENTS_MAX];
	struct sents sents;
	struct inbox inbox;
};

/*
 * Update the fabric's statistics most_in_flight: the number of requests
 * without a response plus the packets in the file's queue.
 */
static inline void ibsa__file_count(const struct sim_file *file)
{
	struct ibsa_fabric_stats *stats = &file->files->net->stats;
	const size_t count = file->sents.by_id.count + file->inbox.count;

	if (stats->most_in_flight < count)
		stats->most_in_flight = count;
}

/*
 * ibsa__file_take() is the member take of a struct port_handler: it delivers a
 * MAD that is not a response to the agent of the file @arg that has registered
 * for it. ibsa__files_take() is that of a struct response_handler: it delivers a
 * response to the agent of the files @arg that waits for it; a response that
 * comes too late is not delivered.
 */
bool ibsa__file_take(void *arg, const struct message *message,
		     const struct arrival *at, uint64_t now_ns);
bool ibsa__files_take(void *arg, struct message *message,
		      const struct arrival *at);

#endif
