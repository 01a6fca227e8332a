/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "base/error.h"
#include "owner.h"

enum { PORTS = 2, QUEUE_MAX = 16, LARGE_BYTES = 2 << 20 };

struct owner_packet {
	uint8_t bytes[UMAD_HEADER_BYTES + IBSA_MAD_BYTES];
	size_t len;
};

struct owner_file {
	struct umad_file base;
	struct owner *owner;
	struct server_peer *client;
	uint32_t port;
	size_t queued;
	struct owner_packet queue[QUEUE_MAX];
	size_t first;
	size_t count;
	struct owner_packet slow; /* is queued after @turns_left turns */
	unsigned int turns_left;
	uint32_t counted; /* in flight */
};

static const char *const names[] = { "one", "two" };

static struct owner_file *file_of(struct umad_file *base)
{
	return (struct owner_file *)base;
}

static void file_queue(struct owner_file *file, const void *packet, size_t len)
{
	struct owner_packet *last =
		&file->queue[(file->first + file->count++) % QUEUE_MAX];

	assert_true(file->count <= QUEUE_MAX && len <= sizeof(last->bytes));
	memcpy(last->bytes, packet, len);
	last->len = len;
	ibsa__peer_ready(file->client);
}

static int file_register(struct umad_file *file,
			 struct umad_agent_request2 *request)
{
	(void)file;
	if (request->mgmt_class != IBSA_CLASS_SA)
		return -EINVAL;
	request->id = OWNER_AGENT;
	return 0;
}

static int file_unregister(struct umad_file *file, uint32_t id)
{
	(void)file;
	return id == OWNER_AGENT ? 0 : -EINVAL;
}

static void memory_set(struct owner_file *file, size_t queued)
{
	file->owner->memory += queued - file->queued;
	file->queued = queued;
}

static int file_send(struct umad_file *base, const void *packet, size_t len)
{
	const uint8_t *mad = (const uint8_t *)packet + UMAD_HEADER_BYTES;
	struct owner_file *file = file_of(base);
	uint64_t end_ns;

	switch (ibsa_be16(mad + MAD_ATTRIBUTE)) {
	case OWNER_COUNTED:
		if (!ibsa__user_take(ibsa__peer_user(file->client),
				     SERVE_IN_FLIGHT, 1))
			return -ENOBUFS;
		file->counted++;
		break;
	case OWNER_REFUSED:
		return -EIO;
	case OWNER_SLOW:
	case OWNER_ENDLESS:
		assert_true(ibsa__peer_turn(file->client, &end_ns));
		file->turns_left = ibsa_be16(mad + MAD_ATTRIBUTE) == OWNER_SLOW
					   ? OWNER_WORK
					   : UINT32_MAX;
		memcpy(file->slow.bytes, packet, len);
		file->slow.len = len;
		return 0;
	case OWNER_LARGE:
		memory_set(file, LARGE_BYTES);
		break;
	}
	file_queue(file, packet, len);
	return 0;
}

static uint64_t file_now_ns(struct umad_file *file)
{
	(void)file;
	return clock_now_ns();
}

static void file_close(struct umad_file *base)
{
	struct owner_file *file = file_of(base);

	memory_set(file, 0);
	if (file->counted)
		ibsa__user_give(ibsa__peer_user(file->client), SERVE_IN_FLIGHT,
				file->counted);
	file->owner->files_open--;
	free(file);
}

static const struct umad_file_ops umad_ops = {
	.register_agent2 = file_register,
	.unregister_agent = file_unregister,
	.send = file_send,
	.now_ns = file_now_ns,
	.close = file_close,
};

static int file_open(void *arg, const struct serve_port *port,
		     struct server_peer *client, struct umad_file **out)
{
	struct owner_file *file = calloc(1, sizeof(*file));

	assert_non_null(file);
	file->base.ops = &umad_ops;
	file->owner = arg;
	file->owner->files_open++;
	file->client = client;
	file->port = port->port;
	memory_set(file, OWNER_QUEUED);
	*out = &file->base;
	return 0;
}

