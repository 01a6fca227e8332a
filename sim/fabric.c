/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fabric as an object: made, shared, looked at, let go of. */
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "sim/fabric.h"

#define DEFAULT_PREFIX UINT64_C(0xfe80000000000000)

enum { PHYS_POLLING = 2, PHYS_LINK_UP = 5 };

uint64_t ibsa__fabric_now(const struct ibsa_fabric *fabric)
{
	return fabric->is_virtual ? fabric->virtual_ns : clock_now_ns();
}

uint32_t ibsa__fabric_first_adapter(const struct ibsa_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->topo.node_count; i++) {
		if (fabric->topo.nodes[i].type == IBSA_NODE_CA)
			return i;
	}
	return SIM_NONE;
}

static int find_sa_node(const struct ibsa_fabric *fabric, const char *name,
			struct ibsa_error *error, uint32_t *out)
{
	*out = name ? ibsa__topology_find(&fabric->topo, name)
		    : ibsa__fabric_first_adapter(fabric);
	if (*out != SIM_NONE)
		return 0;
	if (name)
		return ibsa__fail(error, -EINVAL,
				  "there is no node \"%.64s\" for the SA",
				  name);
	return ibsa__fail(error, -EINVAL,
			  "no channel adapter to run the SA on; add a line "
			  "such as Ca 1 \"node1\", and a cable to it");
}

static void set_options(struct ibsa_fabric *fabric,
			const struct ibsa_fabric_options *options)
{
	fabric->is_virtual = options->virtual_clock;
	fabric->random.state = options->seed;
	fabric->latency_ns = options->latency_us * UINT64_C(1000);
	fabric->gid_prefix = options->gid_prefix ? options->gid_prefix
						 : DEFAULT_PREFIX;
	fabric->sa_running = true;
	fabric->references = 1;
}

static int init(struct ibsa_fabric *fabric,
		const struct ibsa_fabric_options *options,
		struct ibsa_error *error)
{
	uint32_t sa_node;
	int err;

	set_options(fabric, options);
	err = find_sa_node(fabric, options->sa_node, error, &sa_node);
	if (!err)
		err = ibsa__subnet_init(fabric, sa_node, error);
	if (err)
		return err;
	err = ibsa__routes_init(&fabric->routes, &fabric->topo);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

static void destroy(struct ibsa_fabric *fabric)
{
	ibsa__routes_done(&fabric->routes);
	ibsa__subnet_done(fabric);
	ibsa__topology_done(&fabric->topo);
	ibsa__services_done(&fabric->services);
	ibsa__subscriptions_done(&fabric->subscriptions);
	pthread_mutex_destroy(&fabric->lock);
	pthread_cond_destroy(&fabric->changed);
	ibsa__free(fabric);
}

static int make(const char *path, const char *text, size_t len,
		const struct ibsa_fabric_options *options,
		struct ibsa_error *error, struct ibsa_fabric **out)
{
	static const struct ibsa_fabric_options defaults;
	struct ibsa_fabric *fabric = ibsa__calloc(1, sizeof(*fabric));
	int err;

	if (!fabric)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	pthread_mutex_init(&fabric->lock, NULL);
	pthread_cond_init(&fabric->changed, NULL);
	err = ibsa__topology_read(path, text, len, error, &fabric->topo);
	if (!err)
		err = init(fabric, options ? options : &defaults, error);
	if (err)
		destroy(fabric);
	else
		*out = fabric;
	return err;
}

int ibsa_fabric_load(const char *path,
		     const struct ibsa_fabric_options *options,
		     struct ibsa_error *error, struct ibsa_fabric **out)
{
	return make(path, NULL, 0, options, error, out);
}

int ibsa_fabric_parse(const char *text, size_t len,
		      const struct ibsa_fabric_options *options,
		      struct ibsa_error *error, struct ibsa_fabric **out)
{
	return make(NULL, text ? text : "", len, options, error, out);
}

void ibsa__fabric_hold(struct ibsa_fabric *fabric)
{
	pthread_mutex_lock(&fabric->lock);
	fabric->references++;
	pthread_mutex_unlock(&fabric->lock);
}

void ibsa_fabric_put(struct ibsa_fabric *fabric)
{
	bool is_last;

	if (!fabric)
		return;
	pthread_mutex_lock(&fabric->lock);
	is_last = !--fabric->references;
	pthread_mutex_unlock(&fabric->lock);
	if (is_last)
		destroy(fabric);
}

/* A clock that may still be added to. */
#define CLOCK_NS_MAX (UINT64_MAX / 2)

int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns)
{
	int err = 0;

	if (!fabric->is_virtual)
		return -EINVAL;
	pthread_mutex_lock(&fabric->lock);
	if (ns > CLOCK_NS_MAX - fabric->virtual_ns)
		err = -EINVAL;
	else
		fabric->virtual_ns += ns;
	pthread_cond_broadcast(&fabric->changed);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}

void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running)
{
	pthread_mutex_lock(&fabric->lock);
	if (running && !fabric->sa_running) {
		ibsa__services_done(&fabric->services);
		ibsa__subscriptions_done(&fabric->subscriptions);
	}
	fabric->sa_running = running;
	pthread_mutex_unlock(&fabric->lock);
}

void ibsa_fabric_info_get(struct ibsa_fabric *fabric,
			  struct ibsa_fabric_info *out)
{
	*out = (struct ibsa_fabric_info){
		.nodes = fabric->topo.node_count,
		.adapters = fabric->adapter_count,
		.switches = fabric->topo.switch_count,
		.links = fabric->topo.link_count,
		.lids = fabric->lid_count,
	};
}

void ibsa__fabric_port_state(const struct ibsa_fabric *fabric, uint32_t index,
			     struct ibsa_port_state *out)
{
	const struct topo_port *port = &fabric->topo.ports[index];
	const bool is_up = port->peer != SIM_NONE;

	*out = (struct ibsa_port_state){
		.lid = port->lid,
		.lmc = port->lid ? port->lmc : 0,
		.port_state = IBSA_PORT_DOWN,
		.phys_state = is_up ? PHYS_LINK_UP : PHYS_POLLING,
	};
	/* Out of the SA's reach nobody makes a port active. */
	if (is_up)
		out->port_state = port->lid ? IBSA_PORT_ACTIVE : IBSA_PORT_INIT;
	if (port->lid && fabric->sa_running)
		out->sm_lid = fabric->ends[fabric->sa_end].lid;
	ibsa_put_be64(out->gid.raw, fabric->gid_prefix);
	ibsa_put_be64(out->gid.raw + 8, port->guid);
}

int ibsa_fabric_port_at(struct ibsa_fabric *fabric, size_t index,
			struct ibsa_fabric_port *out)
{
	const struct topo_port *at;
	uint32_t port;

	if (index >= fabric->adapter_port_count)
		return -ENOENT;
	port = fabric->adapter_ports[index];
	at = &fabric->topo.ports[port];
	out->node = fabric->topo.nodes[at->node].name;
	out->number = at->number;
	out->guid = at->guid;
	out->rate = at->peer == SIM_NONE
			    ? ""
			    : ibsa__rate_text(at->width, at->speed);
	pthread_mutex_lock(&fabric->lock);
	ibsa__fabric_port_state(fabric, port, &out->state);
	pthread_mutex_unlock(&fabric->lock);
	return 0;
}

void ibsa_fabric_stats_get(struct ibsa_fabric *fabric,
			   struct ibsa_fabric_stats *out)
{
	pthread_mutex_lock(&fabric->lock);
	*out = fabric->stats;
	pthread_mutex_unlock(&fabric->lock);
}
