/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client's umad file. ibsad opens one umad file at the port for each client,
 * and sends to it only what the policy permits. The kernel thus separates the
 * clients: it puts the number of the file's agent into each TransactionID, and
 * returns each reply to the agent that has sent the request.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "ibsad/file.h"
#include "ibsad/registration.h"
#include "wire/mad.h"

enum { PACKETS_MAX = 64 }; /* most packets that one call receives */

/*
 * @has_input: @upstream may have packets
 * @in_flight: number of MADs sent to @upstream that wait for a response
 */
struct client_file {
	struct umad_file base;
	struct daemon *daemon;
	struct server_peer *client;
	uint32_t port;
	struct upstream upstream;
	bool has_input;
	struct packet_queue queue;
	struct cache_client cache;
	uint32_t in_flight;
	struct report_reader reader;
};

static struct client_file *file_of(struct umad_file *base)
{
	return (struct client_file *)base;
}

static struct serve_user *user_of(const struct client_file *file)
{
	return ibsa__peer_user(file->client);
}

static void refusal_log(const struct client_file *file, const char *reason,
			const uint8_t *mad)
{
	ibsad_log_refusal(file->daemon, ibsa__user_id(user_of(file)), reason,
			  mad);
}

static bool expects_response(const uint8_t *packet)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	return header.timeout_ms &&
	       !mad_is_response(packet + UMAD_HEADER_BYTES);
}

int ibsad_file_in_flight_begin(struct client_file *file)
{
	if (!ibsa__user_take(user_of(file), SERVE_IN_FLIGHT, 1))
		return -ENOBUFS;
	return 0;
}

void ibsad_file_in_flight_end(struct client_file *file)
{
	ibsa__user_give(user_of(file), SERVE_IN_FLIGHT, 1);
}

static int upstream_send(struct client_file *file, const uint8_t *packet,
			 size_t len)
{
	const bool waits = expects_response(packet);
	int err = waits ? ibsad_file_in_flight_begin(file) : 0;

	if (err)
		return err;
	err = file->upstream.file->ops->send(file->upstream.file, packet, len);
	if (err && waits)
		ibsad_file_in_flight_end(file);
	else
		file->in_flight += waits;
	return err;
}

static int packet_send(struct client_file *file, const uint8_t *packet,
		       size_t len)
{
	struct ibsad_cache *cache = &file->daemon->caches[file->port];
	int err;

	if (file->upstream.fd < 0)
		return -EIO;
	err = ibsad_cache_send(cache, file, packet, len);
	if (err == -ENOENT)
		err = upstream_send(file, packet, len);
	if (err == -ENOBUFS)
		refusal_log(file, "too many requests in flight",
			    packet + UMAD_HEADER_BYTES);
	return err;
}

struct packet_queue *ibsad_file_queue(struct client_file *file)
{
	return &file->queue;
}

struct cache_client *ibsad_file_cache_client(struct client_file *file)
{
	return &file->cache;
}

uid_t ibsad_file_user(const struct client_file *file)
{
	return ibsa__user_id(user_of(file));
}

uint32_t ibsad_file_port(const struct client_file *file)
{
	return file->port;
}

bool ibsad_file_may_register(const struct client_file *file)
{
	const uid_t user = ibsad_file_user(file);
	uint32_t count = ibsad_owned_count(&file->daemon->owned, user) + 1;

	for (uint32_t i = 1; i <= IBSAD_PORTS; i++)
		count += ibsad_reports_count(&file->daemon->reports[i], &user);
	if (!ibsa__user_take(user_of(file), SERVE_REGISTRATIONS, count))
		return false;
	ibsa__user_give(user_of(file), SERVE_REGISTRATIONS, count);
	return true;
}

void ibsad_file_continue(struct client_file *file, const uint8_t *packet,
			 size_t len, enum owned_answer answer)
{
	int err = 0;

	if (answer == OWNED_PASS)
		err = packet_send(file, packet, len);
	else if (answer == OWNED_BUSY)
		(void)ibsad_queue_answer(&file->queue, packet,
					 IBSA_STATUS_BUSY);
	else if (answer == OWNED_DENIED)
		(void)ibsad_queue_answer(&file->queue, packet,
					 IBSA_STATUS_REQ_DENIED);
	if (!err)
		return;
	ibsad_owned_unsent(&file->daemon->owned, file, packet);
	(void)ibsad_queue_return(&file->queue, packet, err);
}

/* A Set of InformInfo, or the answer to a Report. */
static int reports_send(struct client_file *file, const uint8_t *packet,
			size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const char *reason;

	if (mad_is_response(mad))
		return file->reader.has_agent ? 0 : -EPERM;
	if (!file->reader.has_agent)
		reason = "subscription without an agent for Reports";
	else if (len < QUEUE_FIRST_BYTES)
		reason = "a short record";
	else
		reason = ibsad_reader_set(&file->reader, packet);
	if (!reason)
		return 0;
	refusal_log(file, reason, mad);
	(void)ibsad_queue_answer(&file->queue, packet, IBSA_STATUS_REQ_DENIED);
	return 0;
}

