/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric as an object: creates it, shares it between clients, reads its
 * state, and frees it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <ibsa/text.h>

#include "common/host.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/registry.h"
#include "base/sized.h"
#include "fabric/mad/mad.h"
#include "fabric/sa/partition.h"
#include "fabric/fabric/replay.h"
#include "fabric/mad/counters.h"
#include "fabric/node/pma.h"
#include "fabric/node/sma.h"
#include "fabric/sa/multicast.h"
#include "fabric/sa/notice.h"
#include "fabric/subnet/forward.h"

/* The first LID of Omni-Path that is not unicast. */
#define OPA_LIDS_MAX UINT32_C(0xc0000000)

uint32_t ibsa__fabric_first_adapter(const struct ibsa_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->subnet.topo.node_count; i++) {
		if (fabric->subnet.topo.nodes[i].type == IBSA_NODE_CA)
			return i;
	}
	return SIM_NONE;
}

uint32_t ibsa__fabric_find_node(const struct ibsa_fabric *fabric,
				const char *name)
{
	return name ? ibsa__topology_find(&fabric->subnet.topo, name)
		    : ibsa__fabric_first_adapter(fabric);
}

bool ibsa__adapter_is_active(const struct ibsa_fabric *fabric, uint32_t index)
{
	const struct topo_node *node = &fabric->subnet.topo.nodes[index];
	const struct topo_port *ports =
		&fabric->subnet.topo.ports[node->first_port];

	for (uint32_t i = 1; i <= node->port_count; i++) {
		if (ports[i].state == IBSA_PORT_ACTIVE)
			return true;
	}
	return false;
}

/*
 * Whether the adapter @a is preferred to @b, if both match the name of a host.
 */
static bool adapter_is_before(const struct ibsa_fabric *fabric, uint32_t a,
			      uint32_t b)
{
	const struct topo_node *nodes = fabric->subnet.topo.nodes;
	const bool is_active = ibsa__adapter_is_active(fabric, a);

	if (is_active != ibsa__adapter_is_active(fabric, b))
		return is_active;
	return strverscmp(nodes[a].name, nodes[b].name) < 0;
}

static uint32_t adapter_of_host(const struct ibsa_fabric *fabric,
				const char *name)
{
	const struct topo_node *nodes = fabric->subnet.topo.nodes;
	uint32_t found = SIM_NONE;
	int best = 1;

	for (uint32_t i = 0; i < fabric->subnet.topo.node_count; i++) {
		const int match = nodes[i].type == IBSA_NODE_CA
					  ? ibsa__host_match(name,
							     nodes[i].name)
					  : 0;

		if (match < best)
			continue;
		if (match > best || found == SIM_NONE ||
		    adapter_is_before(fabric, i, found))
			found = i;
		best = match;
	}
	return found;
}

uint32_t ibsa__fabric_find_adapter(const struct ibsa_fabric *fabric,
				   const char *name)
{
	const uint32_t node = ibsa__fabric_find_node(fabric, name);

	return node == SIM_NONE && name ? adapter_of_host(fabric, name) : node;
}

const char *ibsa__fabric_adapter_id(struct ibsa_fabric *fabric,
				    const char *name)
{
	uint32_t node;

	pthread_mutex_lock(&fabric->lock);
	node = ibsa__fabric_find_adapter(fabric, name);
	pthread_mutex_unlock(&fabric->lock);
	return node == SIM_NONE ? NULL : fabric->subnet.topo.nodes[node].id;
}

uint32_t ibsa__fabric_find_port(const struct ibsa_fabric *fabric,
				uint32_t index, unsigned int number)
{
	const struct topology *topo = &fabric->subnet.topo;
	const struct topo_node *node = &topo->nodes[index];

	if (number > node->port_count)
		return SIM_NONE;
	if (node->type == IBSA_NODE_SWITCH)
		return node->first_port + number;
	for (uint32_t i = 1; !number && i <= node->port_count; i++) {
		if (topo->ports[node->first_port + i].cable != SIM_NONE)
			number = i;
	}
	return node->first_port + (number ? number : 1);
}

