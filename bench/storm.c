/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: bench-storm POLICY CLIENTS QUERIES SERVICE_US PLACES [busy|rate]
 *                    [STOP_MS] [seed=N]
 *
 * Simulates clients which all start at once and query one SA. The SA serves one
 * request at a time, in SERVICE_US microseconds; PLACES requests may wait, and
 * it drops further ones, or answers them with BUSY. With "rate", as the SM
 * profile "busy" of the fabric server, it serves PLACES requests in each
 * millisecond, and answers further ones with BUSY. With STOP_MS, it serves
 * nothing until that time, but accepts requests. A MAD takes DELAY_NS, and up to
 * JITTER_NS more by random numbers from the seed: without them, the requests of
 * all clients would arrive in the same order in each round trip, and find the
 * same places. The policy "ibsa" runs the engine of the library; the other ones
 * are models:
 *
 * kernel   all queries at once, 11 tries in the deadline (ib_sa of Linux)
 * single   one query at a time and one try, which waits for a second (saquery)
 *
 * Prints one line: the time in ms until the last query ended, this time by the
 * time that the SA needs at least, the requests that the SA received for each
 * query answered, the queries without an answer, and Jain's fairness index of
 * the clients' answers at the time when half of the queries are answered.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "engine/engine.h"
#include "wire/mad.h"

enum {
	SM_LID = 1,
	DELAY_NS = 20 * 1000, /* from a client to the SA, or back */
	JITTER_NS = 100 * 1000,
	DEADLINE_MS = 30 * 1000,
	KERNEL_TRIES = 11,
	SINGLE_MS = 1000,
};

enum policy { POLICY_IBSA, POLICY_KERNEL, POLICY_SINGLE };

enum event_kind { ARRIVES_AT_SA, IS_ANSWERED, IS_RECEIVED, CLIENT_DUE };

/*
 * @turn:  CLIENT_DUE: of the client, which counts those that it has set
 * @query: number of the query of a model
 */
struct event {
	uint64_t at_ns;
	enum event_kind kind;
	struct client *client;
	uint32_t turn;
	uint32_t query;
	uint64_t tid;
	uint16_t status;
};

struct client {
	struct ibsa_transport transport; /* first: of the policy ibsa */
	struct ibsa__engine *engine;
	const struct event *inbox; /* what recv returns next */
	uint64_t due_ns;
	uint32_t turn;
	uint32_t answered;
	bool *is_ended; /* of the models' queries */
	uint32_t next;	/* query of the policy single */
};

static struct {
	enum policy policy;
	uint32_t client_count, query_count, room;
	uint64_t service_ns, stop_ns;
	bool has_busy, has_rate;
	uint64_t now_ns;
	struct random random;
	/* The SA. */
	uint64_t free_ns;
	uint32_t waiting;
	uint64_t rate_ms;
	uint32_t rate_count; /* received in the millisecond @rate_ms */
	uint64_t received;
	/* The queries of all clients. */
	uint64_t answered, ended, last_ns;
	double fairness;
	struct client *clients;
	/* Events, a heap. */
	struct event *events;
	size_t event_count, event_room;
} sim;

static void event_add(struct event event)
{
	size_t at = sim.event_count++;

	if (sim.event_count > sim.event_room) {
		sim.event_room = 2 * sim.event_count;
		sim.events = realloc(sim.events,
				     sim.event_room * sizeof(*sim.events));
		if (!sim.events)
			abort();
	}
	for (; at && event.at_ns < sim.events[(at - 1) / 2].at_ns;
	     at = (at - 1) / 2)
		sim.events[at] = sim.events[(at - 1) / 2];
	sim.events[at] = event;
}

static struct event event_take(void)
{
	const struct event first = sim.events[0];
	const struct event last = sim.events[--sim.event_count];
	size_t at = 0;
	size_t child;

	for (; (child = 2 * at + 1) < sim.event_count; at = child) {
		if (child + 1 < sim.event_count &&
		    sim.events[child + 1].at_ns < sim.events[child].at_ns)
			child++;
		if (last.at_ns <= sim.events[child].at_ns)
			break;
		sim.events[at] = sim.events[child];
	}
	sim.events[at] = last;
	return first;
}

/* Jain's index of the answers that the clients have so far. */
static double fairness(void)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < sim.client_count; i++) {
		const double x = sim.clients[i].answered;

		sum += x;
		squares += x * x;
	}
	return sum * sum / (sim.client_count * squares);
}

/* Return: the time that a MAD takes from a client to the SA, or back. */
static uint64_t delay_ns(void)
{
	return DELAY_NS + random_below(&sim.random, JITTER_NS);
}

static void query_ended(struct client *client, bool is_answered)
{
	sim.ended++;
	sim.last_ns = sim.now_ns;
	if (!is_answered)
		return;
	client->answered++;
	if (++sim.answered == (uint64_t)sim.client_count * sim.query_count / 2)
		sim.fairness = fairness();
}

