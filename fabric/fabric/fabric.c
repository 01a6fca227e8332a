/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric as an object: creates it, shares it between clients, and frees it;
 * finds its nodes and ports by name.
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
#include "fabric/sa/multicast.h"
#include "fabric/node/pma.h"
#include "fabric/mad/counters.h"
#include "fabric/node/sma.h"
#include "fabric/sa/notice.h"

/* The first LID of Omni-Path that is not unicast. */
#define OPA_LIDS_MAX UINT32_C(0xc0000000)

uint32_t ibsa__fabric_first_adapter(const struct ibsa_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->first.subnet.topo.node_count; i++) {
		if (fabric->first.subnet.topo.nodes[i].type == IBSA_NODE_CA)
			return i;
	}
	return NO_INDEX;
}

uint32_t ibsa__fabric_find_node(const struct ibsa_fabric *fabric,
				const char *name)
{
	return name ? ibsa__topology_find(&fabric->first.subnet.topo, name)
		    : ibsa__fabric_first_adapter(fabric);
}

bool ibsa__adapter_is_active(const struct ibsa_fabric *fabric, uint32_t index)
{
	const struct topo_node *node = &fabric->first.subnet.topo.nodes[index];
	const struct topo_port *ports =
		&fabric->first.subnet.topo.ports[node->first_port];

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
	const struct topo_node *nodes = fabric->first.subnet.topo.nodes;
	const bool is_active = ibsa__adapter_is_active(fabric, a);

	if (is_active != ibsa__adapter_is_active(fabric, b))
		return is_active;
	return strverscmp(nodes[a].name, nodes[b].name) < 0;
}

