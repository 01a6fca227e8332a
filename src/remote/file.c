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

#include <ibsa/sa.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/registry.h"
#include "remote/file.h"

enum {
	PATIENCE_MS = 10000,
	/*
	 * The shortest packet that is sent: a umad header and an RMPP header.
	 * The kernel rejects shorter packets, too.
	 */
	SENT_MIN = UMAD_HEADER_BYTES + 36,
	FIRST_BYTES = UMAD_HEADER_BYTES + IBSA_MAD_BYTES,
};

static int shared_mutex_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;
	int err = pthread_mutexattr_init(&attributes);

	if (err)
		return -err;
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	err = pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	return -err;
}

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
	err = shared_mutex_init(&shared->requesting);
	if (!err)
		err = shared_mutex_init(&shared->reading);
	if (!err)
		err = shared_mutex_init(&shared->writing);
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

int ibsa__remote_file_write(struct remote_file *file, const void *packet,
			    size_t len)
{
	struct remote_data *data = &file->shared->data;
	struct umad_header header;
	int err = -EIO;

	if (len < SENT_MIN || len > REMOTE_PACKET_MAX)
		return -EINVAL;
	memcpy(&header, packet, sizeof(header));
	header.length = (uint32_t)len;
	if (file_lock(file, &file->shared->writing) &&
	    !ibsa__data_is_lost(data))
		err = packet_write(data, &header,
				   (const char *)packet + sizeof(header),
				   len - sizeof(header));
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
	} while (clock_left_ms(PATIENCE_MS, start_ns));
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
	/* The server may have changed the header in the ring since its check. */
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

static void file_detach(struct remote_connection *connection)
{
	struct remote_request request = { .type = REMOTE_DETACH };

	/*
	 * An error is ignored: if the server has gone, its umad file has gone,
	 * too.
	 */
	(void)!ibsa__remote_request(connection, &request, NULL);
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

static const struct umad_file_ops file_ops;

int ibsa__remote_file_open(struct remote_address *address,
			   struct ibsa_error *error, struct remote_file *out)
{
	const unsigned int children = ibsa__children();
	int err = shared_new(&out->shared);

	if (err)
		return ibsa__fail(error, err, "out of memory");
	err = ibsa__remote_connect(&out->connection, address, error);
	if (!err)
		err = file_attach(&out->connection, error, &out->shared->data);
	if (err) {
		ibsa__remote_disconnect(&out->connection);
		shared_free(out->shared);
		return err;
	}
	out->base.ops = &file_ops;
	out->shared->data.inode = ibsa__socket_inode(out->shared->data.fd);
	out->connection_inode = ibsa__socket_inode(out->connection.fd);
	out->children = children;
	return 0;
}

void ibsa__remote_file_close(struct remote_file *file)
{
	struct remote_data data = file->shared->data;

	connection_check(file);
	if (!fd_is_own(data.fd, data.inode))
		data.fd = -1;
	/*
	 * An eventfd has no inode of its own that could be checked. The eventfd
	 * is taken as still open unless the program has closed both sockets.
	 */
	if (data.fd < 0 && file->connection.fd < 0)
		data.bell_fd = -1;
	/*
	 * After a fork, a parent or child process may still use the file. The
	 * file is then not detached here: the server closes it when all
	 * processes have closed their descriptors.
	 */
	if (file->children == ibsa__children())
		file_detach(&file->connection);
	ibsa__data_close(&data);
	ibsa__remote_disconnect(&file->connection);
	shared_free(file->shared);
}

static struct remote_file *file_of(struct umad_file *file)
{
	return (struct remote_file *)file;
}

/*
 * Send a request about the file, which other processes may use at the same
 * time.
 */
static int file_request(struct umad_file *umad_file,
			struct remote_request *request)
{
	struct remote_file *file = file_of(umad_file);
	int err = -ENODEV;

	if (file_lock(file, &file->shared->requesting)) {
		connection_check(file);
		err = ibsa__remote_request(&file->connection, request, NULL);
	}
	pthread_mutex_unlock(&file->shared->requesting);
	return err;
}

static int file_register2(struct umad_file *file,
			  struct umad_agent_request2 *agent)
{
	struct umad_agent_request2 answer;
	struct remote_request request = {
		.type = REMOTE_REGISTER,
		.body = agent,
		.len = sizeof(*agent),
		.answer = &answer,
		.room = sizeof(answer),
	};
	int err = file_request(file, &request);

	/*
	 * As the kernel does, the server reports the supported flags when it
	 * rejects a flag.
	 */
	if (err == -EINVAL && agent->flags & ~(uint32_t)UMAD_RMPP_BY_USER)
		agent->flags = UMAD_RMPP_BY_USER;
	if (err)
		return err;
	if (request.answered != sizeof(answer))
		return -EPROTO;
	agent->id = answer.id;
	agent->flags = answer.flags;
	return 0;
}

static int file_register(struct umad_file *file, struct umad_agent_request *old)
{
	struct umad_agent_request2 request = ibsa__umad_request_renew(old);
	int err = file_register2(file, &request);

	if (!err)
		old->id = request.id;
	return err;
}

static int file_unregister(struct umad_file *file, uint32_t agent)
{
	struct remote_request request = {
		.type = REMOTE_UNREGISTER,
		.body = &agent,
		.len = sizeof(agent),
	};

	return file_request(file, &request);
}

static int file_send(struct umad_file *file, const void *packet, size_t len)
{
	return ibsa__remote_file_write(file_of(file), packet, len);
}

static int file_receive(struct umad_file *file, struct umad_buffer *buffers,
			size_t count)
{
	const ssize_t len = ibsa__remote_file_read(
		file_of(file), buffers->bytes, buffers->room);

	(void)count;
	if (len < 0)
		return (int)len;
	buffers->len = (size_t)len;
	buffers->err = 0;
	return 1;
}

static int file_fd(struct umad_file *file)
{
	return file_of(file)->shared->data.fd;
}

static void file_close(struct umad_file *file)
{
	ibsa__remote_file_close(file_of(file));
	ibsa__free(file_of(file));
}

static const struct umad_file_ops file_ops = {
	.register_agent = file_register,
	.register_agent2 = file_register2,
	.unregister_agent = file_unregister,
	.send = file_send,
	.receive = file_receive,
	.fd = file_fd,
	.close = file_close,
};

int ibsa__remote_file_new(struct remote_address *address,
			  struct umad_file **out)
{
	struct remote_file *file = ibsa__calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	err = ibsa__remote_file_open(address, NULL, file);
	if (err)
		ibsa__free(file);
	else
		*out = &file->base;
	return err;
}
