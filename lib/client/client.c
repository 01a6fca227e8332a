/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions on a client: each client has a transport and an engine. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/clock.h"
#include "base/secret.h"
#include "base/sized.h"
#include "client/client.h"
#include "client/fabric_library.h"
#include "client/open.h"
#include "client/reach.h"
#include "device/parse.h"
#include "engine/engine.h"
#include "engine/known_query.h"
#include "event/event.h"
#include "service/services.h"
#include "umad/transport.h"

enum {
	WINDOW_MAX = 1 << 20,
	SL_MAX = 15,
	SL_MAX_OPA = 31,
	/*
	 * Maximum time for the deletion of services and subscriptions when a
	 * client closes.
	 */
	CLOSE_MS = 2000,
};

struct ibsa_client {
	/* Link in the list of clients that a forked child has closed. */
	struct list inherited;
	struct ibsa__engine *engine;
	struct ibsa_transport *transport;
	struct ibsa_fabric *fabric;
	struct ibsa__services services;
	struct ibsa__reaches reaches;
	struct ibsa__events events;
};

static unsigned int value_or_default(unsigned int value, unsigned int fallback)
{
	return value ? value : fallback;
}

/*
 * Return: the seed of the client's transaction ids and jitter. For a fabric
 * server's fabric it may come from the environment variable IBSA_SEED, because
 * transaction ids need not be secret in a simulated fabric.
 */
static uint64_t client_seed(const struct ibsa_options *options,
			    const struct ibsa__environment *environment)
{
	const char *told = NULL;
	uint64_t seed;

	if (options->seed)
		return options->seed;
	if (ibsa__server_named(options, environment))
		told = environment->seed;
	if (told && !ibsa__parse_number(told, UINT64_MAX, &seed))
		return seed;
	return ibsa__secret();
}

static int engine_open(const struct ibsa_options *options,
		       const struct ibsa__environment *environment,
		       struct ibsa_client *client)
{
	const struct ibsa__engine_options engine_options = {
		.access = options->access,
		.seed = client_seed(options, environment),
		.reply_bytes = options->reply_bytes,
		.window = value_or_default(options->window,
					   IBSA_DEFAULT_WINDOW),
		.window_min = value_or_default(options->window_min,
					       IBSA_DEFAULT_WINDOW_MIN),
		.queue = value_or_default(options->queue, IBSA_DEFAULT_QUEUE),
		.deadline_ms = value_or_default(options->deadline_ms,
						IBSA_DEFAULT_DEADLINE_MS),
		.first_interval_ms = options->first_interval_ms,
		.max_interval_ms = value_or_default(
			options->max_interval_ms, IBSA_DEFAULT_MAX_INTERVAL_MS),
		.jitter_percent = options->jitter_percent
					  ? options->jitter_percent
					  : IBSA_DEFAULT_JITTER_PERCENT,
		.sharing = !options->no_sharing,
		.port_is_reported = ibsa__server_named(options, environment),
	};

	if (options->no_sharing)
		ibsa__umad_fresh_set(client->transport);
	return ibsa__engine_new(&engine_options, client->transport,
				&client->engine);
}

/*
 * Close the transport if ibsa_open() has opened it. A transport that the
 * program passed to ibsa_open() stays open.
 */
static void client_undo(struct ibsa_client *client,
			const struct ibsa_options *options)
{
	if (client->transport && client->transport != options->transport)
		client->transport->ops->close(client->transport);
	ibsa__fabric_release(client->fabric);
	ibsa__free(client);
}

