/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The operations of a umad file at a fabric server. When the server has ended,
 * the file behaves like that of a port whose link is down, until it is opened
 * again at the next server. A signal handler may call these operations: those
 * that open the file again do not use malloc().
 */
#include <errno.h>
#include <sys/mman.h>

#include "remote/file.h"

static struct remote_file *file_of(struct umad_file *file)
{
	return (struct remote_file *)file;
}

static bool file_is_lost(const struct remote_file *file)
{
	return atomic_load(&file->is_lost);
}

/* Return: whether the server has ended, and the file can be opened again. */
static bool file_lose(struct remote_file *file)
{
	if (!file->portid->reopen_ns || !ibsa__remote_file_has_ended(file))
		return false;
	if (!atomic_exchange(&file->is_lost, true))
		ibsa__remote_portid_lose(file->portid, file->shared->data.fd);
	return true;
}

static int file_request(struct remote_file *file,
			struct remote_request *request)
{
	int err = -ENODEV;

	if (!file_is_lost(file))
		err = ibsa__remote_file_request(file, request);
	if (err == -ENODEV)
		(void)file_lose(file);
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
	int err = file_request(file_of(file), &request);

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
	ibsa__pending_agent_add(file_of(file)->portid->pending, agent);
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

/* While there is no server, the agent is not registered again. */
static int file_unregister(struct umad_file *umad_file, uint32_t agent)
{
	struct remote_file *file = file_of(umad_file);
	struct remote_request request = {
		.type = REMOTE_UNREGISTER,
		.body = &agent,
		.len = sizeof(agent),
	};
	int err = file_request(file, &request);

	if (err == -ENODEV && file_is_lost(file))
		return ibsa__pending_agent_remove(file->portid->pending, agent);
	if (!err)
		(void)!ibsa__pending_agent_remove(file->portid->pending, agent);
	return err;
}

/*
 * The server has ended while the packet was sent, or before. Like the kernel at
 * a port whose link is down, accept the packet, and return a request when its
 * timeout and retries have passed.
 */
static int packet_lose(struct remote_portid *portid, const void *packet)
{
	int err = ibsa__remote_portid_fails(portid) ? -EIO : 0;

	if (!err)
		err = ibsa__pending_add(portid->pending, packet, true);
	if (!err)
		ibsa__remote_portid_timer_set(portid);
	return err;
}

static int file_send(struct umad_file *umad_file, const void *packet,
		     size_t len)
{
	struct remote_file *file = file_of(umad_file);
	struct remote_portid *portid = file->portid;
	int err = ibsa__remote_packet_check(len);

	if (err)
		return err;
	if (file_is_lost(file))
		return packet_lose(portid, packet);
	/*
	 * The reply may be received before this function returns. A request that
	 * is not noted, because there are too many, is sent nevertheless.
	 */
	(void)!ibsa__pending_add(portid->pending, packet, false);
	err = ibsa__remote_file_write(file, packet, len);
	if ((err == -EIO && file_lose(file)) || (!err && file_is_lost(file))) {
		ibsa__pending_remove(portid->pending, packet);
		return packet_lose(portid, packet);
	}
	if (err)
		ibsa__pending_remove(portid->pending, packet);
	return err;
}

/* Receive a request that was lost with its server. Return: 1 or -errno. */
static int lost_receive(struct remote_portid *portid,
			struct umad_buffer *buffer)
{
	int err;

	if (buffer->room < PENDING_RETURNED)
		return -EINVAL;
	err = ibsa__pending_take(portid->pending, buffer->bytes);
	ibsa__remote_portid_timer_set(portid);
	if (err)
		return err;
	buffer->len = PENDING_RETURNED;
	buffer->err = 0;
	return 1;
}

static int packet_receive(struct remote_file *file, struct umad_buffer *buffer)
{
	const ssize_t len = ibsa__remote_file_read(file, buffer->bytes,
						   buffer->room);

	if (len == -EIO && file_lose(file))
		return -EAGAIN;
	if (len < 0)
		return (int)len;
	ibsa__pending_receive(file->portid->pending, buffer->bytes);
	buffer->len = (size_t)len;
	buffer->err = 0;
	return 1;
}

static int file_receive(struct umad_file *umad_file,
			struct umad_buffer *buffers, size_t count)
{
	struct remote_file *file = file_of(umad_file);
	int got = -EAGAIN;

	(void)count;
	if (ibsa__pending_has_lost(file->portid->pending))
		got = lost_receive(file->portid, buffers);
	if (got != -EAGAIN)
		return got;
	if (!file_is_lost(file))
		return packet_receive(file, buffers);
	return ibsa__remote_portid_fails(file->portid) ? -EIO : -EAGAIN;
}

static int file_fd(struct umad_file *file)
{
	return file_of(file)->portid->set_fd;
}

static int file_member_fd(struct umad_file *file)
{
	return file_of(file)->portid->timer_fd;
}

static int file_alloc(struct remote_file **out)
{
	struct remote_file *file = mmap(NULL, sizeof(*file),
					PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (file == MAP_FAILED)
		return -ENOMEM;
	*out = file;
	return 0;
}

static void file_free(struct remote_file *file)
{
	munmap(file, sizeof(*file));
}

static void file_close(struct umad_file *file)
{
	ibsa__remote_file_close(file_of(file));
	file_free(file_of(file));
}

/* Return: the file that was opened again, or NULL. */
static struct umad_file *portid_reopen(struct remote_portid *portid)
{
	struct remote_file *file = NULL;
	int err;

	if (ibsa__remote_portid_try(portid))
		return NULL;
	err = file_alloc(&file);
	if (!err)
		err = ibsa__remote_file_take(portid, file);
	if (err && file)
		file_free(file);
	ibsa__remote_portid_end(portid, !err);
	return err ? NULL : &file->base;
}

static int file_reopen(struct umad_file *umad_file, struct umad_file **out)
{
	struct remote_file *file = file_of(umad_file);
	struct remote_portid *portid = file->portid;
	struct remote_file *current;

	*out = NULL;
	if (!file_is_lost(file) || !ibsa__remote_portid_enter(portid))
		return 0;
	current = atomic_load(&portid->current);
	if (!current || current == file)
		*out = portid_reopen(portid);
	ibsa__remote_portid_leave(portid);
	ibsa__remote_portid_timer_set(portid);
	return 0;
}

static bool file_is_idle(struct umad_file *umad_file)
{
	struct remote_file *file = file_of(umad_file);

	return file_is_lost(file) &&
	       !ibsa__remote_portid_has_result(file->portid);
}

const struct umad_file_ops ibsa__remote_file_ops = {
	.register_agent = file_register,
	.register_agent2 = file_register2,
	.unregister_agent = file_unregister,
	.send = file_send,
	.receive = file_receive,
	.fd = file_fd,
	.member_fd = file_member_fd,
	.reopen = file_reopen,
	.is_idle = file_is_idle,
	.close = file_close,
};

int ibsa__remote_file_new(struct remote_address *address,
			  struct umad_file **out)
{
	struct remote_file *file;
	int err = file_alloc(&file);

	if (err)
		return err;
	err = ibsa__remote_file_open(address, NULL, file);
	if (err)
		file_free(file);
	else
		*out = &file->base;
	return err;
}
