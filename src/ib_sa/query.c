/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A query, from its start in any thread to its callback. */
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "ib_sa/query.h"

enum { FIRST_INTERVAL_MAX_MS = 500, FIRST_INTERVAL_MIN_MS = 100 };

/*
 * The status for a callback. Linux sa_query.c maps the same errors to as few.
 */
int ibsa__sa_status(const struct ibsa_reply *reply)
{
	switch (reply->err) {
	case 0:
		return reply->status ? -EINVAL : 0;
	case -ETIMEDOUT:
		return -ETIMEDOUT;
	case -ECANCELED:
	case -ENODEV:
		return -EINTR;
	default:
		return -EIO;
	}
}

/* From here on, a cancel no longer finds the query. */
static void query_enter_callback(struct sa_query *query)
{
	struct ib_device *device = query->port->device;

	pthread_mutex_lock(&device->sa->lock);
	query->ticket = 0;
	ibsa__sa_withdraw(device, &query->cancel);
	ibsa__sa_callback_enter(device);
	pthread_mutex_unlock(&device->sa->lock);
}

static void query_leave_callback(struct sa_query *query)
{
	struct ib_device *device = query->port->device;
	struct ibsa__sa *sa = device->sa;

	pthread_mutex_lock(&sa->lock);
	ibsa__sa_callback_leave(device);
	query->port->queries--;
	if (query->client)
		query->client->users--;
	ibsa__sa_query_free(sa, query);
	pthread_mutex_unlock(&sa->lock);
}

void ibsa__sa_query_end(struct sa_query *query, int status,
			const struct ibsa_reply *reply)
{
	struct ib_device *device = query->port->device;

	query_enter_callback(query);
	device->reply = reply;
	if (query->callback)
		query->tell(query, status, reply);
	device->reply = NULL;
	query_leave_callback(query);
}

static void query_note_reply(const struct ibsa_reply *reply, void *arg)
{
	ibsa__sa_query_end(arg, ibsa__sa_status(reply), reply);
}

/* With a short total time, the SA still gets time between tries. */
static unsigned int first_interval_ms(unsigned int total_ms)
{
	const unsigned int tenth_ms = total_ms / 10;

	if (tenth_ms > FIRST_INTERVAL_MAX_MS)
		return FIRST_INTERVAL_MAX_MS;
	return tenth_ms > FIRST_INTERVAL_MIN_MS ? tenth_ms
						: FIRST_INTERVAL_MIN_MS;
}

/*
 * Identical path queries may share one request; the kernel always sends one for
 * each.
 */
static bool record_is_path(const struct ibsa_record *record)
{
	return record == &ibsa_path_record || record == &ibsa_opa_path_record;
}

static int query_send(struct sa_query *query)
{
	const struct ibsa_query engine_query = {
		.record = query->record,
		.match = &query->match,
		.mask = query->mask,
		.method = query->method,
		.deadline_ms = query->timeout_ms,
		.queue_ms = query->port->device->options.queue_ms,
		.first_interval_ms = first_interval_ms(query->timeout_ms),
		.no_sharing = !record_is_path(query->record),
	};

	return ibsa_query(query->port->client, &engine_query, query_note_reply,
			  query, &query->engine_id);
}

/* Whether it was cancelled, or its device closed, before it was sent. */
static bool query_is_over(const struct sa_query *query)
{
	struct ib_device *device = query->port->device;
	bool over;

	pthread_mutex_lock(&device->sa->lock);
	over = query->is_canceled || device->closing;
	pthread_mutex_unlock(&device->sa->lock);
	return over;
}

static void query_run_start(struct sa_job *job)
{
	struct sa_query *query = list_object(job, struct sa_query, start);
	struct ibsa_reply reply = { .record = query->record };

	if (query_is_over(query)) {
		ibsa__sa_query_end(query, -EINTR, NULL);
		return;
	}
	reply.err = query_send(query);
	if (reply.err)
		ibsa__sa_query_end(query, ibsa__sa_status(&reply), &reply);
}

/* The start has run and the callback has not, so the engine has the query. */
static void query_run_cancel(struct sa_job *job)
{
	struct sa_query *query = list_object(job, struct sa_query, cancel);

	ibsa_cancel(query->port->client, query->engine_id);
}

