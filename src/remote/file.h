/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a fabric server, with the kernel's manners. Any thread may
 * use it, and forked children too; packets go to whichever reads first.
 *
 * Source: Linux Documentation/infiniband/user_mad.rst.
 */
#ifndef REMOTE_FILE_H
#define REMOTE_FILE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/large.h"
#include "remote/connection.h"
#include "umad/file.h"

/* In memory that a process and its forked children share, as they share the
 * two sockets. */
struct remote_locks {
	pthread_mutex_t requesting;
	pthread_mutex_t reading;
	pthread_mutex_t writing;
};

struct remote_file {
	struct umad_file base;
	struct remote_connection connection;
	int fd; /* the data end: readable as a umad file is, O_NONBLOCK */
	large_inode fd_inode; /* of @fd, and of the connection's */
	large_inode connection_inode;
	struct remote_locks *locks;
	unsigned int children; /* ibsa__children() when it was opened */
	bool is_inherited; /* by a forked child, from the process that opened */
};

/*
 * Open the umad file of a port; @place gets the name and number of what was
 * found. Return: as ibsa__remote_connect().
 */
int ibsa__remote_file_open(struct remote_address *address,
			   struct ibsa_error *error,
			   struct remote_file *out) IBSA_MUST_USE;

void ibsa__remote_file_close(struct remote_file *file);

/* The same as a umad file, whose close frees it. Return: also -ENOMEM. */
int ibsa__remote_file_new(struct remote_address *address,
			  struct umad_file **out) IBSA_MUST_USE;

/*
 * As the kernel's ioctl UMAD_REGISTER_AGENT2, for the file that has been
 * attached. Return: 0 and @request->id is set; -EINVAL the methods are
 * another's, or nonsense; -ENOMEM there are as many agents as can be; -ENODEV
 * the server has gone.
 */
int ibsa__remote_register(struct remote_connection *connection,
			  struct umad_agent_request2 *agent) IBSA_MUST_USE;

/* The same at a file, which other processes may use at that moment. */
int ibsa__remote_file_register(struct remote_file *file,
			       struct umad_agent_request2 *request)
	IBSA_MUST_USE;
int ibsa__remote_file_unregister(struct remote_file *file,
				 uint32_t agent) IBSA_MUST_USE;

/* Return: 0; -EINVAL there is no such agent; -ENODEV. */
int ibsa__remote_unregister(struct remote_connection *connection,
			    uint32_t agent) IBSA_MUST_USE;

/*
 * Send a header and a MAD of @len bytes in all. What becomes of it comes as a
 * packet with a status, should it be refused: EINVAL the agent is not there,
 * or waits for an answer of the same transaction.
 * Return: 0; -EINVAL too short or too long for a packet; -EIO the server has
 * gone, or has not read for ten seconds.
 */
int ibsa__remote_file_write(struct remote_file *file, const void *packet,
			    size_t len) IBSA_MUST_USE;

/*
 * Never waits for a packet. Return: bytes of it; -EAGAIN there is none;
 * -ENOSPC @room is too small, and only the header and first segment are in
 * @packet, and -EINVAL not even for these: it stays; -EIO the server has
 * gone, or does not finish what it has begun.
 */
ssize_t ibsa__remote_file_read(struct remote_file *file, void *packet,
			       size_t room) IBSA_MUST_USE;

/* A packet that is sent, not necessarily at once. Points into itself and to
 * the caller's MAD. */
struct remote_packet {
	struct umad_header header;
	struct iovec parts[2];
	struct msghdr message; /* what is left to send */
	bool is_begun;	       /* a part was sent */
};

/* Return: 0; -EINVAL @len is too large. */
int ibsa__remote_packet_init(struct remote_packet *packet,
			     const struct umad_header *header, const void *mad,
			     size_t len) IBSA_MUST_USE;

/*
 * Send what is left of @packet, without waiting, by who has the data end @fd
 * for itself. Return: 0 all was sent; -EAGAIN not all, or nothing; -EIO the
 * server has gone.
 */
int ibsa__remote_packet_send(struct remote_packet *packet,
			     int fd) IBSA_MUST_USE;

/* Copy what is left of @packet. Return: its bytes; 0 @room is too small. */
size_t ibsa__remote_packet_rest(const struct remote_packet *packet, void *out,
				size_t room);

/*
 * Close the umad file at the server: once this returns, what was its agents'
 * may be another's, as after the kernel's close().
 */
void ibsa__remote_detach(struct remote_connection *connection);

/* Ask for the data end of a umad file at the connection's port. */
int ibsa__remote_attach(struct remote_connection *connection,
			struct ibsa_error *error, int *out) IBSA_MUST_USE;

#endif