static void file_refuse(struct umad_file *base, const uint8_t *packet, int err)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	header.status = (uint32_t)-err;
	header.length = sizeof(header);
	file_queue(file_of(base), &header, sizeof(header));
}

static void file_settle(struct umad_file *file)
{
	(void)file;
}

static uint64_t file_due_ns(struct umad_file *file)
{
	(void)file;
	return UINT64_MAX;
}

static const uint8_t *file_head(struct umad_file *base, size_t *len)
{
	const struct owner_file *file = file_of(base);
	const struct owner_packet *head = &file->queue[file->first];

	*len = head->len;
	return file->count ? head->bytes : NULL;
}

static void file_take(struct umad_file *base)
{
	struct owner_file *file = file_of(base);

	file->first = (file->first + 1) % QUEUE_MAX;
	file->count--;
}

static size_t file_queued(struct umad_file *file)
{
	return file_of(file)->queued;
}

static bool file_has_agent(struct umad_file *file,
			   const struct umad_agent_request2 *request)
{
	(void)file;
	return request->mgmt_class != IBSA_CLASS_SA;
}

static int file_set_issm(struct umad_file *base, bool on)
{
	const struct owner_file *file = file_of(base);

	file->owner->is_sm[file->port] = on;
	return 0;
}

static bool file_has_work(struct umad_file *file)
{
	return file_of(file)->turns_left;
}

static void file_work(struct umad_file *base, uint64_t until_ns)
{
	struct owner_file *file = file_of(base);

	assert_true(until_ns && until_ns != UINT64_MAX);
	file->owner->turns++;
	if (!--file->turns_left)
		file_queue(file, file->slow.bytes, file->slow.len);
}

static void file_drop_work(struct umad_file *base)
{
	file_of(base)->turns_left = 0;
	file_of(base)->owner->dropped++;
}

static size_t file_work_memory(struct umad_file *file)
{
	return file_of(file)->turns_left ? sizeof(struct owner_packet) : 0;
}

static const struct serve_file_ops file_ops = {
	.refuse = file_refuse,
	.settle = file_settle,
	.due_ns = file_due_ns,
	.head = file_head,
	.take = file_take,
	.queued = file_queued,
	.has_agent = file_has_agent,
	.set_issm = file_set_issm,
	.has_work = file_has_work,
	.work = file_work,
	.drop_work = file_drop_work,
	.work_memory = file_work_memory,
};

static size_t queues_memory(void *arg)
{
	const struct owner *owner = arg;

	return owner->memory;
}

static const char *device_name(void *owner, uint32_t device)
{
	(void)owner;
	return names[device];
}

static int port_find_number(void *owner, uint32_t device, unsigned int number,
			    struct serve_port *out)
{
	(void)owner;
	if (!number || number > PORTS)
		return -ENODEV;
	*out = (struct serve_port){ .device = device,
				    .port = device * PORTS + number - 1 };
	return 0;
}

static int mad_find(void *owner, const struct serve_port *at, uint32_t number,
		    struct serve_port *out)
{
	return port_find_number(owner, at->device, number, out);
}

static bool has_device(void *owner, const struct serve_port *at,
		       uint32_t device)
{
	(void)owner;
	return at->device == device;
}

static int port_find(void *owner, struct remote_hello *hello,
		     struct serve_port *out, struct ibsa_error *error)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (*hello->node && strcmp(hello->node, names[i]) != 0)
			continue;
		hello->port += !hello->port;
		strcpy(hello->node, names[i]);
		return port_find_number(owner, i, hello->port, out);
	}
	return ibsa__fail(error, -ENODEV, "no device %s", hello->node);
}

static void port_state(void *arg, const struct serve_port *port,
		       struct serve_state *out)
{
	const struct owner *owner = arg;

	out->port = (struct ibsa_port_state){ .lid = owner->lid };
	out->gid_count = 2;
	memset(out->gids, (int)port->port, 2 * sizeof(*out->gids));
	out->pkey_count = 1;
	out->pkeys[0] = OWNER_PKEY;
}