static int find_sa_node(const struct ibsa_fabric *fabric, const char *name,
			struct ibsa_error *error, uint32_t *out)
{
	*out = ibsa__fabric_find_node(fabric, name);
	if (*out != SIM_NONE)
		return 0;
	if (name)
		return ibsa__fail(
			error, -EINVAL,
			"cannot run the SA at \"%.64s\": the fabric has no such node",
			name);
	return ibsa__fail(error, -EINVAL,
			  "no channel adapter to run the SA on; add a line "
			  "such as Ca 1 \"node1\", and a cable to it");
}

static void set_options(struct ibsa_fabric *fabric,
			const struct ibsa_fabric_options *options)
{
	fabric->clock.is_virtual = options->virtual_clock;
	fabric->net.random.state = options->seed;
	fabric->net.latency_ns = options->latency_us * UINT64_C(1000);
	fabric->subnet.gid_prefix = options->gid_prefix
					    ? options->gid_prefix
					    : IBSA_DEFAULT_GID_PREFIX;
	fabric->subnet.is_opa = options->opa;
	fabric->sa.has_opa_paths = !options->no_opa_paths &&
				   options->profile != IBSA_SM_PROFILE_OPA_FM;
	fabric->subnet.lids.first = options->first_lid ? options->first_lid
						       : IBSA_DEFAULT_FIRST_LID;
	fabric->subnet.lids.limit = options->opa ? OPA_LIDS_MAX
						 : IBSA_LID_UNICAST_MAX + 1;
	fabric->subnet.is_bare = options->no_sa;
	fabric->subnet.sa_running = !options->no_sa;
	fabric->sa.profile = options->profile;
	fabric->references = 1;
	fabric->process = ibsa__process();
	list_init(&fabric->inherited);
}

static int init(struct ibsa_fabric *fabric, const char *sa_node,
		struct ibsa_error *error)
{
	uint32_t node;
	int err;

