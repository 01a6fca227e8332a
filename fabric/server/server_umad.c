/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The umad files of a fabric server's clients: files at ports of the fabric,
 * and the tables that the SA builds for them in the clients' turns.
 */
#include <errno.h>

#include <ibsa/records.h>

#include "base/alloc.h"
#include "fabric/sa/job.h"
#include "fabric/server/server.h"

struct server_file {
	struct umad_file base;
	struct ibsa_fabric_server *server;
	struct fabric_part *part;   /* of the file's port */
	struct server_peer *client; /* NULL: the file only sets IsSM */
	struct port_file *file;
	struct sa_client tables;
};

static struct server_file *server_file_of(struct umad_file *base)
{
	return (struct server_file *)base;
}

static struct port_file *port_file_of(struct umad_file *base)
{
	return server_file_of(base)->file;
}

static int file_register(struct umad_file *base,
			 struct umad_agent_request2 *request)
{
	struct agent_request agent = agent_request_of(request);
	const int err = ibsa__port_file_register(port_file_of(base), &agent);

	if (err)
		return err;
	request->id = agent.id;
	request->flags = agent.flags;
	return 0;
}

static int file_unregister(struct umad_file *base, uint32_t id)
{
	return ibsa__port_file_unregister(port_file_of(base), id);
}

/* Whether the packet is an SMP, which may change ports. */
static bool packet_is_smp(const uint8_t *packet)
{
	enum {
		CLASS_AT = UMAD_HEADER_BYTES + MAD_CLASS,
		LID = 0x01,
		DIRECTED = 0x81
	};

	return packet[CLASS_AT] == LID || packet[CLASS_AT] == DIRECTED;
}

/*
 * Whether the packet is a request to the SA that changes alias GUIDs, and so
 * the GIDs of a port.
 */
static bool packet_changes_guids(const uint8_t *packet)
{
	const uint16_t attribute = ibsa_guid_info_record.attribute;
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;

	return mad[MAD_CLASS] == IBSA_CLASS_SA &&
	       (mad[MAD_METHOD] == IBSA_METHOD_SET ||
		mad[MAD_METHOD] == IBSA_METHOD_DELETE) &&
	       ibsa_be16(mad + MAD_ATTRIBUTE) == attribute;
}

static int file_send(struct umad_file *base, const void *packet, size_t len)
{
	struct server *server = server_file_of(base)->server->server;
	const bool changes_guids = packet_changes_guids(packet);
	const int err = ibsa__port_file_write(port_file_of(base), packet, len);

	if (changes_guids)
		ibsa__server_changed(server);
	if (changes_guids || packet_is_smp(packet))
		ibsa__server_changes_soon(server);
	return err;
}

static uint64_t file_now_ns(struct umad_file *base)
{
	return server_file_of(base)->part->files.now_ns;
}

static struct sa *sa_of(const struct server_file *file)
{
	return &file->part->sa;
}

static void file_close(struct umad_file *base)
{
	struct server_file *file = server_file_of(base);

	ibsa__sa_jobs_end(sa_of(file), &file->tables);
	ibsa__port_file_close(file->file);
	ibsa__free(file);
}

static const struct umad_file_ops file_ops = {
	.register_agent2 = file_register,
	.unregister_agent = file_unregister,
	.send = file_send,
	.now_ns = file_now_ns,
	.close = file_close,
};

/* Called by the fabric's umad file when a packet can be read from it. */
static void file_become_ready(void *arg)
{
	const struct server_file *file = arg;

	ibsa__peer_ready(file->client);
}

int ibsa__fabric_serve_open(void *owner, const struct serve_port *port,
			    struct server_peer *client, struct umad_file **out)
{
	struct ibsa_fabric_server *server = owner;
	struct server_file *file = ibsa__calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->base.ops = &file_ops;
	file->server = server;
	file->client = client;
	sa_client_init(&file->tables);
	file->part = fabric_part_of(server->fabric, port->port);
	err = ibsa__port_file_open(&file->part->files, port->port,
				   client ? file_become_ready : NULL, file,
				   &file->file);
	if (err) {
		ibsa__free(file);
		return err;
	}
	*out = &file->base;
	return 0;
}

static void file_refuse(struct umad_file *base, const uint8_t *packet, int err)
{
	ibsa__port_file_refuse(port_file_of(base), packet, err);
}

static void file_settle(struct umad_file *base)
{
	ibsa__port_file_settle(port_file_of(base));
}

static uint64_t file_due_ns(struct umad_file *base)
{
	return ibsa__port_file_due(port_file_of(base));
}

static const uint8_t *file_head(struct umad_file *base, size_t *len)
{
	return ibsa__port_file_head(port_file_of(base), len);
}

static void file_take(struct umad_file *base)
{
	ibsa__port_file_take(port_file_of(base));
}

static size_t file_queued(struct umad_file *base)
{
	return ibsa__port_file_memory(port_file_of(base));
}

static bool file_has_agent(struct umad_file *base,
			   const struct umad_agent_request2 *request)
{
	const struct agent_request agent = agent_request_of(request);

	return ibsa__port_file_has(port_file_of(base), &agent);
}

static int file_set_issm(struct umad_file *base, bool on)
{
	return ibsa__port_file_issm(port_file_of(base), on);
}

static bool file_has_tables(struct umad_file *base)
{
	return sa_client_has_jobs(&server_file_of(base)->tables);
}

static void file_build_tables(struct umad_file *base, uint64_t until_ns)
{
	struct server_file *file = server_file_of(base);

	file->tables.until_ns = until_ns;
	ibsa__sa_jobs_continue(sa_of(file), &file->tables);
}

static void file_drop_tables(struct umad_file *base)
{
	struct server_file *file = server_file_of(base);

	ibsa__sa_jobs_end(sa_of(file), &file->tables);
}

static size_t file_tables_memory(struct umad_file *base)
{
	return ibsa__sa_jobs_memory(&server_file_of(base)->tables);
}

const struct serve_file_ops ibsa__fabric_serve_file_ops = {
	.refuse = file_refuse,
	.settle = file_settle,
	.due_ns = file_due_ns,
	.head = file_head,
	.take = file_take,
	.queued = file_queued,
	.has_agent = file_has_agent,
	.set_issm = file_set_issm,
	.has_work = file_has_tables,
	.work = file_build_tables,
	.drop_work = file_drop_tables,
	.work_memory = file_tables_memory,
};

/*
 * Find the client that has sent a request for a table. Return: false: the
 * client has gone, or the server is about to disconnect it. The fabric is
 * locked.
 */
static bool client_find(void *arg, const uint8_t *mad, struct sa_client **out)
{
	const struct fabric_part *part = arg;
	struct server_file *file;
	void *sender;

	if (!ibsa__port_file_sender(&part->files, mad, file_become_ready,
				    &sender))
		return false;
	file = sender;
	if (file && !ibsa__peer_turn(file->client, &file->tables.until_ns))
		return false;
	*out = file ? &file->tables : NULL;
	return true;
}

void ibsa__fabric_serve_slices(struct ibsa_fabric *fabric)
{
	pthread_mutex_lock(&fabric->lock);
	for (uint32_t i = 0; i < fabric->part_count; i++) {
		struct fabric_part *part = fabric_part(fabric, i);

		part->sa.slicer = (struct sa_slicer){ client_find, part };
	}
	pthread_mutex_unlock(&fabric->lock);
}
