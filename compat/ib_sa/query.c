/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A query, from its start in any thread to its callback. */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "ib_sa/query.h"

enum {
	/*
	 * The maximum number of times that the kernel sends a request. Source:
	 * Linux drivers/infiniband/core/sa_query.c, 10 retries since 5.15.
	 */
	TRIES = 11,
	/*
	 * With the default jitter, an interval may be an eighth shorter than
	 * this: 100 ms.
	 */
	INTERVAL_MIN_MS = 115,
};

/*
 * Return: the status that the callback of a query gets. As in Linux sa_query.c,
 * each error becomes one of a few values.
 */
int ibsa__sa_status(const struct ibsa_reply *reply)
{
	switch (reply->err) {
	case 0:
		return reply->status ? -EINVAL : 0;
	case -ETIMEDOUT:
	case -EAGAIN:
	case -ENETDOWN:
		return -ETIMEDOUT;
	case -ECANCELED:
	case -ENODEV:
		return -EINTR;
	default:
		return -EIO;
	}
}

/*
 * Call the program's callback for a query that has ended, and free the query.
 */
static void query_end(struct sa_query *query, int status,
		      const struct ibsa_reply *reply)
{
	struct ib_device *device = query->task.port->device;

	ibsa__sa_task_enter(&query->task, true);
	device->reply = reply;
	if (query->callback)
		query->tell(query, status, reply);
	device->reply = NULL;
	ibsa__sa_task_leave(&query->task, true);
}

static void query_note_reply(const struct ibsa_reply *reply, void *arg)
{
	query_end(arg, ibsa__sa_status(reply), reply);
}

/*
 * Return: the interval between the tries of a query that may take @total_ms, in
 * which TRIES of them fit, but not below INTERVAL_MIN_MS, so that the SA has
 * time to reply.
 */
static unsigned int interval_ms(unsigned int total_ms)
{
	const unsigned int ms = total_ms / TRIES;

	return ms > INTERVAL_MIN_MS ? ms : INTERVAL_MIN_MS;
}

/*
 * Whether a query is for path records. Identical path queries may share one
 * request, although the kernel sends one request for each query.
 */
static bool record_is_path(const struct ibsa_record *record)
{
	return record == &ibsa_path_record || record == &ibsa_opa_path_record;
}

/*
 * The query was not started because of @err. The timeout of the query has not
 * begun, so the status is not -ETIMEDOUT, even if @err is that the port has
 * lost its SM.
 */
static void query_note_failure(struct sa_query *query, int err)
{
	const struct ibsa_reply reply = { .record = query->query.record,
					  .err = err };
	const int status = ibsa__sa_status(&reply);

	query_end(query, status == -ETIMEDOUT ? -EIO : status, &reply);
}

static void query_run_start(struct sa_task *task)
{
	struct sa_query *query = list_object(task, struct sa_query, task);
	int err;

	if (ibsa__sa_task_is_over(task)) {
		query_end(query, -EINTR, NULL);
		return;
	}
	err = ibsa_query_start(task->port->client, &query->query,
			       query_note_reply, query, &query->engine_id);
	if (err)
		query_note_failure(query, err);
}

/*
 * Dispatcher: cancel a query whose start has run and whose callback was not
 * called, so that the engine has the query.
 */
static void query_run_cancel(struct sa_job *job)
{
	struct sa_query *query = list_object(job, struct sa_query, task.end);

	ibsa_cancel(query->task.port->client, query->engine_id);
}

/* @lock is held. */
static void query_free(struct sa_task *task)
{
	task->port->queries--;
	pool_give(&task->port->device->sa->queries,
		  list_object(task, struct sa_query, task));
}

void ib_sa_cancel_query(int id, struct ib_sa_query *ticket)
{
	if (id >= 0)
		ibsa__sa_task_end(id, (uintptr_t)ticket);
}

int ibsa__sa_query_port(const struct ib_sa_client *client,
			struct ib_device *device, uint8_t port_num,
			struct sa_port **out)
{
	struct sa_port *port;
	int err = 0;

	if (!client->sa || client->sa != device->sa ||
	    !ibsa__sa_is_ours(device->sa))
		return -EINVAL;
	port = ibsa__sa_port_find(device, port_num);
	if (!port)
		err = ibsa__sa_port_open(device, port_num, &port);
	if (!err && !port->may_have_sa)
		err = -ENODEV;
	if (!err)
		*out = port;
	return err;
}

int ibsa__sa_argument_error(int port_err, bool is_good)
{
	return is_good || port_err == -ENODEV ? port_err : -EINVAL;
}