	if ((unsigned int)fabric->sa.profile >= IBSA_SM_PROFILES)
		return ibsa__fail(error, -EINVAL, "unknown SM profile %d",
				  (int)fabric->sa.profile);
	if (fabric->subnet.lids.first >= fabric->subnet.lids.limit)
		return ibsa__fail(error, -EINVAL,
				  "the first LID cannot be %" PRIu32
				  ": it must be from 1 to %" PRIu32,
				  fabric->subnet.lids.first,
				  fabric->subnet.lids.limit - 1);
	err = find_sa_node(fabric, sa_node, error, &node);
	if (!err)
		err = ibsa__subnet_init(&fabric->subnet, node, error);
	if (err)
		return err;
	err = ibsa__routes_init(&fabric->subnet.routes, &fabric->subnet.topo);
	if (!err)
		err = ibsa__groups_init(&fabric->sa.groups);
	if (!err)
		err = ibsa__reports_init(&fabric->sa.reports);
	if (!err)
		err = ibsa__sim_files_init(&fabric->files);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

static void destroy(struct ibsa_fabric *fabric)
{
	ibsa__traps_done(&fabric->nodes);
	ibsa__mads_done(&fabric->net);
	ibsa__sma_done(&fabric->nodes);
	ibsa__switch_tables_done(&fabric->subnet);
	ibsa__free(fabric->net.counters);
	ibsa__free(fabric->net.fan_queue);
	ibsa__reports_done(&fabric->sa.reports);
	ibsa__routes_done(&fabric->subnet.routes);
	ibsa__subnet_done(&fabric->subnet);
	ibsa__topology_done(&fabric->subnet.topo);
	ibsa__services_done(&fabric->sa.services);
	ibsa__subscriptions_done(&fabric->sa.subscriptions);
	ibsa__groups_done(&fabric->sa.groups);
	ibsa__aliases_done(&fabric->subnet.aliases);
	ibsa__replay_done(fabric->recording);
	ibsa__sim_files_done(&fabric->files);
	ibsa__free(fabric->hosts.adapters);
	pthread_mutex_destroy(&fabric->lock);
	pthread_cond_destroy(&fabric->changed);
	ibsa__free(fabric);
}

/*
 * Set the error of a topology as a whole: it contains the file's name, but no
 * line number.
 */
static int init_named(struct ibsa_fabric *fabric, const char *path,
		      const char *sa_node, struct ibsa_error *error)
{
	struct ibsa_error reason = { "" };
	int err = init(fabric, sa_node, &reason);

	if (err)
		return ibsa__fail(error, err, "%.60s: %s",
				  path ? path : "(text)", reason.text);
	return 0;
}

static uint64_t sa_due(void *arg, uint32_t end)
{
	const struct sa *sa = arg;

	return ibsa__reports_due(sa->subnet, end);
}

/*
 * Set the handlers that every port has for MADs that arrive: the SA, the agents
 * for subnet management and performance management, and the agent for SMInfo.
 */
static void set_handlers(struct ibsa_fabric *fabric)
{
	struct port_handler *handlers = fabric->built_in;

	handlers[0] = (struct port_handler){
		.next = &handlers[1],
		.take = ibsa__sa_take,
		.has_qp = ibsa__sa_has_qp,
		.settle = ibsa__reports_settle,
		.due = sa_due,
		.arg = &fabric->sa,
	};
	handlers[1] = (struct port_handler){
		.next = &handlers[2],
		.take = ibsa__sma_take,
		.settle = ibsa__traps_settle,
		.due = ibsa__traps_due,
		.arg = &fabric->nodes,
	};
	handlers[2] = (struct port_handler){
		.take = ibsa__pma_take,
		.arg = &fabric->nodes,
	};
	handlers[3] = (struct port_handler){
		.take = ibsa__sma_take_sm_info,
		.arg = &fabric->nodes,
	};
	fabric->net.handlers = &handlers[0];
	fabric->net.last_handler = &handlers[3];
}

/*
 * Set the observers of the subnet. For each change of the subnet, the observers
 * are called in this order: the SA, the traps, the counters.
 */
static void set_observers(struct ibsa_fabric *fabric)
{
	struct subnet_observer *observing = fabric->observing;

	observing[0] = (struct subnet_observer){
		&observing[1],
		ibsa__sa_observe,
		&fabric->sa,
	};
	observing[1] = (struct subnet_observer){
		&observing[2],
		ibsa__traps_observe,
		&fabric->nodes,
	};
	observing[2] = (struct subnet_observer){
		NULL,
		ibsa__counters_observe,
		&fabric->net,
	};
	fabric->subnet.observers = observing;
}

/* Connect the parts of a fabric: set their pointers to the parts they use. */
static void compose(struct ibsa_fabric *fabric)
{
	fabric->base.ops = &ibsa__fabric_ops;
	fabric->subnet.clock = &fabric->clock;
	fabric->net.subnet = &fabric->subnet;
	fabric->nodes.subnet = &fabric->subnet;
	fabric->nodes.net = &fabric->net;
	fabric->sa.subnet = &fabric->subnet;
	fabric->sa.net = &fabric->net;
	fabric->sa.nodes = &fabric->nodes;
	fabric->files = (struct sim_files){
		.subnet = &fabric->subnet,
		.net = &fabric->net,
		.nodes = &fabric->nodes,
	};
	ibsa__mads_init(&fabric->net);
	ibsa__traps_init(&fabric->nodes);
	ibsa__multicast_init(&fabric->sa);
	set_handlers(fabric);
	set_observers(fabric);
}

static int topology_read(struct ibsa_fabric *fabric,
			 const struct net_input *input,
			 struct ibsa_error *error)
{
	struct net net;
	int err = ibsa__net_read(input, error, &net);

