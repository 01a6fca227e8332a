/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the topology of a subnet from the SA: one query for each table, all
 * submitted at once. This file uses only public functions of the library.
 */
#include <errno.h>

#include <ibsa/ibsa.h>
#include <ibsa/topology.h>

#include "base/alloc.h"
#include "base/sized.h"

enum { TABLES = 4 };

/*
 * The query for one table of the topology; its id is 0 when the query has
 * ended.
 */
struct table {
	struct read *read;
	const struct ibsa_record *record;
	uint64_t id;
};

struct read {
	struct ibsa_client *client;
	struct ibsa_topology *topology;
	struct table tables[TABLES];
	unsigned int pending;
	/*
	 * The program's callback has been called, or must not be called any
	 * more.
	 */
	bool has_ended;
	ibsa_topology_fn done;
	void *arg;
};

static void read_free(struct read *read)
{
	ibsa_topology_free(read->topology);
	ibsa__free(read);
}

/*
 * Cancel the remaining queries of @read. The callbacks of these queries still
 * come; the last callback frees @read.
 */
static void read_cancel(struct read *read)
{
	read->has_ended = true;
	for (int i = 0; i < TABLES; i++) {
		if (read->tables[i].id)
			ibsa_cancel(read->client, read->tables[i].id);
	}
}

/*
 * Call the program's callback with the result. The topology, if there is one,
 * belongs to the program from now on.
 */
static void read_end(struct read *read, int err, const struct ibsa_reply *reply)
{
	struct ibsa_topology *topology = err ? NULL : read->topology;

	if (!err)
		read->topology = NULL;
	read_cancel(read);
	read->done(err, topology, reply, read->arg);
}

static int records_add(struct ibsa_topology *topology,
		       const struct ibsa_reply *reply)
{
	union {
		struct ibsa_node node;
		struct ibsa_port_info port;
		struct ibsa_link link;
		struct ibsa_switch_info info;
	} host;
	int err = 0;

	for (size_t i = 0; i < reply->count && !err; i++) {
		err = ibsa_reply_decode(reply, i, &host,
					reply->record->host_size);
		if (!err)
			err = ibsa_topology_add(topology, reply->record, &host,
						reply->record->host_size);
	}
	return err;
}

/*
 * Store the records of a reply in the topology. If the SA refuses the table of
 * SwitchInfoRecords, that is ignored, because without it only a detail is
 * missing.
 */
static int reply_take(struct ibsa_topology *topology,
		      const struct ibsa_reply *reply)
{
	if (reply->err)
		return reply->err;
	if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_OK)
		return records_add(topology, reply);
	if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_NONE ||
	    reply->record == &ibsa_switch_info_record)
		return 0;
	return -EREMOTEIO;
}

static void table_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct table *table = arg;
	struct read *read = table->read;
	int err;

	table->id = 0;
	read->pending--;
	if (!read->has_ended) {
		err = reply_take(read->topology, reply);
		if (!err && !read->pending)
			err = ibsa_topology_finish(read->topology);
		if (err || !read->pending)
			read_end(read, err, reply);
	}
	if (!read->pending)
		read_free(read);
}

static int table_query(struct table *table,
		       const struct ibsa_topology_options *options)
{
	/*
	 * Without this option, an SA reports the speed QDR in addition to an
	 * extended speed.
	 */
	const struct ibsa_port_info true_speeds = { .options = 0x80 };
	const bool is_port = table->record == &ibsa_port_info_record;
	const struct ibsa_query query = {
		.record = table->record,
		.match = is_port ? &true_speeds : NULL,
		.mask = is_port ? IBSA_PORT_INFO_CM(options) : 0,
		.method = IBSA_METHOD_GET_TABLE,
		.deadline_ms = options->timeout_ms,
	};

	return ibsa_query_start(table->read->client, &query, table_note_reply,
				table, &table->id);
}

static int read_start(struct read *read,
		      const struct ibsa_topology_options *options)
{
	static const struct ibsa_record *const records[TABLES] = {
		&ibsa_node_record,
		&ibsa_port_info_record,
		&ibsa_link_record,
		&ibsa_switch_info_record,
	};
	int err = ibsa_topology_new(&read->topology);

	for (int i = 0; i < TABLES && !err; i++) {
		read->tables[i] = (struct table){ .read = read,
						  .record = records[i] };
		err = table_query(&read->tables[i], options);
		read->pending += !err;
	}
	return err;
}

static int read_new(struct ibsa_client *client,
		    const struct ibsa_topology_options *options,
		    ibsa_topology_fn done, void *arg, struct read **out)
{
	struct read *read = ibsa__calloc(1, sizeof(*read));
	int err;

	if (!read)
		return -ENOMEM;
	read->client = client;
	read->done = done;
	read->arg = arg;
	err = read_start(read, options);
	if (!err)
		*out = read;
	else if (read->pending)
		read_cancel(read);
	else
		read_free(read);
	return err;
}

int ibsa_topology_read_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size, ibsa_topology_fn done, void *arg)
{
	struct ibsa_topology_options known;
	struct read *read;

	if (!done)
		return -EINVAL;
	if (ibsa__sized_read(&known, sizeof(known), options, size))
		return -E2BIG;
	return read_new(client, &known, done, arg, &read);
}

struct topology_waiter {
	struct ibsa_topology *topology;
	bool ended;
	int err;
};

static void wait_note_end(int err, struct ibsa_topology *topology,
			  const struct ibsa_reply *reply, void *arg)
{
	struct topology_waiter *waiter = arg;

	(void)reply;
	waiter->ended = true;
	waiter->topology = topology;
	waiter->err = err;
}

int ibsa_topology_wait_sized(struct ibsa_client *client,
			     const struct ibsa_topology_options *options,
			     size_t size, struct ibsa_topology **out)
{
	struct topology_waiter waiter = { .ended = false };
	struct ibsa_topology_options known;
	struct read *read;
	int err = ibsa__sized_read(&known, sizeof(known), options, size);

	if (err)
		return err;
	err = ibsa_dispatch(client);
	if (err == -EBUSY)
		return err;
	err = read_new(client, &known, wait_note_end, &waiter, &read);
	if (err)
		return err;
	while (!err && !waiter.ended) {
		err = ibsa_wait(client, -1);
		if (err == -EINTR)
			err = 0;
	}
	if (!waiter.ended) {
		read_cancel(read);
		ibsa_dispatch(client);
		return err;
	}
	if (!waiter.err)
		*out = waiter.topology;
	return waiter.err;
}
