/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a port of the fabric. The file behaves like a umad file of the
 * kernel: it has agents, sets the upper half of transaction ids, and has
 * timeouts and retries.
 *
 * The caller has locked the fabric. A packet is a struct umad_header and a MAD.
 *
 * Source: Linux drivers/infiniband/core/user_mad.c and mad.c;
 * Documentation/infiniband/user_mad.rst.
 */
#ifndef FABRIC_FILE_FILE_H
#define FABRIC_FILE_FILE_H

#include "fabric/mad/agent.h"
#include "fabric/mad/port.h"
#include "umad/file.h"

struct mad_net;
struct nodes;
struct port_file;
struct subnet;

enum { AGENTS_MAX = 32 /* of a file */ };

/* The umad files of a fabric. */
struct port_files {
	struct subnet *subnet;
	struct mad_net *net;
	struct nodes *nodes;
	/*
	 * Number of agents' prefixes of transaction ids that were given so far.
	 */
	uint32_t agent_prefixes;
	struct hash agents; /* open agents by their prefixes */
	/* Time at which the last packet was written to one of the files. */
	uint64_t now_ns;
	size_t memory; /* bytes of all files' queues */
};

/* Set the response handler of @files->net. Return: 0; -ENOMEM. */
int ibsa__port_files_init(struct port_files *files) IBSA_MUST_USE;
void ibsa__port_files_done(struct port_files *files);

/*
 * Open a umad file at an end port (index in the topology). @ready is called
 * when the file becomes readable, and when a MAD is sent that will arrive at
 * the port later. Return: 0; -ENODEV the port is not an end port; -ENOMEM.
 */
int ibsa__port_file_open(struct port_files *files, uint32_t port,
			 void (*ready)(void *arg), void *arg,
			 struct port_file **out) IBSA_MUST_USE;
void ibsa__port_file_close(struct port_file *file);

/*
 * Return: the bytes of memory that the file uses for packets to be read, and
 * for copies of requests.
 */
size_t ibsa__port_file_memory(const struct port_file *file);

/*
 * Find the umad file that has sent the request @mad. *@out_arg: the file's
 * @arg, if it was opened with @ready; or else NULL. Return: false: the file, or
 * its agent, was closed.
 */
bool ibsa__port_file_sender(const struct port_files *files, const uint8_t *mad,
			    void (*ready)(void *arg), void **out_arg);

/*
 * Register an agent. Return: 0; -EINVAL the request has a value that the kernel
 * refuses, or a class and method that another agent of the port has; -ENOMEM
 * the file already has 32 agents.
 */
int ibsa__port_file_register(struct port_file *file,
			     struct agent_request *request) IBSA_MUST_USE;

/*
 * Whether an agent of the file has the class of @request and one of its
 * methods.
 */
bool ibsa__port_file_has(const struct port_file *file,
			 const struct agent_request *request);

/*
 * Unregister an agent. Return: 0; -EINVAL the file has no agent with this
 * number.
 */
int ibsa__port_file_unregister(struct port_file *file,
			       uint32_t id) IBSA_MUST_USE;

/*
 * Send one packet. Return: 0, also if the MAD is lost; -EINVAL the packet is
 * shorter than a umad header and 36 bytes or than the headers of its class, is
 * too long for one MAD without RMPP, has an invalid agent number or GID index,
 * has no GRH although the port requires one, is a direct-route SMP with an
 * invalid path, or has the class and transaction id of an earlier request
 * without an answer; -EIO no agent has this number; -ENOMEM memory is short, or
 * too many requests wait for answers.
 */
int ibsa__port_file_write(struct port_file *file, const uint8_t *packet,
			  size_t len) IBSA_MUST_USE;

/*
 * Queue the report that @packet was not sent: its umad header with @err as
 * status, and the first 24 bytes of its MAD.
 */
void ibsa__port_file_refuse(struct port_file *file, const uint8_t *packet,
			    int err);

/*
 * Process everything that is due at a umad file: responses arrive, and requests
 * without a response are sent again or time out. One call processes at most
 * AGAIN_MAX retries and timeouts; further ones stay due.
 */
enum { AGAIN_MAX = 1024 };
void ibsa__port_file_settle(struct port_file *file);

/*
 * Return: the first packet in the file's queue, or NULL. The length of the
 * packet (UMAD_HEADER_BYTES and the MAD) is in *@len and in its header. The
 * packet stays in the queue until ibsa__port_file_take().
 */
const uint8_t *ibsa__port_file_head(struct port_file *file, size_t *len);
void ibsa__port_file_take(struct port_file *file);

/* Whether the file's queue has a packet. */
bool ibsa__port_file_is_readable(const struct port_file *file);

/*
 * Remove at most @count packets from the file's queue. The removed packets are
 * valid until the next call. Return: the number of packets.
 */
size_t ibsa__port_file_receive(struct port_file *file,
			       struct umad_buffer *buffers, size_t count);

/*
 * Return: the time on the fabric's clock at which ibsa__port_file_settle() must
 * be called, because a response may arrive or a request times out then;
 * UINT64_MAX: never.
 */
uint64_t ibsa__port_file_due(const struct port_file *file);

/*
 * Set or clear IsSM in the PortInfo of the port, as the kernel does while a
 * program has /dev/infiniband/issmN open. Return: 0; -EBUSY another file has
 * set it.
 */
int ibsa__port_file_issm(struct port_file *file, bool on) IBSA_MUST_USE;

#endif