int ibsa__options_check(const struct ibsa_options *options,
			struct ibsa_error *error)
{
	if (options->window > WINDOW_MAX)
		return ibsa__fail(
			error, -EINVAL,
			"the window of the options is %u requests; the "
			"limit is %d",
			options->window, WINDOW_MAX);
	if (options->access.grh < IBSA_GRH_AUTO ||
	    options->access.grh > IBSA_GRH_NEVER)
		return ibsa__fail(error, -EINVAL,
				  "grh is %d; use IBSA_GRH_AUTO, "
				  "IBSA_GRH_ALWAYS or IBSA_GRH_NEVER",
				  options->access.grh);
	if (options->access.sa && options->access.sa->lmc > IBSA_LMC_MAX)
		return ibsa__fail(
			error, -EINVAL,
			"the given address of the SA has the LMC %u; the limit "
			"is %d",
			options->access.sa->lmc, IBSA_LMC_MAX);
	if (options->jitter_percent > 100)
		return ibsa__fail(error, -EINVAL,
				  "the jitter is %d percent; the limit is 100",
				  options->jitter_percent);
	if (options->on)
		return ibsa__fabric_ops_check(fabric_ops_of(options->on),
					      error);
	return 0;
}

/*
 * Check the SA address in the options; which SLs are valid depends on the
 * port's link layer.
 */
static int sa_address_check(struct ibsa_transport *transport,
			    const struct ibsa_address *sa,
			    struct ibsa_error *error)
{
	struct ibsa_port_state port = { .lid = 0 };

	if (!sa || sa->sl <= SL_MAX ||
	    transport->ops->port(transport, &port, sizeof(port)) ||
	    (port.link == IBSA_LINK_OPA && sa->sl <= SL_MAX_OPA))
		return 0;
	return ibsa__fail(error, -EINVAL,
			  "the given address of the SA has the SL %u; the "
			  "limit is %d",
			  sa->sl,
			  port.link == IBSA_LINK_OPA ? SL_MAX_OPA : SL_MAX);
}

int ibsa__client_open(const struct ibsa_options *options,
		      const struct ibsa__environment *environment,
		      struct ibsa_error *error, struct ibsa_client **out)
{
	struct ibsa_options own = *options;
	struct ibsa_client *client;
	int err = ibsa__options_check(&own, error);

	if (err)
		return err;
	if (!own.reply_bytes)
		own.reply_bytes = (size_t)IBSA_DEFAULT_REPLY_MIB << 20;
	client = ibsa__calloc(1, sizeof(*client));
	if (!client)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	err = ibsa__transport_open(&own, environment, error, &client->transport,
				   &client->fabric);
	if (!err)
		err = sa_address_check(client->transport, own.access.sa, error);
	if (!err) {
		err = engine_open(&own, environment, client);
		if (err)
			ibsa__fail(error, err, "out of memory");
	}
	if (err) {
		client_undo(client, &own);
		return err;
	}
	ibsa__services_init(&client->services, client->engine);
	ibsa__reaches_init(&client->reaches, client->engine, client->transport);
	ibsa__events_init(&client->events, client->engine);
	*out = client;
	return 0;
}

int ibsa_open_sized(const struct ibsa_options *options, size_t size,
		    struct ibsa_error *error, struct ibsa_client **out)
{
	struct ibsa__environment environment;
	struct ibsa_options known;
	const int err = ibsa__options_read(&known, sizeof(known), options, size,
					   error);

	if (err)
		return err;
	environment = ibsa__environment_read(known.no_environment);
	return ibsa__client_open(&known, &environment, error, out);
}

void ibsa_environment_ignore(void)
{
	ibsa__environment_ignore();
}

/*
 * Return: milliseconds until @end_ns on the client's clock, rounded up; 0 if
 * @end_ns has passed.
 */
