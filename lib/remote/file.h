/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a server, which behaves like a umad file of the
 * kernel. All threads and forked children may use it; the first reader gets a
 * packet.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#ifndef REMOTE_FILE_H
#define REMOTE_FILE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/large.h"
#include "remote/data.h"
#include "remote/portid.h"
#include "umad/file.h"

/*
 * State of a umad file in memory that forked children share, because they use
 * the same sockets and rings.
 */
struct remote_shared {
	pthread_mutex_t requesting;
	pthread_mutex_t reading;
	pthread_mutex_t writing;
	atomic_bool is_lost; /* a process ended while it held a lock */
	atomic_uint packets; /* number of packets that were sent */
	/*
	 * @reading is held while a packet is received through @data, @writing
	 * while one is sent. The socket of @data can be polled like a umad file
	 * of the kernel.
	 */
	struct remote_data data;
};

struct remote_file {
	struct umad_file base;
	struct remote_connection connection;
	large_inode connection_inode; /* of the connection's socket */
	struct remote_shared *shared;
	struct remote_portid *portid;
	atomic_bool is_lost; /* the server has ended */
	/* Value of ibsa__children() when the file was opened. */
	unsigned int children;
};

/*
 * Open the umad file of a port at a server. While it is open, its
 * descriptor is an epoll set. When the server has ended, its operations wait for
 * the next server at the same path, with which the operation reopen makes
 * another file with the same descriptor. On success, @address
 * contains the name of the node and the number of the port that the server
 * chose. Return: as ibsa__remote_connect().
 */
int ibsa__remote_file_open(struct remote_address *address,
			   struct ibsa_error *error,
			   struct remote_file *out) IBSA_MUST_USE;

void ibsa__remote_file_close(struct remote_file *file);

/* The operations of the file (file_ops.c). */
extern const struct umad_file_ops ibsa__remote_file_ops;

/*
 * Make a file of a successful attempt to open it again, which uses the same
 * portid. Return: 0; -ENOMEM.
 */
int ibsa__remote_file_take(struct remote_portid *portid,
			   struct remote_file *out) IBSA_MUST_USE;

/*
 * Send a request about the file, which other processes may use at the same
 * time. Return: as ibsa__remote_request().
 */
int ibsa__remote_file_request(struct remote_file *file,
			      struct remote_request *request) IBSA_MUST_USE;

/* Whether the server has closed the file's data socket. */
bool ibsa__remote_file_has_ended(const struct remote_file *file);

/*
 * Do what ibsa__remote_file_open() does, but return a struct umad_file, which
 * its close operation frees. Return: as ibsa__remote_file_open(), or -ENOMEM.
 */
int ibsa__remote_file_new(struct remote_address *address,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * The operations send and receive use the next two functions, which fail when
 * the server has ended.
 *
 * Send a packet of @len bytes, a umad header and a MAD, to the server.
 * If the server rejects the packet, it sends it back with a status: EINVAL if
 * the agent does not exist, or already waits for a reply with this transaction
 * id. Return: 0; -EINVAL @len is too small or too large; -EIO the server has
 * gone or has not read for ten seconds.
 */
int ibsa__remote_file_write(struct remote_file *file, const void *packet,
			    size_t len) IBSA_MUST_USE;

/* Check the length of a packet to send. Return: 0; -EINVAL. */
int ibsa__remote_packet_check(size_t len) IBSA_MUST_USE;

/*
 * Receive a packet from the server, if one has arrived. Return: its
 * length; -EAGAIN no packet; -ENOSPC @room is too small: header and first
 * segment were copied, and the packet stays; -EINVAL @room is too small even
 * for these; -EIO the server has gone, sent invalid data or did not send the
 * rest of a packet.
 */
ssize_t ibsa__remote_file_read(struct remote_file *file, void *packet,
			       size_t room) IBSA_MUST_USE;

#endif