/* Send what only the owner of a registration may send. */
static int owned_send(struct client_file *file, const uint8_t *packet,
		      size_t len)
{
	const uint8_t *mad = packet + UMAD_HEADER_BYTES;
	const char *reason = NULL;
	enum owned_answer answer;

	if (!ibsad_kind_of(ibsa_be16(mad + MAD_ATTRIBUTE)))
		return reports_send(file, packet, len);
	answer = ibsad_owned_judge(&file->daemon->owned, file, packet, len,
				   &reason);
	if (reason)
		refusal_log(file, reason, mad);
	ibsad_file_continue(file, packet, len, answer);
	return 0;
}

static int file_send(struct umad_file *base, const void *packet, size_t len)
{
	struct client_file *file = file_of(base);
	const struct policy policy = policy_of(file->daemon, file->port);
	const struct policy_verdict verdict = ibsad_policy_send(&policy, packet,
								len);

	if (verdict.reason)
		refusal_log(file, verdict.reason,
			    (const uint8_t *)packet + UMAD_HEADER_BYTES);
	switch (verdict.answer) {
	case POLICY_PASS:
		return packet_send(file, packet, len);
	case POLICY_OWNED:
		return owned_send(file, packet, len);
	case POLICY_DENIED:
		(void)ibsad_queue_answer(&file->queue, packet,
					 IBSA_STATUS_REQ_DENIED);
		return 0;
	case POLICY_UNANSWERED:
		return -ETIMEDOUT;
	default:
		return -EPERM;
	}
}

/* @len: at least QUEUE_HEADER_BYTES */
static void response_note(struct client_file *file, const uint8_t *packet,
			  size_t len)
{
	struct umad_header header;

	memcpy(&header, packet, sizeof(header));
	if (header.status)
		ibsad_owned_unanswered(&file->daemon->owned, file, packet);
	else if (mad_is_response(packet + UMAD_HEADER_BYTES))
		ibsad_owned_response(&file->daemon->owned, file, packet, len);
	else
		return;
	if (!file->in_flight)
		return;
	file->in_flight--;
	ibsad_file_in_flight_end(file);
}

/* The umad file at the port cannot be used any more, as when the device was
 * removed: disconnect the client. */
static void file_lose(struct client_file *file)
{
	if (file->upstream.fd < 0)
		return;
	ibsad_upstream_lose(&file->upstream);
	ibsa__peer_end(file->client);
}

/*
 * Receive a packet that is larger than QUEUE_FIRST_BYTES, of which only the
 * header was received yet. The packet stays at the head of the file until it is
 * received: if the client has no memory for it, the client is disconnected.
 */
static int large_receive(struct client_file *file,
			 const struct umad_header *header)
{
	struct umad_buffer buffer = { .room = header->length };
	struct packet *packet = NULL;
	int got;

	if (header->length > QUEUE_FIRST_BYTES &&
	    header->length <= REMOTE_PACKET_MAX)
		packet = ibsad_packet_new(&file->queue, header->length);
	if (!packet)
		return -ENOMEM;
	buffer.bytes = packet->bytes;
	got = file->upstream.file->ops->receive(file->upstream.file, &buffer,
						1);
	if (got <= 0 || buffer.len != packet->len) {
		ibsad_packet_free(&file->queue, packet);
		return got < 0 ? got : -EIO;
	}
	response_note(file, packet->bytes, packet->len);
	ibsad_queue_append(&file->queue, packet);
	return 1;
}

/* Return: 1; -EAGAIN there is no packet; or another error. */
static int packet_receive(struct client_file *file)
{
	_Alignas(struct umad_header) uint8_t bytes[QUEUE_FIRST_BYTES];
	struct umad_buffer buffer = { .bytes = bytes, .room = sizeof(bytes) };
	struct umad_header header;
	const int got = file->upstream.file->ops->receive(file->upstream.file,
							  &buffer, 1);

	if (got > 0 && buffer.len >= QUEUE_HEADER_BYTES) {
		response_note(file, bytes, buffer.len);
		(void)ibsad_queue_put(&file->queue, bytes, buffer.len);
	}
	if (got != -ENOSPC)
		return got;
	memcpy(&header, bytes, sizeof(header));
	return large_receive(file, &header);
}

/* Receive what has arrived; epoll reports the file again if more is left. */
static void upstream_receive(struct client_file *file)
{
	int got = 1;

	for (int i = 0; file->upstream.fd >= 0 && got > 0 && i < PACKETS_MAX;
	     i++)
		got = packet_receive(file);
	if (got < 0 && got != -EAGAIN && got != -EINTR) {
		if (got == -ENOMEM)
			refusal_log(file, "a reply needs too much memory",
				    NULL);
		file_lose(file);
	}
}

static void file_settle(struct umad_file *base)
{
	struct client_file *file = file_of(base);

	if (file->has_input)
		upstream_receive(file);
	file->has_input = false;
	ibsad_cache_client_settle(&file->cache);
	ibsad_reader_settle(&file->reader);
}

