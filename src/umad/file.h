/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open umad file, whichever implements it: a device file of the kernel, or
 * a port of a fabric server. All behave as the kernel's do.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#ifndef UMAD_FILE_H
#define UMAD_FILE_H

#include <sys/types.h>

#include <ibsa/types.h>

#include "umad/header.h"

struct umad_file;

/**
 * struct umad_buffer - a packet: a struct umad_header and a MAD behind it
 * @bytes: of it
 * @room:  of the memory at @bytes, where the caller provides it
 * @len:   bytes of the packet
 * @err:   0; -EMSGSIZE it is larger than the file takes, and only the header and
 *         the first segment are here
 */
struct umad_buffer {
	uint8_t *bytes;
	size_t room;
	size_t len;
	int err;
};

/**
 * struct umad_file_ops - what a umad file can do
 * @register_agent:   as the ioctl UMAD_REGISTER_AGENT. Return: 0, and
 *                    @request->id is the agent's; -EINPROGRESS: it is asked
 *                    for, see @answer; or -errno
 * @register_agent2:  as UMAD_REGISTER_AGENT2; -ENOTTY: the file does not know
 *                    it. If -EINVAL is for a flag, @request->flags is the flags
 *                    that are known
 * @unregister_agent: as UMAD_UNREGISTER_AGENT. Return: 0 or -errno
 * @send:    a struct umad_header and a MAD, @len bytes in all.
 *           Return: 0 or -errno
 * @receive: take packets that are there, @count at most; never waits. The first
 *           of @buffers has memory of the caller's. A file that holds its
 *           packets itself points @bytes at them instead, until it is called
 *           again. Return: how many; -EAGAIN there is none; -ENOSPC the memory
 *           is too small: the packet stays, and only its header and first
 *           segment are in it; or another -errno
 * @fd:      readable when receive may return a packet
 * @close:   close it and free it; leaves alone what is not its own any more
 *
 * A transport needs these as well:
 *
 * @open:    open the file again, which is shut, without waiting; or nothing, if
 *           it is open already. *@out_is_other: it is another one than before.
 *           Return: 0; -EINPROGRESS it is not yet time to try again; or -errno
 * @shut:    close what is open of it; nothing if nothing is. @is_gone: the port
 *           went away
 * @wait:    until the file or wake ends it, or for so many milliseconds, below
 *           0 without an end. Return: 0; -EINTR; or another -errno
 * @wake:    end a wait in another thread, or the next one; any thread
 * @now_ns, @holds, @holder, @inherited, @port, @gid, @pkey: as those of
 *           struct ibsa_transport_ops. @now_ns NULL: the system's monotonic
 *           clock; @holds NULL: always; @holder NULL: not known
 * @changed: 1 the port may have changed since the last call, or 0; or -errno:
 *           the file is lost. NULL: it does not tell of changes
 * @answer:  after -EINPROGRESS of register_agent: wait for the answer, for so
 *           many milliseconds, below 0 as long as the file waits for any.
 *           Return: 0, and *@out is the agent; -EINPROGRESS it has not come;
 *           -EPIPE the file is lost; or the error that is the answer. NULL:
 *           register_agent is never in progress
 * @has_large_mads: on Omni-Path it sends MADs above IBSA_MAD_BYTES
 *
 * port returns -EPIPE when the file is lost.
 *
 * A forked child uses the file that its parent has opened. A file that is its
 * descriptor alone has no close: close(2) closes it.
 */
struct umad_file_ops {
	int (*register_agent)(struct umad_file *file,
			      struct umad_agent_request *request);
	int (*register_agent2)(struct umad_file *file,
			       struct umad_agent_request2 *request);
	int (*unregister_agent)(struct umad_file *file, uint32_t agent);
	int (*send)(struct umad_file *file, const void *packet, size_t len);
	int (*receive)(struct umad_file *file, struct umad_buffer *buffers,
		       size_t count);
	int (*fd)(const struct umad_file *file);
	void (*close)(struct umad_file *file);

	int (*open)(struct umad_file *file, bool *out_is_other);
	void (*shut)(struct umad_file *file, bool is_gone);
	int (*wait)(struct umad_file *file, int timeout_ms);
	void (*wake)(struct umad_file *file);
	uint64_t (*now_ns)(struct umad_file *file);
	bool (*holds)(struct umad_file *file);
	int (*port)(struct umad_file *file, struct ibsa_port_state *out);
	int (*changed)(struct umad_file *file);
	int (*answer)(struct umad_file *file, int wait_ms, uint32_t *out);
	int (*gid)(struct umad_file *file, uint32_t index,
		   struct ibsa_gid_entry *out);
	int (*pkey)(struct umad_file *file, uint32_t index, uint16_t *out);
	bool (*holder)(struct umad_file *file, struct ibsa_error *out);
	void (*inherited)(struct umad_file *file);
	bool has_large_mads;
};

/* An implementation embeds this as its first member. */
struct umad_file {
	const struct umad_file_ops *ops;
};

#endif
