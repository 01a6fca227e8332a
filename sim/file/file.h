/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a port of the fabric, with the kernel's manners: agents,
 * transaction ids, timeouts and retries.
 *
 * The caller has locked the fabric. Packets are a struct umad_header and a MAD
 * behind it.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c and mad.c;
 * Documentation/infiniband/user_mad.rst.
 */
#ifndef SIM_FILE_FILE_H
#define SIM_FILE_FILE_H

#include <ibsa/sim.h>

#include "sim/mad/agent.h"
#include "umad/file.h"

struct mad_net;
struct nodes;
struct sim_file;
struct subnet;

enum { SIM_AGENTS_MAX = 32 /* of a file */ };

/* The umad files of a fabric. */
struct sim_files {
	struct subnet *subnet;
	struct mad_net *net;
	struct nodes *nodes;
	uint32_t agent_prefixes; /* given to agents */
};

/*
 * Open one at an end port (index in the topology). @ready is called
 * when there is something to read where there was nothing, and when a MAD
 * for the port is sent that arrives later.
 * Return: 0; -ENODEV no end port; -ENOMEM.
 */
int ibsa__sim_file_open(struct sim_files *files, uint32_t port,
			void (*ready)(void *arg), void *arg,
			struct sim_file **out) IBSA_MUST_USE;
void ibsa__sim_file_close(struct sim_file *file);

/*
 * Return: 0; -EINVAL a value that the kernel refuses, or a method that
 * another agent of the port has; -ENOMEM 32 agents are there.
 */
int ibsa__sim_file_register(struct sim_file *file,
			    struct sim_agent_request *request) IBSA_MUST_USE;

/* Whether an agent of the file has a method that @request asks for. */
bool ibsa__sim_file_has(const struct sim_file *file,
			const struct sim_agent_request *request);

/* Return: 0; -EINVAL there is no such agent. */
int ibsa__sim_file_unregister(struct sim_file *file, uint32_t id) IBSA_MUST_USE;

/*
 * Send one packet. Return: 0, also if it gets lost; -EINVAL it is shorter
 * than a header and 36 bytes, too long for one MAD without RMPP, of no agent
 * that there can be, or an earlier one of that class and transaction id is
 * not answered yet; -EIO no such agent is registered; -ENOMEM, or too much of
 * what was sent waits for its answer.
 */
int ibsa__sim_file_write(struct sim_file *file, const uint8_t *packet,
			 size_t len) IBSA_MUST_USE;

/*
 * Have the file read, behind what is there, that @packet was not sent for
 * @err: its header with that as the status, and the first 24 bytes of its MAD.
 */
void ibsa__sim_file_refuse(struct sim_file *file, const uint8_t *packet,
			   int err);

/*
 * Let happen what is due: answers arrive, and a MAD without an answer is sent
 * again or given up; at most so many at a time, the others stay due.
 */
enum { SIM_AGAIN_MAX = 1024 };
void ibsa__sim_file_settle(struct sim_file *file);

/*
 * The packet that was first, or NULL; its length (UMAD_HEADER_BYTES and the
 * MAD) is in *@len and in its header. It stays until it is taken.
 */
const uint8_t *ibsa__sim_file_head(struct sim_file *file, size_t *len);
void ibsa__sim_file_take(struct sim_file *file);

/* Whether there is a packet. */
bool ibsa__sim_file_is_readable(const struct sim_file *file);

/*
 * Take as many packets as there are, @count at most. They stay until the next
 * call. Return: how many.
 */
size_t ibsa__sim_file_receive(struct sim_file *file,
			      struct umad_buffer *buffers, size_t count);

/*
 * When something may be there by itself, on the fabric's clock: it is to be
 * settled then. UINT64_MAX: never.
 */
uint64_t ibsa__sim_file_due(const struct sim_file *file);

/*
 * Whether an SM is on the port, which its PortInfo says: as the file
 * /dev/infiniband/issmN, while it is open. Return: 0; -EBUSY another file
 * has it.
 */
int ibsa__sim_file_issm(struct sim_file *file, bool on) IBSA_MUST_USE;

#endif
