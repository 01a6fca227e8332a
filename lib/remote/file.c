/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A umad file at a fabric server. Agents are registered by requests on the
 * connection; packets use a second socket, the data socket.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/registry.h"
#include "remote/file.h"
#include "remote/shared_lock.h"

enum {
	PATIENCE_MS = 10000,
	/*
	 * The shortest packet that is sent: a umad header and an RMPP header.
	 * The kernel rejects shorter packets, too.
	 */
	SENT_MIN = UMAD_HEADER_BYTES + 36,
	FIRST_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

static void shared_free(struct remote_shared *shared)
{
	munmap(shared, sizeof(*shared));
}

static int shared_new(struct remote_shared **out)
{
	struct remote_shared *shared = mmap(NULL, sizeof(*shared),
					    PROT_READ | PROT_WRITE,
					    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (shared == MAP_FAILED)
		return -ENOMEM;
	remote_data_init(&shared->data);
	err = shared_lock_init(&shared->requesting);
	if (!err)
		err = shared_lock_init(&shared->reading);
	if (!err)
		err = shared_lock_init(&shared->writing);
	if (err) {
		shared_free(shared);
		return err;
	}
	*out = shared;
	return 0;
}

/*
 * Take a lock that other processes share. If a process ended while it held the
 * lock, it may have sent or received a part of a packet or of an answer; what
 * follows can then no longer be separated, so the data socket and the
 * connection are shut down for all processes. Return: false: no process may
 * use the file any more.
 */
static bool file_lock(const struct remote_file *file, pthread_mutex_t *lock)
{
	if (pthread_mutex_lock(lock) == EOWNERDEAD) {
		pthread_mutex_consistent(lock);
		atomic_store(&file->shared->is_lost, true);
		shutdown(file->shared->data.fd, SHUT_RDWR);
		shutdown(file->connection.fd, SHUT_RDWR);
	}
	return !atomic_load(&file->shared->is_lost);
}

/* Send a header and a MAD; wait for room until the timeout. */
static int packet_write(struct remote_data *data,
			const struct umad_header *header, const void *mad,
			size_t len)
{
	const uint64_t start_ns = clock_now_ns();
	size_t sent = 0;
	int err;

	do
		err = ibsa__data_send(data, header, sizeof(*header), mad, len,
				      &sent);
	while (err == -EAGAIN &&
	       !ibsa__data_await(data, POLLOUT, PATIENCE_MS, start_ns));
	/*
	 * After a part of a packet was sent, the data socket cannot be used
	 * any more: the server would read the next packet as the rest of this
	 * one.
	 */
	if (err && sent)
		shutdown(data->fd, SHUT_RDWR);
	return err == -EAGAIN ? -EIO : err;
}

int ibsa__remote_packet_check(size_t len)
{
	return len < SENT_MIN || len > REMOTE_PACKET_MAX ? -EINVAL : 0;
}

int ibsa__remote_file_write(struct remote_file *file, const void *packet,
			    size_t len)
{
	struct remote_data *data = &file->shared->data;
	struct umad_header header;
	int err = ibsa__remote_packet_check(len);

	if (err)
		return err;
	err = -EIO;
	memcpy(&header, packet, sizeof(header));
	header.length = (uint32_t)len;
	if (file_lock(file, &file->shared->writing) &&
	    !ibsa__data_is_lost(data))
		err = packet_write(data, &header,
				   (const char *)packet + sizeof(header),
				   len - sizeof(header));
	if (!err)
		atomic_fetch_add(&file->shared->packets, 1);
	pthread_mutex_unlock(&file->shared->writing);
	return err;
}

/* Receive exactly @len bytes; wait for bytes that have not arrived yet. */
static int data_take(struct remote_data *data, void *to, size_t len,
		     uint64_t start_ns)
{
	char *at = to;

	while (len) {
		const ssize_t got = ibsa__data_recv(data, at, len);

		if (got > 0) {
			at += got;
			len -= (size_t)got;
		} else if (got != -EAGAIN ||
			   ibsa__data_await(data, POLLIN, PATIENCE_MS,
					    start_ns)) {
			return -EIO;
		}
	}
	return 0;
}

static bool header_is_valid(const struct umad_header *header)
{
	return header->length >= UMAD_HEADER_BYTES + REMOTE_MAD_MIN &&
	       header->length <= REMOTE_PACKET_MAX;
}

/*
 * Read the first @want bytes of the next packet without removing them. Return:
 * 0; -EAGAIN no packet; -EIO.
 */
static int packet_peek(struct remote_data *data, void *to, size_t want,
		       uint64_t start_ns)
{
	struct pollfd end = { .fd = data->fd, .events = POLLRDHUP };
	bool has_ended = false;

	/*
	 * The server writes a packet as a whole, so the rest of it arrives
	 * soon.
	 */
	do {
		const ssize_t got = ibsa__data_peek(data, to, want);

		if (got < 0)
			return (int)got;
		if ((size_t)got == want)
			return 0;
		if (has_ended)
			return -EIO;
		has_ended = poll(&end, 1, 1) > 0;
	} while (ibsa__clock_left_ms(PATIENCE_MS, start_ns));
	return -EIO;
}

static ssize_t packet_read(struct remote_data *data, void *packet, size_t room)
{
	const uint64_t start_ns = clock_now_ns();
	struct umad_header header;
	size_t first;
	int err = packet_peek(data, &header, sizeof(header), start_ns);

	if (err)
		return err;
	if (!header_is_valid(&header))
		return -EIO;
	first = header.length < FIRST_BYTES ? header.length : FIRST_BYTES;
	if (room < first)
		return -EINVAL;
	if (room >= header.length)
		err = data_take(data, packet, header.length, start_ns);
	else
		err = packet_peek(data, packet, first, start_ns);
	if (err)
		return err;
	/*
	 * A malicious server may have changed the header in the ring after the
	 * header was checked: use the checked copy.
	 */
	memcpy(packet, &header, sizeof(header));
	return room < header.length ? -ENOSPC : (ssize_t)header.length;
}

ssize_t ibsa__remote_file_read(struct remote_file *file, void *packet,
			       size_t room)
{
	ssize_t len = -EIO;

	if (file_lock(file, &file->shared->reading))
		len = packet_read(&file->shared->data, packet, room);
	pthread_mutex_unlock(&file->shared->reading);
	return len;
}

/* Attach a file over TCP: connect the data socket with the server's ticket. */
static int file_join(struct remote_connection *connection,
		     const struct remote_address *address,
		     struct ibsa_error *error, struct remote_data *out)
{
	uint8_t ticket[REMOTE_TICKET_BYTES] = { 0 };
	struct remote_request request = {
		.type = REMOTE_ATTACH,
		.answer = ticket,
		.room = sizeof(ticket),
	};
	int err = ibsa__remote_request(connection, &request, error);

	return err ? err
		   : ibsa__remote_join(connection, address, ticket, error,
				       &out->fd);
}

static int file_attach(struct remote_connection *connection,
		       struct ibsa_error *error, struct remote_data *out)
{
	uint32_t ring_bytes = 0;
	struct remote_request request = {
		.type = REMOTE_ATTACH,
		.answer = &ring_bytes,
		.room = sizeof(ring_bytes),
	};
	int err = ibsa__remote_request(connection, &request, error);

	if (!err)
		err = ibsa__data_open(out, &request.fds, ring_bytes, error);
	ibsa__remote_fds_close(&request.fds);
	return err;
}

/* Return: the number of packets for a request, which only TCP needs. */
static uint32_t packets_before(const struct remote_file *file)
{
	return file->portid->address.is_tcp
		       ? atomic_load(&file->shared->packets)
		       : 0;
}

static void file_detach(struct remote_file *file)
{
	struct remote_request request = { .type = REMOTE_DETACH,
					  .packets = packets_before(file) };

	/*
	 * An error is ignored: if the server has gone, its umad file has gone,
	 * too.
	 */
	(void)!ibsa__remote_request(&file->connection, &request, NULL);
}

/*
 * Whether @fd is still the socket that this file opened. The program may have
 * closed it, and another file may have its number.
 */
static bool fd_is_own(int fd, large_inode inode)
{
	return inode && ibsa__socket_inode(fd) == inode;
}

/*
 * If the program has closed the connection's descriptor, forget its number,
 * which may belong to another file.
 */
static void connection_check(struct remote_file *file)
{
	if (!fd_is_own(file->connection.fd, file->connection_inode))
		file->connection.fd = -1;
}

/* Set up a file of which the connection and the data are open. */
static void file_init(struct remote_file *file, struct remote_portid *portid,
		      unsigned int children)
{
	file->base.ops = &ibsa__remote_file_ops;
	file->shared->data.inode = ibsa__socket_inode(file->shared->data.fd);
	file->connection_inode = ibsa__socket_inode(file->connection.fd);
	file->portid = portid;
	atomic_init(&file->is_lost, false);
	file->children = children;
	atomic_store(&portid->current, file);
}

int ibsa__remote_file_open(struct remote_address *address,
			   struct ibsa_error *error, struct remote_file *out)
{
	const unsigned int children = ibsa__children();
	struct remote_portid *portid;
	int err = shared_new(&out->shared);

	if (err)
		return ibsa__fail(error, err, "out of memory");
	err = ibsa__remote_connect(&out->connection, address, error);
	if (!err && address->is_tcp)
		err = file_join(&out->connection, address, error,
				&out->shared->data);
	else if (!err)
		err = file_attach(&out->connection, error, &out->shared->data);
	if (!err)
		err = ibsa__remote_portid_new(address, out->shared->data.fd,
					      &portid);
	if (err) {
		ibsa__data_close(&out->shared->data);
		ibsa__remote_disconnect(&out->connection);
		shared_free(out->shared);
		return err;
	}
	file_init(out, portid, children);
	return 0;
}

int ibsa__remote_file_take(struct remote_portid *portid,
			   struct remote_file *out)
{
	struct portid_attempt *attempt = &portid->attempt;
	int err = shared_new(&out->shared);

	if (err)
		return err;
	out->connection = attempt->connection;
	out->shared->data = attempt->data;
	attempt->connection.fd = -1;
	remote_data_init(&attempt->data);
	atomic_fetch_add(&portid->uses, 1);
	file_init(out, portid, ibsa__children());
	return 0;
}

int ibsa__remote_file_request(struct remote_file *file,
			      struct remote_request *request)
{
	int err = -ENODEV;

	if (file_lock(file, &file->shared->requesting)) {
		connection_check(file);
		request->packets = packets_before(file);
		err = ibsa__remote_request(&file->connection, request, NULL);
	}
	pthread_mutex_unlock(&file->shared->requesting);
	return err;
}

bool ibsa__remote_file_has_ended(const struct remote_file *file)
{
	const struct remote_data *data = &file->shared->data;
	struct pollfd end = { .fd = data->fd, .events = POLLRDHUP };

	return fd_is_own(data->fd, data->inode) && poll(&end, 1, 0) > 0;
}

void ibsa__remote_file_close(struct remote_file *file)
{
	struct remote_data data = file->shared->data;
	struct remote_file *current = file;

	connection_check(file);
	if (!fd_is_own(data.fd, data.inode))
		data.fd = -1;
	/*
	 * An eventfd and a timerfd have no inode number by which the program's
	 * close(2) could be detected. Both descriptors are used as open unless
	 * the program has closed both sockets.
	 */
	if (data.fd < 0 && file->connection.fd < 0) {
		data.bell_fd = -1;
		file->portid->timer_fd = -1;
	}
	/*
	 * After a fork, a parent or child process may still use the file. The
	 * file is therefore not detached here: the server closes it when all
	 * processes have closed their descriptors.
	 */
	if (file->children == ibsa__children())
		file_detach(file);
	ibsa__data_close(&data);
	ibsa__remote_disconnect(&file->connection);
	shared_free(file->shared);
	atomic_compare_exchange_strong(&file->portid->current, &current, NULL);
	ibsa__remote_portid_put(file->portid);
}