	if (err)
		return err;
	if (!ibsa__topology_init(&fabric->subnet.topo, &net))
		return 0;
	ibsa__net_done(&net);
	return ibsa__fail(error, -ENOMEM, "out of memory");
}

static int make(const char *path, const char *text, size_t len,
		const struct ibsa_fabric_options *options,
		struct ibsa_error *error, struct ibsa_fabric **out)
{
	struct ibsa_fabric *fabric = ibsa__calloc(1, sizeof(*fabric));
	int err;

	if (!fabric)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	pthread_mutex_init(&fabric->lock, NULL);
	pthread_cond_init(&fabric->changed, NULL);
	compose(fabric);
	set_options(fabric, options);
	err = topology_read(fabric,
			    &(struct net_input){
				    .path = path,
				    .text = text,
				    .len = len,
				    .lid_max = fabric->subnet.is_opa
						       ? UINT32_MAX
						       : UINT16_MAX,
				    .has_check = options->check,
			    },
			    error);
	if (!err)
		err = init_named(fabric, path, options->sa_node, error);
	if (!err && options->partitions)
		err = ibsa__partitions_read(&fabric->sa, options->partitions,
					    error);
	if (err)
		destroy(fabric);
	else
		*out = fabric;
	return err;
}

int ibsa_fabric_load_sized(const char *path,
			   const struct ibsa_fabric_options *options,
			   size_t size, struct ibsa_error *error,
			   struct ibsa_fabric **out)
{
	struct ibsa_fabric_options known;
	int err;

	if (!path)
		return ibsa__fail(error, -EINVAL,
				  "the path of the topology file is missing");
	err = ibsa__options_read(&known, sizeof(known), options, size, error);
	if (err)
		return err;
	if (ibsa__is_capture(path))
		return ibsa__replay_load(path, &known, error, out);
	return make(path, NULL, 0, &known, error, out);
}

int ibsa_fabric_parse_sized(const char *text, size_t len,
			    const struct ibsa_fabric_options *options,
			    size_t size, struct ibsa_error *error,
			    struct ibsa_fabric **out)
{
	struct ibsa_fabric_options known;
	const int err = ibsa__options_read(&known, sizeof(known), options, size,
					   error);

	return err ? err
		   : make(NULL, text ? text : "", len, &known, error, out);
}

bool ibsa__fabric_is_ours(const struct ibsa_fabric *fabric)
{
	return fabric->process == ibsa__process();
}

void ibsa_fabric_put(struct ibsa_fabric *fabric)
{
	bool is_last;

	if (!fabric)
		return;
	if (!ibsa__fabric_is_ours(fabric)) {
		if (list_is_empty(&fabric->inherited))
			ibsa__inherit(&fabric->inherited);
		return;
	}
	pthread_mutex_lock(&fabric->lock);
	is_last = !--fabric->references;
	pthread_mutex_unlock(&fabric->lock);
	if (is_last)
		destroy(fabric);
}

/*
 * Largest time of the fabric's clock: the sum of two such times does not
 * overflow.
 */
#define CLOCK_NS_MAX (UINT64_MAX / 2)

int ibsa_fabric_advance(struct ibsa_fabric *fabric, uint64_t ns)
{
	int err = 0;

	if (!fabric->clock.is_virtual)
		return -EINVAL;
	pthread_mutex_lock(&fabric->lock);
	if (ns > CLOCK_NS_MAX - fabric->clock.virtual_ns)
		err = -EINVAL;
	else
		fabric->clock.virtual_ns += ns;
	pthread_cond_broadcast(&fabric->changed);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}

void ibsa_fabric_info_get_sized(struct ibsa_fabric *fabric,
				struct ibsa_fabric_info *out, size_t size)
{
	struct ibsa_fabric_info info;