/*
 * Whether queries can be sent by the port, according to its last known state.
 * Without a request in flight, the library does not detect that an SM has come
 * back, so a port without an SM is read again for the next call. @lock is
 * held.
 */
static int port_check(struct sa_port *port)
{
	struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	if (port->queries >= PORT_QUERIES_MAX)
		return -ENOBUFS;
	if (port->is_sa_known)
		return 0;
	ibsa__sa_submit(device, &port->refresh);
	return -EAGAIN;
}

static void query_fill(struct sa_query *query, const struct sa_request *request)
{
	const struct ibsa_record *record = request->record;
	const unsigned long ms = request->timeout_ms;
	const unsigned int total_ms = ms > UINT_MAX ? UINT_MAX
						    : (unsigned int)ms + !ms;

	query->engine_id = 0;
	query->query = (struct ibsa_query){
		.record = record,
		.match = &query->match,
		.mask = be64toh(request->comp_mask) & record->mask,
		.method = request->method,
		.deadline_ms = total_ms,
		.first_interval_ms = interval_ms(total_ms),
		.max_interval_ms = interval_ms(total_ms),
		.no_sharing = !record_is_path(record),
	};
	query->tell = request->tell;
	query->callback = request->callback;
	query->context = request->context;
	query->was_opa = request->was_opa;
	memcpy(&query->match, request->match, record->host_size);
}

/* @lock is held. */
static int query_submit(struct sa_port *port, struct ib_sa_client *client,
			const struct sa_request *request,
			struct ib_sa_query **out_query)
{
	static const struct sa_task_ops ops = {
		.start = query_run_start,
		.end = query_run_cancel,
		.free = query_free,
	};
	struct pool *pool = &port->device->sa->queries;
	struct sa_query *query;
	int err = port_check(port);

	if (err)
		return err;
	query = pool_take(pool);
	if (!query)
		return -ENOMEM;
	query_fill(query, request);
	err = ibsa__sa_task_submit(&query->task, &ops, port, client);
	if (err) {
		pool_give(pool, query);
		return err;
	}
	port->queries++;
	if (out_query)
		*out_query = (struct ib_sa_query *)query->task.ticket;
	return (int)query->task.id;
}

int ibsa__sa_query_start(struct sa_port *port, struct ib_sa_client *client,
			 const struct sa_request *request,
			 struct ib_sa_query **out_query)
{
	int id;

	pthread_mutex_lock(&port->device->sa->lock);
	id = query_submit(port, client, request, out_query);
	pthread_mutex_unlock(&port->device->sa->lock);
	if (id < 0 && out_query)
		*out_query = NULL;
	return id;
}

/* Whether the reply to a request with this method contains a single record. */
static bool method_is_single(uint8_t method)
{
	return method == IBSA_METHOD_GET || method == IBSA_METHOD_SET ||
	       method == IBSA_METHOD_DELETE;
}

bool ibsa__sa_mask_is_defined(const struct ibsa_record *record,
			      ib_sa_comp_mask mask)
{
	ib_sa_comp_mask reserved = 0;

	if (record == &ibsa_guid_info_record)
		reserved = IB_SA_GUIDINFO_REC_RES1 | IB_SA_GUIDINFO_REC_RES2;
	return !(be64toh(mask & ~reserved) & ~record->mask);
}

/* Whether the arguments that do not depend on the port are valid. */
static bool request_is_good(const struct sa_request *request)
{
	return (request->is_table || method_is_single(request->method)) &&
	       ibsa__sa_mask_is_defined(request->record, request->comp_mask);
}

int ibsa__sa_query_submit(struct ib_sa_client *client, struct ib_device *device,
			  uint8_t port_num, const struct sa_request *request,
			  struct ib_sa_query **out_query)
{
	struct sa_port *port;
	int err = ibsa__sa_query_port(client, device, port_num, &port);

	err = ibsa__sa_argument_error(err, request_is_good(request));
	if (!err)
		return ibsa__sa_query_start(port, client, request, out_query);
	if (out_query)
		*out_query = NULL;
	return err;
}

const uint8_t *ibsa__sa_answer_record(const struct ibsa_reply *reply)
{
	if (!reply || reply->err || !reply->stride)
		return NULL;
	return reply->count || reply->status ? reply->records : NULL;
}

void ibsa__sa_answer_decode(const struct sa_query *query,
			    const struct ibsa_reply *reply, void *out)
{
	const struct ibsa_record *record = query->query.record;
	const uint8_t *wire = ibsa__sa_answer_record(reply);

	if (wire)
		record->decode(wire, out);
	else
		memset(out, 0, record->host_size);
}