void ib_sa_cancel_query(int id, struct ib_sa_query *ticket)
{
	struct ibsa__sa *sa = ibsa__sa_find();
	struct sa_query *query;

	if (!sa)
		return;
	pthread_mutex_lock(&sa->lock);
	query = ticket ? ibsa__sa_query_find(sa, id, (uintptr_t)ticket) : NULL;
	if (query && !query->is_canceled) {
		query->is_canceled = true;
		ibsa__sa_submit(query->port->device, &query->cancel);
	}
	pthread_mutex_unlock(&sa->lock);
	ibsa__sa_put(sa);
}

/* Whether the port's link layer has an SA, or the program has named one. */
static bool port_has_sa(const struct sa_port *port)
{
	struct ibsa__sa *sa = port->device->sa;
	bool has_sa = port->device->options.access.sa;

	pthread_mutex_lock(&sa->lock);
	has_sa = has_sa || port->state.link != IBSA_LINK_ETHERNET;
	pthread_mutex_unlock(&sa->lock);
	return has_sa;
}

int ibsa__sa_query_port(const struct ib_sa_client *client,
			struct ib_device *device, uint8_t port_num,
			struct sa_port **out)
{
	struct sa_port *port;
	int err;

	if (!client->sa || client->sa != device->sa ||
	    !ibsa__sa_is_ours(device->sa))
		return -EINVAL;
	err = ibsa__sa_port_open(device, port_num, &port);
	if (!err && !port_has_sa(port))
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
 * Whether the port can send queries, by its last known state. If nothing is in
 * flight, the return of the SM is not noticed, so the port is read again for
 * the next call. @lock is held.
 */
static int port_check(struct sa_port *port)
{
	struct ib_device *device = port->device;

	if (device->closing)
		return -ENODEV;
	if (port->queries >= PORT_QUERIES_MAX)
		return -ENOBUFS;
	if (device->options.access.sa || ibsa_port_has_sm(&port->state))
		return 0;
	ibsa__sa_submit(device, &port->refresh);
	return -EAGAIN;
}

static void query_fill(struct sa_query *query, struct sa_port *port,
		       const struct sa_request *request)
{
	const unsigned long ms = request->timeout_ms;

	query->start.run = query_run_start;
	query->cancel.run = query_run_cancel;
	query->client = request->client;
	query->port = port;
	query->was_opa = request->was_opa;
	query->method = request->method;
	query->record = request->record;
	query->mask = be64toh(request->comp_mask) & request->record->mask;
	query->timeout_ms = ms > UINT_MAX ? UINT_MAX : (unsigned int)ms;
	query->timeout_ms += !ms;
	query->tell = request->tell;
	query->callback = request->callback;
	query->context = request->context;
	memcpy(&query->match, request->match, request->record->host_size);
}

/* @lock is held. */
static int query_submit(struct sa_port *port, const struct sa_request *request,
			struct ib_sa_query **out_query)
{
	struct ib_device *device = port->device;
	struct sa_query *query;
	int err = port_check(port);

	if (err)
		return err;
	query = ibsa__sa_query_new(device->sa);
	if (!query)
		return -ENOMEM;
	query_fill(query, port, request);
	port->queries++;
	request->client->users++;
	if (out_query)
		*out_query = (struct ib_sa_query *)query->ticket;
	ibsa__sa_submit(device, &query->start);
	return (int)query->id;
}

int ibsa__sa_query_start(struct sa_port *port, const struct sa_request *request,
			 struct ib_sa_query **out_query)
{
	int id;

	pthread_mutex_lock(&port->device->sa->lock);
	id = query_submit(port, request, out_query);
	pthread_mutex_unlock(&port->device->sa->lock);
	if (id < 0 && out_query)
		*out_query = NULL;
	return id;
}

/* Whether the reply to the method has one record. */
static bool method_is_single(uint8_t method)
{
	return method == IBSA_METHOD_GET || method == IBSA_METHOD_SET ||
	       method == IBSA_METHOD_DELETE;
}

int ibsa__sa_query_submit(struct ib_device *device, uint8_t port_num,
			  const struct sa_request *request,
			  struct ib_sa_query **out_query)
{
	struct sa_port *port;
	int err = ibsa__sa_query_port(request->client, device, port_num, &port);

	err = ibsa__sa_argument_error(
		err, request->is_table || method_is_single(request->method));
	if (!err)
		return ibsa__sa_query_start(port, request, out_query);
	if (out_query)
		*out_query = NULL;
	return err;
}

void ibsa__sa_answer_decode(const struct sa_query *query,
			    const struct ibsa_reply *reply, void *out)
{
	memset(out, 0, query->record->host_size);
	if (reply && reply->count && !reply->err && !reply->status)
		query->record->decode(ibsa_reply_at(reply, 0), out);
}
