/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transport of a port at a fabric server: opening, requests to the server,
 * and closing.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "remote/link.h"
#include "remote/transport.h"

/* Bytes of the inbox: room for many packets with one MAD of 256 bytes. */
enum { INBOX_BYTES = 65536 };

/*
 * Maximum time in ms that a function waits for an answer of the server whose
 * result it does not need.
 */
enum { ANSWER_MS = 250 };

/*
 * Return: the number of client re-register events to report, which never
 * decreases. @now is the count of the present server; each server counts from
 * 0.
 */
static uint32_t reregisters_count(struct remote_link *link, uint32_t now)
{
	link->reregisters += now - link->counted;
	link->counted = now;
	return link->reregisters;
}

/*
 * Send the request for the agent that is to be registered, unless another
 * request is in flight. @renewing is held.
 */
static int wanted_request(struct remote_link *link)
{
	if (!link->has_wanted || link->control.asked != CONTROL_IDLE)
		return 0;
	link->has_wanted = false;
	return ibsa__control_request(&link->control, link->connection.fd,
				     REMOTE_REGISTER, &link->wanted,
				     sizeof(link->wanted));
}

/*
 * Read the frames that have arrived on the connection. @renewing is held.
 * Return: 0; -ENODEV the server has gone, and the caller must call
 * ibsa__remote_link_shut().
 */
static int link_read(struct remote_link *link)
{
	int err = ibsa__control_read(&link->control, link->connection.fd);

	return err ? err : wanted_request(link);
}

static int port_get(struct umad_file *file, struct ibsa_port_state *out)
{
	struct remote_link *link = link_of(file);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = link_read(link);
	if (!err) {
		ibsa__control_port(&link->control, out);
		out->reregisters = reregisters_count(link, out->reregisters);
	}
	pthread_mutex_unlock(&link->renewing);
	return err ? -EPIPE : 0;
}

/*
 * If waiting for an answer has also read an event, the connection is no longer
 * readable: make the transport's fd readable instead.
 */
static void event_nudge(struct remote_link *link)
{
	bool has_event;

	pthread_mutex_lock(&link->renewing);
	has_event = link->control.has_event;
	pthread_mutex_unlock(&link->renewing);
	if (has_event)
		ibsa__remote_link_nudge(link);
}

/*
 * Return: whether an event of the port has arrived since the last call; -EPIPE
 * the server has gone.
 */
static int event_take(struct umad_file *file)
{
	struct remote_link *link = link_of(file);
	bool has_event;
	int err;

	if (link->data.fd < 0)
		return 0;
	pthread_mutex_lock(&link->renewing);
	err = link->is_quiet ? 0 : link_read(link);
	has_event = link->control.has_event;
	link->control.has_event = false;
	pthread_mutex_unlock(&link->renewing);
	link->is_quiet = false;
	if (has_event)
		ibsa__remote_link_nudge_end(link);
	return err ? -EPIPE : has_event;
}

/*
 * Read the port's latest GID and P_Key tables from the server. @renewing is
 * held. Return: 0; -ENODEV not connected.
 */
static int tables_refresh(struct remote_link *link)
{
	const bool had_event = link->control.has_event;

	if (link->data.fd < 0)
		return -ENODEV;
	/*
	 * The error is ignored: the dispatcher will detect a closed
	 * connection, too.
	 */
	(void)!link_read(link);
	if (link->control.has_event && !had_event)
		ibsa__remote_link_nudge(link);
	return 0;
}

static int gid_get(struct umad_file *file, uint32_t index,
		   struct ibsa_gid_entry *out)
{
	struct remote_link *link = link_of(file);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = tables_refresh(link);
	if (!err)
		err = ibsa__control_gid(&link->control, index, out);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

static int pkey_get(struct umad_file *file, uint32_t index, uint16_t *out)
{
	struct remote_link *link = link_of(file);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = tables_refresh(link);
	if (!err)
		err = ibsa__control_pkey(&link->control, index, out);
	pthread_mutex_unlock(&link->renewing);
	return err;
}

static int link_register(struct umad_file *file,
			 struct umad_agent_request *request)
{
	struct remote_link *link = link_of(file);
	int err;