static void sa_answer(const struct event *request, uint16_t status,
		      uint64_t at_ns)
{
	struct event reply = *request;

	reply.kind = IS_RECEIVED;
	reply.at_ns = at_ns + delay_ns();
	reply.status = status;
	event_add(reply);
}

static bool sa_is_full(void)
{
	const uint64_t ms = sim.now_ns / NS_PER_MS;

	if (!sim.has_rate)
		return sim.waiting == sim.room;
	if (sim.rate_ms != ms)
		sim.rate_count = 0;
	sim.rate_ms = ms;
	return ++sim.rate_count > sim.room;
}

static void sa_receive(struct event request)
{
	sim.received++;
	if (sa_is_full()) {
		if (sim.has_busy)
			sa_answer(&request, IBSA_STATUS_BUSY, sim.now_ns);
		return;
	}
	sim.waiting++;
	if (sim.free_ns < sim.now_ns)
		sim.free_ns = sim.now_ns;
	sim.free_ns += sim.service_ns;
	request.kind = IS_ANSWERED;
	request.at_ns = sim.free_ns;
	event_add(request);
}

static void request_send(struct client *client, uint32_t query, uint64_t tid)
{
	event_add((struct event){ .at_ns = sim.now_ns + delay_ns(),
				  .kind = ARRIVES_AT_SA,
				  .client = client,
				  .query = query,
				  .tid = tid });
}

/* The transport of the policy ibsa. */

static uint64_t transport_now_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return sim.now_ns;
}

static int transport_send(struct ibsa_transport *transport,
			  const struct ibsa_address *to, const uint8_t *mad,
			  size_t len, unsigned int timeout_ms)
{
	(void)to;
	(void)len;
	(void)timeout_ms;
	request_send((struct client *)transport, 0, ibsa_be64(mad + MAD_TID));
	return 0;
}

