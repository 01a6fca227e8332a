/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a fabric server, which behaves like one of the kernel. All
 * threads, and forked children, may use it; a packet goes to the first reader.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#ifndef REMOTE_FILE_H
#define REMOTE_FILE_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/large.h"
#include "remote/connection.h"
#include "umad/file.h"

/* Locks in shared memory: forked children use the same two sockets. */
struct remote_locks {
	pthread_mutex_t requesting;
	pthread_mutex_t reading;
	pthread_mutex_t writing;
};

struct remote_file {
	struct umad_file base;
	struct remote_connection connection;
	/*
	 * Data socket, O_NONBLOCK; poll() works on it as on a kernel umad file.
	 */
	int fd;
	large_inode fd_inode; /* inode numbers of the two sockets */
	large_inode connection_inode;
	struct remote_locks *locks;
	unsigned int children; /* ibsa__children() at the time of opening */
};

/*
 * Open the umad file of a port. On success, @address has the name and the
 * number of the port that the server chose. Return: as ibsa__remote_connect().
 */
int ibsa__remote_file_open(struct remote_address *address,
			   struct ibsa_error *error,
			   struct remote_file *out) IBSA_MUST_USE;

void ibsa__remote_file_close(struct remote_file *file);

/*
 * Like ibsa__remote_file_open(), but as a struct umad_file, which its close
 * operation frees. Return: also -ENOMEM.
 */
int ibsa__remote_file_new(struct remote_address *address,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * Send a packet, a header and a MAD, of @len bytes in total. If the server
 * rejects it, it sends a packet with a status: EINVAL if the agent does not
 * exist or already waits for a reply with the same transaction id.
 * Return: 0; -EINVAL @len is too small or too large; -EIO the server has gone
 * or has not read for ten seconds.
 */
int ibsa__remote_file_write(struct remote_file *file, const void *packet,
			    size_t len) IBSA_MUST_USE;

/*
 * Receive a packet without waiting for one to arrive. Return: its length;
 * -EAGAIN no packet; -ENOSPC @room is too small, the header and the first
 * segment were copied, and the packet stays; -EINVAL @room is too small even
 * for these; -EIO the server has gone, sent invalid data or did not complete a
 * packet.
 */
ssize_t ibsa__remote_file_read(struct remote_file *file, void *packet,
			       size_t room) IBSA_MUST_USE;

#endif
