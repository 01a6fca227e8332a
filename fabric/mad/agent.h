/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agents of a umad file: which of its agents receives a MAD. */
#ifndef FABRIC_MAD_AGENT_H
#define FABRIC_MAD_AGENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "umad/header.h"
#include "fabric/mad/mad.h"

struct port_file;

/*
 * A request to register an agent, with the values of the ioctls
 * UMAD_REGISTER_AGENT and UMAD_REGISTER_AGENT2.
 */
struct agent_request {
	uint32_t id;	/* filled */
	uint32_t flags; /* UMAD_RMPP_BY_USER */
	/*
	 * Mask of the agent's methods: method n is bit n % 64 of element n /
	 * 64.
	 */
	uint64_t method_mask[2];
	uint32_t oui; /* of vendor classes 0x30 to 0x4f */
	uint8_t qpn;
	/*
	 * Management class of the agent's requests; 0: it receives only
	 * responses to its own requests.
	 */
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t rmpp_version;
};

static inline struct agent_request
agent_request_of(const struct umad_agent_request2 *from)
{
	return (struct agent_request){
		.flags = from->flags,
		.method_mask = { from->method_mask[0], from->method_mask[1] },
		.oui = from->oui,
		.qpn = (uint8_t)from->qpn,
		.mgmt_class = from->mgmt_class,
		.class_version = from->mgmt_class_version,
		.rmpp_version = from->rmpp_version,
	};
}

struct agent {
	bool is_open;
	/*
	 * Among the agents of all files. The key is the upper half of the
	 * agent's transaction ids.
	 */
	struct hash_node by_prefix;
	struct port_file *file;
	struct agent_request what;
};

/*
 * Check a request to register an agent. Return: 0; -EINVAL the kernel would
 * refuse it.
 */
int ibsa__agent_check(const struct agent_request *request) IBSA_MUST_USE;

/*
 * Whether two agents collide: both would receive the same requests, because
 * they have a common method of one class.
 */
bool ibsa__agents_collide(const struct agent_request *a,
			  const struct agent_request *b);

/* Whether the agent has registered for a MAD that is not a response. */
bool ibsa__agent_wants(const struct agent *agent, const uint8_t *mad);

/* Whether MADs of this management class may have an RMPP header. */
bool ibsa__class_has_rmpp(uint8_t mgmt_class);

/*
 * Return: the number of bytes before the data in a MAD of this management
 * class.
 */
size_t ibsa__class_header_bytes(uint8_t mgmt_class);

/*
 * Whether the kernel splits and reassembles the agent's RMPP messages;
 * otherwise the program does.
 */
static inline bool agent_has_rmpp(const struct agent *agent)
{
	return agent->what.rmpp_version &&
	       !(agent->what.flags & UMAD_RMPP_BY_USER);
}

#endif