static int transport_recv(struct ibsa_transport *transport,
			  struct ibsa_message *out)
{
	static uint8_t mad[IBSA_MAD_BYTES] = {
		[MAD_BASE_VERSION] = 1,
		[MAD_CLASS] = IBSA_CLASS_SA,
		[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION,
		[MAD_METHOD] = IBSA_METHOD_GET_RESP,
	};
	struct client *client = (struct client *)transport;

	if (!client->inbox)
		return 0;
	ibsa_put_be64(mad + MAD_TID, client->inbox->tid);
	ibsa_put_be16(mad + MAD_STATUS, client->inbox->status);
	ibsa_put_be16(mad + MAD_ATTRIBUTE, ibsa_path_record.attribute);
	client->inbox = NULL;
	*out = (struct ibsa_message){
		.from = { .lid = SM_LID, .qpn = IBSA_QPN_GSI },
		.mad = mad,
		.len = sizeof(mad),
	};
	return 1;
}

static int transport_port(struct ibsa_transport *transport,
			  struct ibsa_port_state *out, size_t size)
{
	(void)transport;
	(void)size;
	*out = (struct ibsa_port_state){ .lid = SM_LID + 1,
					 .sm_lid = SM_LID,
					 .port_state = IBSA_PORT_ACTIVE };
	return 0;
}

static const struct ibsa_transport_ops transport_ops = {
	.size = sizeof(struct ibsa_transport_ops),
	.now_ns = transport_now_ns,
	.send = transport_send,
	.recv = transport_recv,
	.port = transport_port,
};

static void reply_note(const struct ibsa_reply *reply, void *arg)
{
	query_ended(arg, !reply->err && !(reply->status & IBSA_STATUS_BUSY));
}

/* Dispatch, and set the time of the next dispatch. */
static void engine_run(struct client *client)
{
	int timeout_ms;

	if (ibsa__engine_dispatch(client->engine))
		abort();
	timeout_ms = ibsa__engine_timeout_ms(client->engine);
	if (timeout_ms < 0)
		return;
	client->due_ns = sim.now_ns + (uint64_t)timeout_ms * NS_PER_MS;
	event_add((struct event){ .at_ns = client->due_ns,
				  .kind = CLIENT_DUE,
				  .client = client,
				  .turn = ++client->turn });
}

static void engine_start(struct client *client)
{
	const struct ibsa__engine_options options = {
		.seed = random_below(&sim.random, UINT32_MAX),
		.reply_bytes = IBSA_MAD_BYTES,
		.window = IBSA_DEFAULT_WINDOW,
		.window_min = IBSA_DEFAULT_WINDOW_MIN,
		.queue = IBSA_DEFAULT_QUEUE,
		.deadline_ms = DEADLINE_MS,
		.max_interval_ms = IBSA_DEFAULT_MAX_INTERVAL_MS,
		.jitter_percent = IBSA_DEFAULT_JITTER_PERCENT,
	};

	client->transport.ops = &transport_ops;
	if (ibsa__engine_new(&options, &client->transport, &client->engine))
		abort();
	for (uint32_t i = 0; i < sim.query_count; i++) {
		const struct ibsa_path want = { .dlid = (uint16_t)(i + 1) };
		const struct ibsa_query query = {
			.record = &ibsa_path_record,
			.match = &want,
			.mask = IBSA_PATH_CM(dlid),
		};

		if (ibsa__engine_query(client->engine, &query, reply_note,
				       client, NULL))
			abort();
	}
	engine_run(client);
}

/* The models. */

static uint64_t model_interval_ns(void)
{
	return sim.policy == POLICY_SINGLE
		       ? SINGLE_MS * NS_PER_MS
		       : DEADLINE_MS * NS_PER_MS / KERNEL_TRIES;
}

/* Send try @turn of a query, counted from 0, and set the time of the next. */
static void model_try(struct client *client, uint32_t query, uint32_t turn)
{
	request_send(client, query, 0);
	event_add((struct event){ .at_ns = sim.now_ns + model_interval_ns(),
				  .kind = CLIENT_DUE,
				  .client = client,
				  .turn = turn + 1,
				  .query = query });
}

static void model_start(struct client *client)
{
	client->is_ended = calloc(sim.query_count, sizeof(bool));
	if (!client->is_ended)
		abort();
	client->next = sim.policy == POLICY_SINGLE ? 1 : sim.query_count;
	for (uint32_t i = 0; i < client->next; i++)
		model_try(client, i, 0);
}

static void model_end(struct client *client, uint32_t query, bool is_answered)
{
	if (client->is_ended[query])
		return;
	client->is_ended[query] = true;
	query_ended(client, is_answered);
	if (client->next < sim.query_count)
		model_try(client, client->next++, 0);
}

static void model_due(const struct event *event)
{
	const uint32_t tries = sim.policy == POLICY_SINGLE ? 1 : KERNEL_TRIES;

	if (event->client->is_ended[event->query])
		return;
	if (event->turn < tries)
		model_try(event->client, event->query, event->turn);
	else
		model_end(event->client, event->query, false);
}

static void event_handle(const struct event *event)
{
	struct client *client = event->client;

	switch (event->kind) {
	case ARRIVES_AT_SA:
		sa_receive(*event);
		break;
	case IS_ANSWERED:
		sim.waiting--;
		sa_answer(event, 0, sim.now_ns);
		break;
	case IS_RECEIVED:
		if (client->engine) {
			client->inbox = event;
			engine_run(client);
		} else if (!event->status) {
			model_end(client, event->query, true);
		}
		break;
	case CLIENT_DUE:
		if (!client->engine)
			model_due(event);
		else if (event->turn == client->turn)
			engine_run(client);
		break;
	}
}

static void sim_run(void)
{
	const uint64_t all = (uint64_t)sim.client_count * sim.query_count;
	const uint64_t each_ns = sim.has_rate ? NS_PER_MS / sim.room
					      : sim.service_ns;

	sim.free_ns = sim.stop_ns;
	for (uint32_t i = 0; i < sim.client_count; i++) {
		if (sim.policy == POLICY_IBSA)
			engine_start(&sim.clients[i]);
		else
			model_start(&sim.clients[i]);
	}
	while (sim.ended < all) {
		const struct event event = event_take();

		sim.now_ns = event.at_ns;
		event_handle(&event);
	}
	printf("%.0f ms %.2f times %.2f requests %" PRIu64
	       " unanswered %.3f fairness\n",
	       (double)sim.last_ns / NS_PER_MS,
	       (double)sim.last_ns / (double)(all * each_ns + sim.stop_ns),
	       sim.answered ? (double)sim.received / (double)sim.answered : 0,
	       all - sim.answered, sim.fairness);
}

static enum policy policy_of(const char *name)
{
	static const char *const names[] = { "ibsa", "kernel", "single" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(name, names[i]))
			return (enum policy)i;
	fprintf(stderr, "bench-storm: unknown policy '%s'\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc < 6) {
		fprintf(stderr, "usage: bench-storm POLICY CLIENTS QUERIES "
				"SERVICE_US PLACES [busy|rate] [STOP_MS] "
				"[seed=N]\n");
		return 2;
	}
	sim.policy = policy_of(argv[1]);
	sim.client_count = (uint32_t)strtoul(argv[2], NULL, 10);
	sim.query_count = (uint32_t)strtoul(argv[3], NULL, 10);
	sim.service_ns = (uint64_t)(1000 * strtod(argv[4], NULL));
	sim.room = (uint32_t)strtoul(argv[5], NULL, 10);
	for (int i = 6; i < argc; i++) {
		if (!strcmp(argv[i], "busy"))
			sim.has_busy = true;
		else if (!strcmp(argv[i], "rate"))
			sim.has_busy = sim.has_rate = true;
		else if (!strncmp(argv[i], "seed=", 5))
			sim.random.state = strtoull(argv[i] + 5, NULL, 10);
		else
			sim.stop_ns = strtoul(argv[i], NULL, 10) * NS_PER_MS;
	}
	sim.clients = calloc(sim.client_count, sizeof(*sim.clients));
	if (!sim.clients)
		abort();
	sim_run();
	return EXIT_SUCCESS;
}