static int text_put(char *out, size_t room, size_t *used, const char *form,
		    uint32_t device, const char *path)
{
	*used = (size_t)snprintf(out, room, form, names[device], path);
	return 0;
}

static int file_read(void *owner, const struct serve_port *at, const char *path,
		     char *out, size_t room, size_t *used)
{
	(void)owner;
	if (!strcmp(path, "none"))
		return -ENOENT;
	return text_put(out, room, used, "%s has %s", at->device, path);
}

static int folder_list(void *owner, const struct serve_port *at,
		       const char *path, char *out, size_t room, size_t *used)
{
	(void)owner;
	return text_put(out, room, used, "%s lists %s", at->device, path);
}

static void issm_name(void *owner, const struct serve_port *port,
		      struct serve_issm_name *out)
{
	(void)owner;
	snprintf(out->text, sizeof(out->text), "port%u", port->port);
}

static bool issm_find(void *owner, const char *text, struct serve_port *out)
{
	(void)owner;
	if (sscanf(text, "port%u", &out->port) != 1)
		return false;
	out->device = out->port / PORTS;
	return true;
}

static int command_run(void *arg, const char *line, char *out, size_t room,
		       struct ibsa_error *error)
{
	struct owner *owner = arg;

	if (sscanf(line, "lid %u", &owner->lid) != 1)
		return ibsa__fail(error, -EINVAL, "cannot do '%s'", line);
	snprintf(out, room, "done");
	ibsa__server_changed(owner->server);
	return 0;
}

static void user_leave(void *arg, uid_t user)
{
	struct owner *owner = arg;

	owner->left++;
	owner->last_left = user;
}

static const struct serve_ops ops = {
	.file = &file_ops,
	.open = file_open,
	.memory = queues_memory,
	.name = device_name,
	.find = port_find,
	.find_mad = mad_find,
	.has_device = has_device,
	.state = port_state,
	.read = file_read,
	.list = folder_list,
	.issm_name = issm_name,
	.issm_find = issm_find,
	.command = command_run,
	.leave = user_leave,
};

int owner_open_server(struct owner *owner, uint32_t memory_mb, bool has_rings,
		      struct ibsa_error *error, struct server **out)
{
	struct server_options options = {
		.ops = &ops,
		.owner = owner,
		.lock = &owner->lock,
		.title = "test server",
		.memory_mb = memory_mb,
		.has_rings = has_rings,
		.connections = owner->connections,
	};

	options.any_user = owner->quotas;
	if (owner->quotas)
		memcpy(options.quotas, owner->quotas, sizeof(options.quotas));
	return ibsa__server_open(owner->path, &options, error, out);
}

static void owner_begin(struct owner *owner, uint32_t memory_mb, bool has_rings)
{
	pthread_mutex_init(&owner->lock, NULL);
	assert_non_null(mkdtemp(owner->folder));
	snprintf(owner->path, sizeof(owner->path), "%s/s", owner->folder);
	assert_int_equal(owner_open_server(owner, memory_mb, has_rings, NULL,
					   &owner->server),
			 0);
}

void owner_start(struct owner *owner, uint32_t memory_mb, bool has_rings)
{
	*owner = (struct owner){ .folder = "/tmp/ibsa-serve-XXXXXX" };
	owner_begin(owner, memory_mb, has_rings);
}

void owner_start_for_users(struct owner *owner,
			   const struct serve_limits *quotas,
			   uint32_t connections)
{
	*owner = (struct owner){ .folder = "/tmp/ibsa-serve-XXXXXX",
				 .quotas = quotas,
				 .connections = connections };
	owner_begin(owner, 0, true);
	assert_int_equal(chmod(owner->folder, 0755), 0);
}

void owner_stop(struct owner *owner)
{
	ibsa__server_close(owner->server);
	assert_int_equal(owner->files_open, 0);
	assert_int_equal(rmdir(owner->folder), 0);
	pthread_mutex_destroy(&owner->lock);
}