	pthread_mutex_lock(&link->renewing);
	link->wanted = ibsa__umad_request_renew(request);
	link->has_wanted = true;
	if (link->wanted.method_mask[0])
		link->has_methods = true;
	err = wanted_request(link);
	pthread_mutex_unlock(&link->renewing);
	return err ? err : -EINPROGRESS;
}

/*
 * Read what the server has sent. *@out_is_idle: no request is in flight any
 * more.
 */
static int answer_poll(struct remote_link *link, bool *out_is_idle)
{
	int err;

	pthread_mutex_lock(&link->renewing);
	err = link_read(link);
	*out_is_idle = link->control.asked == CONTROL_IDLE;
	pthread_mutex_unlock(&link->renewing);
	return err;
}

/*
 * Wait for the server's answer to the request in flight. Return: 0;
 * -EINPROGRESS it did not come within @wait_ms; -ENODEV the server has gone.
 */
static int answer_await(struct remote_link *link, int wait_ms)
{
	struct pollfd end = { .fd = link->connection.fd, .events = POLLIN };
	const uint64_t start_ns = clock_now_ns();
	bool is_idle = false;
	int err = 0;
	int left;

	do {
		left = ibsa__clock_left_ms(wait_ms, start_ns);
		err = answer_poll(link, &is_idle);
	} while (!err && !is_idle && left && poll(&end, 1, left));
	return err || is_idle ? err : -EINPROGRESS;
}

static int answer_take(struct remote_link *link, uint32_t *out)
{
	int err;

	pthread_mutex_lock(&link->renewing);
	err = link->control.answer_err;
	link->refusal = link->control.refusal;
	*out = link->control.answer;
	pthread_mutex_unlock(&link->renewing);
	ibsa__remote_link_limit_set(link);
	return err;
}

/*
 * Get the server's answer to the request in flight. @wait_ms below 0: the
 * caller needs the answer, so wait for it until the timeout for connecting.
 */
static int link_answer(struct umad_file *file, int wait_ms, uint32_t *out)
{
	struct remote_link *link = link_of(file);
	int err;

	if (wait_ms < 0)
		wait_ms = ibsa__remote_link_left_ms(link);
	err = answer_await(link, wait_ms);
	if (!err)
		err = answer_take(link, out);
	else if (err != -EINPROGRESS)
		err = -EPIPE;
	event_nudge(link);
	return err;
}

/*
 * Unregister an agent. No other request is in flight: only one agent at a time
 * is registered or unregistered, and the server has answered the request that
 * registered this one. Until the server has answered, other clients cannot
 * register the agent's methods. If the server has gone, the receive operation
 * reports it.
 */
static int link_unregister(struct umad_file *file, uint32_t agent)
{
	struct remote_link *link = link_of(file);
	int err;

	pthread_mutex_lock(&link->renewing);
	err = link_read(link);
	if (!err)
		err = ibsa__control_request(&link->control, link->connection.fd,
					    REMOTE_UNREGISTER, &agent,
					    sizeof(agent));
	pthread_mutex_unlock(&link->renewing);
	if (!err)
		(void)!answer_await(link, ANSWER_MS);
	event_nudge(link);
	return 0;
}

static bool link_holder(struct umad_file *file, struct ibsa_error *out)
{
	struct remote_link *link = link_of(file);
	bool is_known;

	pthread_mutex_lock(&link->renewing);
	is_known = link->refusal.text[0];
	if (is_known)
		*out = link->refusal;
	pthread_mutex_unlock(&link->renewing);
	return is_known;
}

static void link_free(struct remote_link *link)
{
	ibsa__remote_link_wait_done(link);
	pthread_mutex_destroy(&link->renewing);
	ibsa__free(link->inbox.bytes);
	ibsa__control_free(&link->control);
	ibsa__free(link);
}

static void file_detach(struct remote_link *link)
{
	/* Only one request may be in flight. */
	if (!answer_await(link, ANSWER_MS) &&
	    !ibsa__control_request(&link->control, link->connection.fd,
				   REMOTE_DETACH, NULL, 0))
		(void)!answer_await(link, ANSWER_MS);
}

static void link_close(struct umad_file *file)
{
	struct remote_link *link = link_of(file);

	/*
	 * Detach the file and wait for the server's answer, so that other
	 * clients can register the agents' methods when this function returns.
	 */
	if (link->data.fd >= 0 && link->has_methods)
		file_detach(link);
	ibsa__remote_link_down(link);
	link_free(link);
}

/*
 * Close the file's descriptors in a forked child. The locks are not taken:
 * threads that held them during the fork do not exist in the child.
 */
static void link_inherited(struct umad_file *file)
{
	const struct remote_link *link = link_of(file);
	const int fds[] = {
		link->data.fd,
		link->data.bell_fd,
		link->connection.fd,
		link->join_fd,
		link->control.fds.fd[REMOTE_FD_DATA],
		link->control.fds.fd[REMOTE_FD_MEMORY],
		link->control.fds.fd[REMOTE_FD_BELL],
		link->epoll_fd,
		link->timer_fd,
		link->wake_fd,
	};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static const struct umad_file_ops link_ops = {
	.register_agent = link_register,
	.unregister_agent = link_unregister,
	.send = ibsa__remote_link_send,
	.receive = ibsa__remote_link_receive,
	.fd = ibsa__remote_link_fd,
	.close = link_close,
	.open = ibsa__remote_link_open,
	.shut = ibsa__remote_link_shut,
	.wait = ibsa__remote_link_wait,
	.wake = ibsa__remote_link_wake,
	.port = port_get,
	.changed = event_take,
	.answer = link_answer,
	.gid = gid_get,
	.pkey = pkey_get,
	.holder = link_holder,
	.inherited = link_inherited,
	.has_large_mads = true,
};

static struct remote_link *link_new(size_t reply_bytes)
{
	struct remote_link *link = ibsa__calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->base.ops = &link_ops;
	ibsa__control_init(&link->control);
	remote_data_init(&link->data);
	link->connection.fd = -1;
	link->join_fd = -1;
	link->epoll_fd = -1;
	link->timer_fd = -1;
	link->wake_fd = -1;
	pthread_mutex_init(&link->renewing, NULL);
	if (reply_bytes > REMOTE_PACKET_MAX - UMAD_HEADER_BYTES)
		reply_bytes = REMOTE_PACKET_MAX - UMAD_HEADER_BYTES;
	link->inbox.room = INBOX_BYTES;
	link->inbox.most = reply_bytes + UMAD_HEADER_BYTES;
	link->inbox.bytes = ibsa__calloc(1, link->inbox.room);
	if (link->inbox.bytes &&
	    !ibsa__umad_transport_init(&link->transport, &link->base,
				       reply_bytes))
		return link;
	link_free(link);
	return NULL;
}

static int link_open(struct remote_link *link, struct ibsa_error *error)
{
	int err = ibsa__remote_link_wait_init(link);

	if (err)
		return ibsa__fail(error, err,
				  "cannot create a descriptor to wait with: %s",
				  ibsa__errno_text(-err).bytes);
	err = ibsa__remote_connect_begin(&link->connection, &link->address,
					 true, error);
	if (!err)
		err = ibsa__remote_link_up_begin(link);
	if (!err)
		err = ibsa__remote_link_up_wait(link, error);
	if (err)
		return err;
	err = ibsa__umad_up(&link->transport, -1);
	if (err == -ETIMEDOUT)
		return ibsa__remote_late_fail(&link->connection,
					      link->address.path, err, error);
	if (err == -EPIPE)
		return ibsa__fail(error, -ENODEV,
				  "the fabric server at %s has closed the "
				  "connection; check that it runs",
				  link->address.path);
	/*
	 * The server has refused the library's own request: -EINVAL would be
	 * the code of a caller's mistake, so another code is returned.
	 */
	if (err)
		return ibsa__fail(error, err == -EINVAL ? -EPROTO : err,
				  "the fabric server at %s refuses to register "
				  "an agent for SA replies: %s",
				  link->address.path,
				  ibsa__errno_text(-err).bytes);
	return 0;
}

int ibsa__remote_open(struct remote_address *address, size_t reply_bytes,
		      struct ibsa_error *error, struct ibsa_transport **out)
{
	struct remote_link *link = link_new(reply_bytes);
	struct ibsa_transport *transport;
	int err;

	if (!link)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	link->address = *address;
	transport = &link->transport.base;
	err = link_open(link, error);
	if (err) {
		transport->ops->close(transport);
		return err;
	}
	*address = link->address;
	*out = transport;
	return 0;
}
