/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A umad file from the inside: what it shares with those who deliver to it. */
#ifndef SIM_FILE_OPEN_FILE_H
#define SIM_FILE_OPEN_FILE_H

#include "sim/mad/agent.h"
#include "sim/subnet/fabric.h"
#include "sim/file/inbox.h"
#include "sim/file/sent.h"

struct sim_file {
	struct sim_file *next; /* at the same port */
	struct ibsa_fabric *fabric;
	void (*ready)(void *arg);
	void *arg;
	uint32_t port; /* index in the topology */
	uint32_t end;  /* index of the end port */
	struct agent agents[SIM_AGENTS_MAX];
	struct sents sents;
	struct inbox inbox;
};

/*
 * Give a MAD to the agent at @end that waits for it, or wants it. Return:
 * whether there is one; one that comes too late has gone to nobody, too.
 */
bool ibsa__files_take(struct ibsa_fabric *fabric, uint32_t end,
		      const struct message *message);

#endif
