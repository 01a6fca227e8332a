/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An open umad file of any implementation: a device file of the kernel, or a
 * port of a fabric server. All implementations behave as the kernel's file
 * does.
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
 * @bytes: the bytes of the packet
 * @room:  size of the memory at @bytes, if the caller provides the memory
 * @len:   length of the packet in bytes
 * @err:   0; -EMSGSIZE the packet is larger than the file accepts, and @bytes
 *         has only its header and first segment
 */
struct umad_buffer {
	uint8_t *bytes;
	size_t room;
	size_t len;
	int err;
};

/**
 * struct umad_file_ops - operations of a umad file
 * @register_agent:   as the ioctl UMAD_REGISTER_AGENT. Return: 0, and
 *                    @request->id is the agent's number; -EINPROGRESS: the
 *                    request was sent, see @answer; or -errno
 * @register_agent2:  as UMAD_REGISTER_AGENT2; -ENOTTY: the file does not
 *                    support this. If -EINVAL is because of a flag,
 *                    @request->flags receives the supported flags
 * @unregister_agent: as UMAD_UNREGISTER_AGENT. Return: 0 or -errno
 * @send:    send a struct umad_header and a MAD, @len bytes in all. Return: 0
 *           or -errno
 * @receive: read the packets that have arrived, at most @count; never waits.
 *           The first of @buffers has memory of the caller. A file with a queue
 *           of its own sets @bytes to the packets in the queue instead, which
 *           are valid until the next call. Return: number of packets; -EAGAIN
 *           no packet; -ENOSPC the memory is too small: the packet stays in the
 *           file, and only its header and first segment were copied; or another
 *           -errno
 * @fd:      the descriptor that is readable when receive may return a packet; a
 *           file may create it in the first call, which then returns -1 if the
 *           system is short of memory or descriptors
 * @member_fd: a descriptor that is in the epoll set @fd. NULL: @fd is not an
 *           epoll set
 * @reopen:  if the file was lost, try to open it again, without waiting. Return:
 *           0, and *@out replaces the file and has the same @fd, or is NULL. NULL:
 *           the file cannot be opened again
 * @is_idle: whether the file was lost and receive has nothing to return, although
 *           @fd may be readable. Set if @reopen is
 * @close:   close and free the file; leaves a descriptor alone that the program
 *           has closed itself
 *
 * A transport needs these as well:
 *
 * @open:    open the file again after @shut, without waiting; also called on the
 *           open file until register_agent has its answer, and then returns 0
 *           without a change. *@out_is_other:
 *           the new file is of another device than before. Return: 0;
 *           -EINPROGRESS it is not yet time to try again; or -errno
 * @shut:    close the file, if it is open; @open can open it again.
 *           @is_gone: the port has disappeared
 * @wait:    wait until a packet arrives, wake is called, or @timeout_ms
 *           milliseconds have passed; below 0: no limit. The function may
 *           return earlier. Return: 0; -EINTR; or another -errno
 * @wake:    end a wait in another thread, or else the next wait; any thread may
 *           call it
 * @now_ns, @holds, @holder, @inherited, @port, @gid, @pkey: as those of
 *           struct ibsa_transport_ops. @now_ns NULL: the system's monotonic
 *           clock; @holds NULL: always; @holder NULL: not known
 * @changed: Return: 1 the port may have changed since the last call; 0; or
 *           -errno: the file is lost. NULL: the file does not report changes
 * @answer:  after -EINPROGRESS of register_agent: wait up to @wait_ms for the
 *           answer; below 0: as long as the file itself waits. Return: 0, and
 *           *@out is the agent; -EINPROGRESS the answer has not come; -EPIPE
 *           the file is lost; or the error in the answer. NULL: register_agent
 *           never returns -EINPROGRESS
 * @has_large_mads: on Omni-Path, the file sends MADs of more than
 *                  IBSA_MAD_BYTES
 *
 * @reads_singly:   each call of receive reads one packet with a system call,
 *                  and the file returns each request that was sent with a
 *                  timeout exactly once, as the kernel does: with its reply, or
 *                  with an error
 *
 * @port returns -EPIPE when the file is lost.
 *
 * A forked child may use the file that its parent has opened. A file that
 * consists of its descriptor only has no close operation: close(2) closes it.
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
	int (*fd)(struct umad_file *file);
	int (*member_fd)(struct umad_file *file);
	int (*reopen)(struct umad_file *file, struct umad_file **out);
	bool (*is_idle)(struct umad_file *file);
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
	bool reads_singly;
};

/* A umad file. An implementation embeds this struct as its first member. */
struct umad_file {
	const struct umad_file_ops *ops;
};

#endif