static uint32_t adapter_of_host(const struct ibsa_fabric *fabric,
				const char *name)
{
	const struct topo_node *nodes = fabric->first.subnet.topo.nodes;
	uint32_t found = NO_INDEX;
	int best = 1;

	for (uint32_t i = 0; i < fabric->first.subnet.topo.node_count; i++) {
		const int match = nodes[i].type == IBSA_NODE_CA
					  ? ibsa__host_match(name,
							     nodes[i].name)
					  : 0;

		if (match < best)
			continue;
		if (match > best || found == NO_INDEX ||
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

	return node == NO_INDEX && name ? adapter_of_host(fabric, name) : node;
}

const char *ibsa__fabric_adapter_id(struct ibsa_fabric *fabric,
				    const char *name)
{
	uint32_t node;

	pthread_mutex_lock(&fabric->lock);
	node = ibsa__fabric_find_adapter(fabric, name);
	pthread_mutex_unlock(&fabric->lock);
	return node == NO_INDEX ? NULL
				: fabric->first.subnet.topo.nodes[node].id;
}

uint32_t ibsa__fabric_find_port(const struct ibsa_fabric *fabric,
				uint32_t index, unsigned int number)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	const struct topo_node *node = &topo->nodes[index];

	if (number > node->port_count)
		return NO_INDEX;
	if (node->type == IBSA_NODE_SWITCH)
		return node->first_port + number;
	for (uint32_t i = 1; !number && i <= node->port_count; i++) {
		if (topo->ports[node->first_port + i].cable != NO_INDEX)
			number = i;
	}
	return node->first_port + (number ? number : 1);
}

static int sa_node_find(const struct ibsa_fabric *fabric, const char *name,
			struct ibsa_error *error, uint32_t *out)
{
	*out = ibsa__fabric_find_node(fabric, name);
	if (*out != NO_INDEX)
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

static void options_set(struct ibsa_fabric *fabric,
			const struct ibsa_fabric_options *options)
{
	fabric->clock.is_virtual = options->virtual_clock;
	fabric->first.net.random.state = options->seed;
	fabric->first.net.latency_ns = options->latency_us * UINT64_C(1000);
	fabric->first.subnet.gid_prefix = options->gid_prefix
						  ? options->gid_prefix
						  : IBSA_DEFAULT_GID_PREFIX;
	fabric->first.subnet.is_opa = options->opa;
	fabric->first.sa.has_opa_paths = !options->no_opa_paths &&
					 options->profile !=
						 IBSA_SM_PROFILE_OPA_FM;
	fabric->first.subnet.lids.first = options->first_lid
						  ? options->first_lid
						  : IBSA_DEFAULT_FIRST_LID;
	fabric->first.subnet.lids.limit = options->opa
						  ? OPA_LIDS_MAX
						  : IBSA_LID_UNICAST_MAX + 1;
	fabric->first.subnet.is_bare = options->no_sa;
	fabric->first.subnet.sa_running = !options->no_sa;
	fabric->first.sa.profile = options->profile;
	fabric->references = 1;
	fabric->process = ibsa__process();
	list_init(&fabric->inherited);
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
static void handlers_set(struct fabric_part *part)
{
	struct port_handler *handlers = part->built_in;

	handlers[0] = (struct port_handler){
		.next = &handlers[1],
		.take = ibsa__sa_take,
		.has_qp = ibsa__sa_has_qp,
		.settle = ibsa__reports_settle,
		.due = sa_due,
		.arg = &part->sa,
	};
	handlers[1] = (struct port_handler){
		.next = &handlers[2],
		.take = ibsa__sma_take,
		.settle = ibsa__traps_settle,
		.due = ibsa__traps_due,
		.arg = &part->nodes,
	};
	handlers[2] = (struct port_handler){
		.take = ibsa__pma_take,
		.arg = &part->nodes,
	};
	handlers[3] = (struct port_handler){
		.take = ibsa__sma_take_sm_info,
		.arg = &part->nodes,
	};
	part->net.handlers = &handlers[0];
	part->net.last_handler = &handlers[3];
}

/*
 * Set the observers of the subnet. For each change of the subnet, the observers
 * are called in this order: the SA, the traps, the counters.
 */
static void observers_set(struct fabric_part *part)
{
	struct subnet_observer *observing = part->observing;

	observing[0] = (struct subnet_observer){
		&observing[1],
		ibsa__sa_observe,
		&part->sa,
	};
	observing[1] = (struct subnet_observer){
		&observing[2],
		ibsa__traps_observe,
		&part->nodes,
	};
	observing[2] = (struct subnet_observer){
		NULL,
		ibsa__counters_observe,
		&part->net,
	};
	part->subnet.observers = observing;
}

/* Connect the objects of a subnet: set their pointers to each other. */
static void part_compose(struct fabric_part *part)
{
	part->net.subnet = &part->subnet;
	part->nodes.subnet = &part->subnet;
	part->nodes.net = &part->net;
	part->sa.subnet = &part->subnet;
	part->sa.net = &part->net;
	part->sa.nodes = &part->nodes;
	part->files = (struct port_files){
		.subnet = &part->subnet,
		.net = &part->net,
		.nodes = &part->nodes,
	};
	ibsa__mads_init(&part->net);
	ibsa__traps_init(&part->nodes);
	ibsa__multicast_init(&part->sa);
	handlers_set(part);
	observers_set(part);
}

/*
 * Make the subnets besides the first one, with the same options. Return: 0;
 * -ENOMEM.
 */
static int others_make(struct ibsa_fabric *fabric)
{
	const struct fabric_part *first = &fabric->first;
	const uint32_t count = fabric->part_count;
	int err = 0;

	fabric->others = count > 1 ? ibsa__calloc(count - 1,
						  sizeof(*fabric->others))
				   : NULL;
	if (count > 1 && !fabric->others) {
		fabric->part_count = 1;
		return -ENOMEM;
	}
	for (uint32_t i = 1; i < count; i++) {
		struct fabric_part *part = fabric_part(fabric, i);
		const int failed = ibsa__subnet_part_init(
			&part->subnet, &first->subnet, (uint8_t)i);

		part->net.random = first->net.random;
		part->net.latency_ns = first->net.latency_ns;
		part->sa.profile = first->sa.profile;
		part->sa.has_opa_paths = first->sa.has_opa_paths;
		part_compose(part);
		err = err ? err : failed;
	}
	return err;
}

static int part_start(struct fabric_part *part, struct ibsa_error *error)
{
	int err = ibsa__subnet_start(&part->subnet, error);

	if (err)
		return err;
	err = ibsa__routes_init(&part->subnet.routes, &part->subnet.topo);
	if (!err)
		err = ibsa__groups_init(&part->sa.groups);
	if (!err)
		err = ibsa__reports_init(&part->sa.reports);
	if (!err)
		err = ibsa__port_files_init(&part->files);
	return err ? ibsa__fail(error, err, "out of memory") : 0;
}

static int fabric_init(struct ibsa_fabric *fabric, const char *sa_node,
		       struct ibsa_error *error)
{
	uint32_t node;
	int err;

	if ((unsigned int)fabric->first.sa.profile >= IBSA_SM_PROFILES)
		return ibsa__fail(error, -EINVAL, "unknown SM profile %d",
				  (int)fabric->first.sa.profile);
	if (fabric->first.subnet.lids.first >= fabric->first.subnet.lids.limit)
		return ibsa__fail(error, -EINVAL,
				  "the first LID cannot be %" PRIu32
				  ": it must be from 1 to %" PRIu32,
				  fabric->first.subnet.lids.first,
				  fabric->first.subnet.lids.limit - 1);
	err = sa_node_find(fabric, sa_node, error, &node);
	if (!err)
		err = ibsa__subnet_init(&fabric->first.subnet, node,
					&fabric->part_count, error);
	if (!err && others_make(fabric))
		err = ibsa__fail(error, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < fabric->part_count && !err; i++)
		err = part_start(fabric_part(fabric, i), error);
	return err;
}

static void part_done(struct fabric_part *part)
{
	ibsa__traps_done(&part->nodes);
	ibsa__mads_done(&part->net);
	ibsa__sma_done(&part->nodes);
	ibsa__switch_tables_done(&part->subnet);
	ibsa__counters_free(&part->net);
	ibsa__free(part->net.fan_queue);
	ibsa__reports_done(&part->sa.reports);
	ibsa__routes_done(&part->subnet.routes);
	ibsa__services_done(&part->sa.services);
	ibsa__subscriptions_done(&part->sa.subscriptions);
	ibsa__groups_done(&part->sa.groups);
	ibsa__aliases_done(&part->subnet.aliases);
	ibsa__port_files_done(&part->files);
	ibsa__subnet_part_done(&part->subnet);
}

static void fabric_destroy(struct ibsa_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->part_count; i++)
		part_done(fabric_part(fabric, i));
	ibsa__free(fabric->others);
	ibsa__subnet_done(&fabric->first.subnet);
	ibsa__topology_done(&fabric->first.subnet.topo);
	ibsa__replay_done(fabric->recording);
	ibsa__free(fabric->hosts.adapters);
	pthread_mutex_destroy(&fabric->lock);
	pthread_cond_destroy(&fabric->changed);
	ibsa__free(fabric);
}

/*
 * Set the error of a topology as a whole: it contains the file's name, but no
 * line number.
 */
static int fabric_init_named(struct ibsa_fabric *fabric, const char *path,
			     const char *sa_node, struct ibsa_error *error)
{
	struct ibsa_error reason = { "" };
	int err = fabric_init(fabric, sa_node, &reason);

	if (err)
		return ibsa__fail(error, err, "%.60s: %s",
				  path ? path : "(text)", reason.text);
	return 0;
}

static int topology_read(struct ibsa_fabric *fabric,
			 const struct net_input *input,
			 struct ibsa_error *error)
{
	struct net net;
	int err = ibsa__net_read(input, error, &net);

	if (err)
		return err;
	if (!ibsa__topology_init(&fabric->first.subnet.topo, &net))
		return 0;
	ibsa__net_done(&net);
	return ibsa__fail(error, -ENOMEM, "out of memory");
}

static int fabric_make(const char *path, const char *text, size_t len,
		       const struct ibsa_fabric_options *options,
		       struct ibsa_error *error, struct ibsa_fabric **out)
{
	struct ibsa_fabric *fabric = ibsa__calloc(1, sizeof(*fabric));
	int err;

	if (!fabric)
		return ibsa__fail(error, -ENOMEM, "out of memory");
	pthread_mutex_init(&fabric->lock, NULL);
	pthread_cond_init(&fabric->changed, NULL);
	fabric->base.ops = &ibsa__fabric_ops;
	fabric->first.subnet.clock = &fabric->clock;
	fabric->part_count = 1;
	part_compose(&fabric->first);
	options_set(fabric, options);
	err = topology_read(fabric,
			    &(struct net_input){
				    .path = path,
				    .text = text,
				    .len = len,
				    .lid_max = fabric->first.subnet.is_opa
						       ? UINT32_MAX
						       : UINT16_MAX,
				    .has_check = options->check,
			    },
			    error);
	if (!err)
		err = fabric_init_named(fabric, path, options->sa_node, error);
	for (uint32_t i = 0; i < fabric->part_count && !err; i++)
		if (options->partitions)
			err = ibsa__partitions_read(&fabric_part(fabric, i)->sa,
						    options->partitions, error);
	if (err)
		fabric_destroy(fabric);
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
				  "the path is NULL; give the path of a "
				  "topology file");
	err = ibsa__options_read(&known, sizeof(known), options, size, error);
	if (err)
		return err;
	if (ibsa__is_capture(path))
		return ibsa__replay_load(path, &known, error, out);
	return fabric_make(path, NULL, 0, &known, error, out);
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
		   : fabric_make(NULL, text ? text : "", len, &known, error,
				 out);
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
		fabric_destroy(fabric);
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