	pthread_mutex_lock(&fabric->lock);
	info = (struct ibsa_fabric_info){
		.nodes = fabric->subnet.topo.node_count,
		.adapters = fabric->subnet.adapter_count,
		.switches = fabric->subnet.topo.switch_count,
		.links = fabric->subnet.topo.link_count,
		.lids = fabric->subnet.lids.count,
	};
	pthread_mutex_unlock(&fabric->lock);
	ibsa__sized_write(out, size, &info, sizeof(info));
}

/*
 * Return: the index of the default P_Key in a port's table: with full
 * membership if the table has it, otherwise with limited membership, otherwise
 * 0.
 */
static uint16_t default_pkey(const struct end_setup *setup)
{
	uint16_t limited = 0;

	for (uint16_t i = 0; i < setup_pkey_count(setup); i++) {
		const uint16_t pkey = setup_pkey(setup, i);

		if (pkey == IBSA_PKEY_DEFAULT)
			return i;
		if (pkey == (IBSA_PKEY_DEFAULT & ~IBSA_PKEY_FULL) && !limited)
			limited = i;
	}
	return limited;
}

void ibsa__fabric_port_state(const struct ibsa_fabric *fabric, uint32_t index,
			     struct ibsa_port_state *out)
{
	const struct topo_port *port = &fabric->subnet.topo.ports[index];
	const struct end_port *end = &fabric->subnet.ends[port->end];
	const struct end_setup *setup = end_setup(&fabric->subnet, end);

	*out = (struct ibsa_port_state){
		.lid = end->lid,
		.lmc = end->lid ? port->lmc : 0,
		.pkey_index = default_pkey(setup),
		.port_state = port->state,
		.phys_state = port->peer != SIM_NONE ? PHYS_LINK_UP
						     : PHYS_POLLING,
		.link = fabric->subnet.is_opa ? IBSA_LINK_OPA
					      : IBSA_LINK_INFINIBAND,
		.port_num = port->number,
		.needs_grh = setup->needs_grh,
		.reregisters = setup->reregisters,
	};
	if (fabric->subnet.sa_running || fabric->subnet.is_bare) {
		out->sm_lid = setup->sm_lid;
		out->sm_sl = setup->sm_sl;
	}
	end_gid(&fabric->subnet, end, out->gid.raw);
}

int ibsa_fabric_port_at_sized(struct ibsa_fabric *fabric, size_t index,
			      struct ibsa_fabric_port *out, size_t size)
{
	struct ibsa_fabric_port found = { .rate = "" };
	const struct topo_port *at;
	uint32_t port;

	if (index >= fabric->subnet.adapter_port_count)
		return -ENOENT;
	port = fabric->subnet.adapter_ports[index];
	at = &fabric->subnet.topo.ports[port];
	found.node = fabric->subnet.topo.nodes[at->node].name;
	found.id = fabric->subnet.topo.nodes[at->node].id;
	found.number = at->number;
	found.guid = at->guid;
	pthread_mutex_lock(&fabric->lock);
	if (at->peer != SIM_NONE)
		found.rate = ibsa__rate_text(at->rate.width, at->rate.speed);
	ibsa__fabric_port_state(fabric, port, &found.state);
	pthread_mutex_unlock(&fabric->lock);
	ibsa__sized_write(out, size, &found, sizeof(found));
	return 0;
}

void ibsa_fabric_stats_get_sized(struct ibsa_fabric *fabric,
				 struct ibsa_fabric_stats *out, size_t size)
{
	_Static_assert((int)IBSA_FAULT_KINDS <= (int)IBSA_FAULTS_ROOM &&
			       (int)IBSA_DROP_REASONS <= (int)IBSA_DROPS_ROOM,
		       "the arrays of struct ibsa_fabric_stats are too short");

	pthread_mutex_lock(&fabric->lock);
	ibsa__mads_settle(&fabric->net, sim_clock_now(&fabric->clock));
	ibsa__sized_write(out, size, &fabric->net.stats,
			  sizeof(fabric->net.stats));
	pthread_mutex_unlock(&fabric->lock);
}