static int deadline_left_ms(const struct ibsa_client *client, uint64_t end_ns)
{
	uint64_t now_ns = ibsa__engine_now_ns(client->engine);

	if (now_ns >= end_ns)
		return 0;
	return (int)((end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

static bool client_is_registered(const struct ibsa_client *client)
{
	return !list_is_empty(&client->services.registrations.list) ||
	       !ibsa__events_is_empty(&client->events);
}

/*
 * Delete the client's services and subscriptions at the SA, and wait up to
 * CLOSE_MS for the replies.
 */
static void client_release(struct ibsa_client *client)
{
	uint64_t end_ns = ibsa__engine_now_ns(client->engine) +
			  CLOSE_MS * NS_PER_MS;
	int ms = CLOSE_MS, err = 0;

	ibsa__registrations_close(&client->services.registrations);
	ibsa__events_close(&client->events);
	while (ms && (!err || err == -EINTR) && client_is_registered(client)) {
		err = ibsa_wait(client, ms);
		ms = deadline_left_ms(client, end_ns);
	}
	ibsa__registrations_end(&client->services.registrations);
	ibsa__events_end(&client->events);
}

/*
 * Close a client in a forked child, without sending anything: the
 * registrations at the SA and the queries in flight belong to the parent
 * process.
 */
static void client_close_inherited(struct ibsa_client *client)
{
	struct ibsa_transport *transport = client->transport;

	if (IBSA_TRANSPORT_HAS(transport, inherited))
		transport->ops->inherited(transport);
	ibsa__inherit(&client->inherited);
}

int ibsa__client_inherited_fail(struct ibsa_error *error)
{
	return ibsa__fail(error, -EINVAL,
			  "the client belongs to the parent process; open "
			  "another one in this process");
}

int ibsa_close(struct ibsa_client *client)
{
	if (!client)
		return 0;
	if (!ibsa__engine_is_ours(client->engine)) {
		client_close_inherited(client);
		return 0;
	}
	if (ibsa__engine_is_busy(client->engine))
		return -EBUSY;
	client_release(client);
	ibsa__reaches_end(&client->reaches);
	ibsa__engine_free(client->engine);
	client->transport->ops->close(client->transport);
	ibsa__fabric_release(client->fabric);
	ibsa__free(client);
	return 0;
}

/* Whether the cache of ibsad has answers about this record: see ibsad/cache.c. */
static bool ibsad_has_cache_of(const struct ibsa_record *record)
{
	return record == &ibsa_path_record || record == &ibsa_node_record ||
	       record == &ibsa_port_info_record || record == &ibsa_link_record;
}

/*
 * Start a query. From the first query with no_sharing on about a record that
 * ibsad caches, ibsad must let the SA itself reply to this client.
 */
static inline int query_start(struct ibsa_client *client,
			      const struct ibsa_query *query,
			      ibsa_reply_fn done, void *arg, uint64_t *out_id)
{
	if (query->no_sharing && ibsad_has_cache_of(query->record))
		ibsa__umad_fresh_set(client->transport);
	return ibsa__engine_query(client->engine, query, done, arg, out_id);
}

/*
 * Start a query of a program that was compiled with other headers. Not inline,
 * to keep the stack of ibsa_query_start_sized() small.
 */
__attribute__((noinline)) static int
query_start_read(struct ibsa_client *client, const struct ibsa_query *query,
		 size_t size, ibsa_reply_fn done, void *arg, uint64_t *out_id)
{
	struct known_query known;
	const int err = ibsa__query_read(&known, query, size);

	return err ? err : query_start(client, &known.query, done, arg, out_id);
}

int ibsa_query_start_sized(struct ibsa_client *client,
			   const struct ibsa_query *query, size_t size,
			   ibsa_reply_fn done, void *arg, uint64_t *out_id)
{
	if (!query_is_known(query, size))
		return query_start_read(client, query, size, done, arg, out_id);
	return query_start(client, query, done, arg, out_id);
}

int ibsa_cancel(struct ibsa_client *client, uint64_t id)
{
	return ibsa__engine_cancel(client->engine, id);
}

int ibsa_fd(const struct ibsa_client *client)
{
	if (!ibsa__engine_is_ours(client->engine))
		return -1;
	return client->transport->ops->fd(client->transport);
}

int ibsa_timeout_ms(const struct ibsa_client *client)
{
	return ibsa__engine_timeout_ms(client->engine);
}

int ibsa_dispatch(struct ibsa_client *client)
{
	return ibsa__engine_dispatch(client->engine);
}

int ibsa_wait(struct ibsa_client *client, int timeout_ms)
{
	struct ibsa_transport *transport = client->transport;
	int err = ibsa__engine_wait_check(client->engine);

	if (err)
		return err;
	timeout_ms = sooner_ms(timeout_ms, ibsa_timeout_ms(client));
	err = transport->ops->wait(transport, timeout_ms);
	return err ? err : ibsa_dispatch(client);
}

void ibsa_wake(struct ibsa_client *client)
{
	if (ibsa__engine_is_ours(client->engine))
		client->transport->ops->wake(client->transport);
}

int ibsa_port_get_sized(struct ibsa_client *client, bool refresh,
			struct ibsa_port_state *out, size_t size)
{
	struct ibsa_port_state state;
	const int err = ibsa__engine_port(client->engine, refresh, &state);

	if (!err)
		ibsa__sized_write(out, size, &state, sizeof(state));
	return err;
}

int ibsa_port_watch_start(struct ibsa_client *client, unsigned int interval_ms,
			  ibsa_port_fn report, void *arg,
			  struct ibsa_port_watch **out)
{
	return ibsa__engine_watch(client->engine, interval_ms, report, arg,
				  out);
}

int ibsa_service_register_sized(struct ibsa_client *client,
				const struct ibsa_service_options *options,
				size_t size, size_t service_size,
				ibsa_registration_fn report, void *arg,
				struct ibsa_registration **out)
{
	struct ibsa_service_options known;
	struct ibsa_service service;

	if (!ibsa__engine_is_ours(client->engine))
		return -EINVAL;
	if (ibsa__sized_read(&known, sizeof(known), options, size) ||
	    ibsa__sized_read(&service, sizeof(service), known.service,
			     service_size))
		return -E2BIG;
	if (known.service)
		known.service = &service;
	return ibsa__services_add(&client->services, &known, report, arg, out);
}

int ibsa_event_watch_start_sized(struct ibsa_client *client,
				 const struct ibsa_event_options *options,
				 size_t size, ibsa_event_fn report, void *arg,
				 struct ibsa_error *error,
				 struct ibsa_event_watch **out)
{
	struct ibsa_event_options known;
	int err;

	if (!ibsa__engine_is_ours(client->engine))
		return ibsa__client_inherited_fail(error);
	err = ibsa__options_read(&known, sizeof(known), options, size, error);
	if (err)
		return err;
	return ibsa__events_add(&client->events, &known, report, arg, error,
				out);
}

int ibsa_gid_get(struct ibsa_client *client, uint32_t index,
		 struct ibsa_gid_entry *out)
{
	struct ibsa_transport *transport = client->transport;

	if (!ibsa__engine_is_ours(client->engine))
		return -EINVAL;
	if (!IBSA_TRANSPORT_HAS(transport, gid))
		return -EOPNOTSUPP;
	return transport->ops->gid(transport, index, out);
}

int ibsa_pkey_get(struct ibsa_client *client, uint32_t index, uint16_t *out)
{
	struct ibsa_transport *transport = client->transport;

	if (!ibsa__engine_is_ours(client->engine))
		return -EINVAL;
	if (!IBSA_TRANSPORT_HAS(transport, pkey))
		return -EOPNOTSUPP;
	return transport->ops->pkey(transport, index, out);
}

struct ibsa__engine *ibsa__client_engine(struct ibsa_client *client)
{
	return client->engine;
}

struct ibsa__reaches *ibsa__client_reaches(struct ibsa_client *client)
{
	return &client->reaches;
}

int ibsa_redirect_explain(const struct ibsa_client *client,
			  struct ibsa_error *out)
{
	struct ibsa_reply reply;

	if (!ibsa__engine_is_ours(client->engine))
		return -EINVAL;
	if (!ibsa__engine_last_redirect(client->engine, &reply))
		return -ENOENT;
	ibsa_reply_explain(&reply, out);
	return 0;
}

void ibsa_stats_get_sized(const struct ibsa_client *client,
			  struct ibsa_stats *out, size_t size)
{
	ibsa__sized_write(out, size, ibsa__engine_stats(client->engine),
			  sizeof(struct ibsa_stats));
}

void ibsa_tap(struct ibsa_client *client, ibsa_mad_fn report, void *arg)
{
	ibsa__engine_tap(client->engine, report, arg);
}

const char *ibsa_version(void)
{
	return IBSA_VERSION;
}