void ibsad_file_wake(struct client_file *file)
{
	ibsa__peer_ready(file->client);
}

void ibsad_file_readable(void *arg)
{
	struct client_file *file = arg;

	file->has_input = true;
	ibsad_file_wake(file);
}

/*
 * Register an agent. An agent for Reports is registered at the kernel for
 * responses only: ibsad itself receives the port's Reports, and passes them on.
 */
static int agent_register(struct client_file *file,
			  struct umad_agent_request2 *request)
{
	const uint64_t methods = request->method_mask[0];
	int err;

	if (methods && (file->reader.has_agent ||
			ibsad_reports_check(file->reader.reports)))
		return -EINVAL;
	request->method_mask[0] = 0;
	err = file->upstream.file->ops->register_agent2(file->upstream.file,
							request);
	request->method_mask[0] = methods;
	if (!err && methods) {
		file->reader.agent = request->id;
		file->reader.has_agent = true;
	}
	return err;
}

static int file_register(struct umad_file *base,
			 struct umad_agent_request2 *request)
{
	struct client_file *file = file_of(base);
	const struct policy policy = policy_of(file->daemon, file->port);
	const char *reason = NULL;
	const int err = ibsad_policy_register(&policy, request, &reason);

	if (reason)
		refusal_log(file, reason, NULL);
	return err ? err : agent_register(file, request);
}

static int file_unregister(struct umad_file *base, uint32_t id)
{
	struct client_file *file = file_of(base);
	const int err = file->upstream.file->ops->unregister_agent(
		file->upstream.file, id);

	if (!err && file->reader.has_agent && file->reader.agent == id)
		ibsad_reader_reset(&file->reader);
	return err;
}

static uint64_t file_now_ns(struct umad_file *base)
{
	(void)base;
	return clock_now_ns();
}

static void file_take(struct umad_file *base)
{
	ibsad_queue_take(&file_of(base)->queue);
}

static void file_close(struct umad_file *base)
{
	struct client_file *file = file_of(base);

	ibsad_owned_file_end(&file->daemon->owned, file);
	list_take(&file->reader.link);
	ibsad_reader_reset(&file->reader);
	ibsad_cache_client_done(&file->cache);
	ibsad_upstream_close(&file->upstream);
	ibsad_queue_done(&file->queue);
	ibsa__user_give(user_of(file), SERVE_IN_FLIGHT, file->in_flight);
	ibsa__free(file);
}

static const struct umad_file_ops file_ops = {
	.register_agent2 = file_register,
	.unregister_agent = file_unregister,
	.send = file_send,
	.now_ns = file_now_ns,
	.close = file_close,
};

int ibsad_file_open(void *owner, const struct serve_port *port,
		    struct server_peer *client, struct umad_file **out)
{
	struct client_file *file = ibsa__calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->base.ops = &file_ops;
	file->daemon = owner;
	file->client = client;
	file->port = port->port;
	ibsad_queue_init(&file->queue, client, &file->daemon->queued);
	ibsad_cache_client_init(&file->cache);
	err = ibsad_upstream_open(&file->upstream, owner, port->port, file);
	if (err) {
		ibsa__free(file);
		return err;
	}
	ibsad_reader_init(&file->reader, &file->daemon->reports[file->port],
			  file, port->seat);
	*out = &file->base;
	return 0;
}

static void file_refuse(struct umad_file *base, const uint8_t *packet, int err)
{
	(void)ibsad_queue_return(&file_of(base)->queue, packet, err);
}

static uint64_t file_due_ns(struct umad_file *base)
{
	const struct client_file *file = file_of(base);
	const uint64_t reports_ns = ibsad_reader_due_ns(&file->reader);

	return reports_ns < file->cache.due_ns ? reports_ns
					       : file->cache.due_ns;
}

static const uint8_t *file_head(struct umad_file *base, size_t *len)
{
	const struct packet *packet = ibsad_queue_first(&file_of(base)->queue);

	if (!packet)
		return NULL;
	*len = packet->len;
	return packet->bytes;
}

static size_t file_queued(struct umad_file *base)
{
	return file_of(base)->queue.bytes;
}

static bool file_has_agent(struct umad_file *base,
			   const struct umad_agent_request2 *request)
{
	(void)base;
	(void)request;
	return false;
}

/* Only an agent for Reports can conflict, with this client's other agent or
 * with a program that receives the port's Reports. */
static void file_holder(struct umad_file *base, struct ibsa_error *out)
{
	const struct report_reader *reader = &file_of(base)->reader;

	if (reader->has_agent)
		ibsa__fail(out, 0, "this client receives Reports already");
	else
		*out = reader->reports->refusal;
}

static int file_set_issm(struct umad_file *base, bool on)
{
	(void)base;
	(void)on;
	return -EPERM;
}

const struct serve_file_ops ibsad_file_ops = {
	.refuse = file_refuse,
	.settle = file_settle,
	.due_ns = file_due_ns,
	.head = file_head,
	.take = file_take,
	.queued = file_queued,
	.has_agent = file_has_agent,
	.holder = file_holder,
	.set_issm = file_set_issm,
};
