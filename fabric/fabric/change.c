/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes of a fabric while it runs: the SA stops, starts or moves; links go
 * down and come up; ports get other LIDs, P_Keys and rates.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sized.h"
#include "fabric/fabric/fabric.h"
#include "fabric/node/sma.h"
#include "fabric/subnet/cable.h"

enum {
	SL_MAX = 15,
	SL_MAX_OPA = 31,
	ALL_CHANGES = 2 * IBSA_CHANGE_RATE - 1,
	OF_A_CABLE = IBSA_CHANGE_LINK | IBSA_CHANGE_RATE,
};

/*
 * A requested change of one port, and the objects of the fabric that it
 * affects.
 */
struct change {
	struct ibsa_fabric *fabric;
	struct fabric_part *part; /* the port's subnet */
	const struct ibsa_fabric_port_change *wanted;
	struct topo_port *port;
	/* NULL: the port is a switch's port with a cable */
	struct end_port *end;
	struct end_setup *setup;
	uint16_t *pkeys;       /* its new table */
	struct link_rate rate; /* its link's new one */
};

static bool change_has_any(const struct change *change, uint32_t bits)
{
	return change->wanted->mask & bits;
}

/*
 * This function is called before a change takes effect: it delivers the MADs
 * that are already due, so that the SA handles them at its old port and in its
 * old state.
 */
static void part_settle(struct fabric_part *part)
{
	ibsa__mads_settle(&part->net, fabric_clock_now(part->subnet.clock));
	part->subnet.changes++;
}

/*
 * Let a new SM take over the subnet. The SM sends no Reports about the ports
 * that its first sweep finds.
 */
static void part_take_over(struct fabric_part *part)
{
	ibsa__subnet_sweep(&part->subnet, SWEEP_MASTER);
	ibsa__subnet_take_stock(&part->subnet);
}

static void part_sa_set(struct fabric_part *part, bool running)
{
	if (running == part->subnet.sa_running || part->subnet.is_bare)
		return;
	part_settle(part);
	part->subnet.sa_running = running;
	if (running)
		ibsa__sa_forget(&part->sa);
	else
		ibsa__reports_reset(&part->sa);
	part_take_over(part);
}

void ibsa_fabric_sa_set(struct ibsa_fabric *fabric, bool running)
{
	pthread_mutex_lock(&fabric->lock);
	for (uint32_t i = 0; i < fabric->part_count; i++)
		part_sa_set(fabric_part(fabric, i), running);
	pthread_mutex_unlock(&fabric->lock);
}

static int sa_move(struct ibsa_fabric *fabric, const char *name)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	const uint32_t node = ibsa__fabric_find_node(fabric, name);
	struct fabric_part *part;
	uint32_t port;

	if (fabric->first.subnet.is_bare)
		return -EOPNOTSUPP;
	if (node == NO_INDEX)
		return -ENODEV;
	port = ibsa__subnet_sa_port(topo, node);
	if (port == NO_INDEX)
		return -ENETDOWN;
	part = fabric_part_of(fabric, port);
	part_settle(part);
	part->subnet.sa_end = topo->ports[port].end;
	ibsa__sa_forget(&part->sa);
	part_take_over(part);
	return 0;
}

int ibsa_fabric_sa_move(struct ibsa_fabric *fabric, const char *node)
{
	int err;

	pthread_mutex_lock(&fabric->lock);
	err = sa_move(fabric, node);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}

static int lid_check(const struct change *change)
{
	const struct ibsa_fabric_port_change *wanted = change->wanted;
	const struct subnet *subnet = &change->part->subnet;
	const uint32_t lid = change_has_any(change, IBSA_CHANGE_LID)
				     ? wanted->lid
				     : change->end->lid;
	const uint8_t lmc = change_has_any(change, IBSA_CHANGE_LMC)
				    ? wanted->lmc
				    : change->port->lmc;

	if (lmc > IBSA_LMC_MAX ||
	    !ibsa__lids_are_valid(&subnet->lids, lid, UINT32_C(1) << lmc))
		return -EINVAL;
	if (!change->end->lid)
		return -ENETDOWN;
	return ibsa__lids_are_free(subnet, change->port->end, lid,
				   UINT32_C(1) << lmc)
		       ? 0
		       : -EADDRINUSE;
}

static int link_check(const struct change *change)
{
	if (!change->port->number)
		return -EINVAL;
	return change->port->cable == NO_INDEX ? -ENETDOWN : 0;
}

static bool port_supports(const struct topo_port *port, struct link_rate rate)
{
	const struct link_bits bits = ibsa__link_bits(port->most, rate);

	return bits.width_active & bits.width_supported &&
	       rate.speed <= port->most.speed;
}

/* Check that both ends of the link support the requested rate. */
static int rate_check(struct change *change)
{
	const struct topology *topo = &change->part->subnet.topo;
	const char *text = change->wanted->rate;

	if (!text || !ibsa__rate_parse(text, strlen(text), &change->rate))
		return -EINVAL;
	if (!port_supports(change->port, change->rate) ||
	    !port_supports(&topo->ports[change->port->cable], change->rate))
		return -ERANGE;
	return 0;
}

static int pkeys_check(const struct ibsa_fabric_port_change *wanted)
{
	return wanted->pkeys && wanted->pkey_count &&
			       wanted->pkey_count <= PKEYS_MAX
		       ? 0
		       : -EINVAL;
}

static int change_check(struct change *change)
{
	const struct ibsa_fabric_port_change *wanted = change->wanted;
	const uint8_t sl_max = change->part->subnet.is_opa ? SL_MAX_OPA
							   : SL_MAX;
	int err = 0;

	if (!wanted->mask || wanted->mask & ~(uint32_t)ALL_CHANGES ||
	    (!change->end && change_has_any(change, ~(uint32_t)OF_A_CABLE)) ||
	    (change_has_any(change, IBSA_CHANGE_SM_SL) &&
	     wanted->sm_sl > sl_max))
		return -EINVAL;
	if (change_has_any(change, OF_A_CABLE))
		err = link_check(change);
	if (!err && change_has_any(change, IBSA_CHANGE_RATE))
		err = rate_check(change);
	if (!err && change_has_any(change, IBSA_CHANGE_PKEYS))
		err = pkeys_check(wanted);
	if (!err && change_has_any(change, IBSA_CHANGE_LID | IBSA_CHANGE_LMC))
		err = lid_check(change);
	return err;
}

/*
 * Copy the requested P_Key table. All other steps that can fail are done
 * before: if memory is short here, nothing has changed.
 */
static int pkeys_copy(struct change *change)
{
	const size_t count = change->wanted->pkey_count;

	if (!change_has_any(change, IBSA_CHANGE_PKEYS))
		return 0;
	change->pkeys = ibsa__calloc(count, sizeof(*change->pkeys));
	if (!change->pkeys)
		return -ENOMEM;
	memcpy(change->pkeys, change->wanted->pkeys,
	       count * sizeof(*change->pkeys));
	return 0;
}

static void pkeys_change(const struct change *change)
{
	if (!change->setup->pkeys)
		change->part->subnet.pkey_tables++;
	ibsa__free(change->setup->pkeys);
	change->setup->pkeys = change->pkeys;
	change->setup->pkey_count = (uint16_t)change->wanted->pkey_count;
}

static void lid_change(const struct change *change)
{
	const uint32_t lid = change_has_any(change, IBSA_CHANGE_LID)
				     ? change->wanted->lid
				     : change->end->lid;

	ibsa__lids_drop(&change->part->subnet, change->port->end);
	if (change_has_any(change, IBSA_CHANGE_LMC))
		change->port->lmc = change->wanted->lmc;
	change->end->lid_count = (uint8_t)(1 << change->port->lmc);
	ibsa__lids_take(&change->part->subnet, change->port->end, lid);
}

/*
 * After a port got another LID, became reachable or became unreachable, let
 * the SM sweep the subnet and send Reports.
 */
static void lid_notice(struct subnet *subnet)
{
	ibsa__subnet_sweep(subnet, SWEEP_AGAIN);
	ibsa__subnet_report(subnet);
}

static void capabilities_change(const struct change *change)
{
	struct subnet *subnet = &change->part->subnet;
	const uint32_t wanted = change->wanted->capability_mask;
	const uint32_t other = wanted ^
			       ibsa__port_capabilities(subnet, change->end);

	change->setup->changed_capabilities ^= other;
	if (!other)
		return;
	subnet_changed(subnet, &(struct subnet_change){
				       .kind = CHANGE_CAPABILITIES,
				       .end = change->end,
				       .capability_mask = wanted,
			       });
}

static void change_apply(const struct change *change)
{
	bool is_link = false;

	part_settle(change->part);
	if (change_has_any(change, IBSA_CHANGE_PKEYS))
		pkeys_change(change);
	if (change_has_any(change, IBSA_CHANGE_LID | IBSA_CHANGE_LMC))
		lid_change(change);
	if (change_has_any(change, IBSA_CHANGE_SM_SL))
		change->setup->sm_sl = change->wanted->sm_sl;
	if (change_has_any(change, IBSA_CHANGE_NEEDS_GRH))
		change->setup->needs_grh = change->wanted->needs_grh;
	if (change_has_any(change, IBSA_CHANGE_REREGISTER))
		change->setup->reregisters++;
	if (change_has_any(change, IBSA_CHANGE_LINK)) {
		if (change->port->peer == NO_INDEX)
			ibsa__port_match(&change->part->nodes, change->port);
		is_link = ibsa__cable_plug(&change->part->subnet, change->port,
					   change->wanted->link_up);
	}
	if (change_has_any(change, IBSA_CHANGE_RATE))
		is_link |= ibsa__cable_set_rate(&change->part->subnet,
						change->port, change->rate);
	if (is_link)
		ibsa__cable_notice(&change->part->subnet, change->port);
	else if (change_has_any(change, IBSA_CHANGE_LID | IBSA_CHANGE_LMC))
		lid_notice(&change->part->subnet);
	if (change_has_any(change, IBSA_CHANGE_CAPABILITIES))
		capabilities_change(change);
}

static int port_change(struct change *change)
{
	int err;

	if (change->port->end != NO_INDEX) {
		change->end = &change->part->subnet.ends[change->port->end];
		change->setup = &change->part->subnet.setups[change->port->end];
	}
	err = change_check(change);
	if (!err)
		err = pkeys_copy(change);
	if (!err)
		change_apply(change);
	return err;
}

static int change_port_find(struct change *change, const char *name,
			    unsigned int number)
{
	const struct ibsa_fabric *fabric = change->fabric;
	const uint32_t node = ibsa__fabric_find_node(fabric, name);
	uint32_t index;

	if (node == NO_INDEX)
		return -ENODEV;
	index = ibsa__fabric_find_port(fabric, node, number);
	if (index == NO_INDEX)
		return -ENXIO;
	change->part = fabric_part_of(change->fabric, index);
	change->port = &change->part->subnet.topo.ports[index];
	return 0;
}

int ibsa_fabric_port_set_sized(struct ibsa_fabric *fabric, const char *node,
			       unsigned int port,
			       const struct ibsa_fabric_port_change *wanted,
			       size_t size)
{
	struct ibsa_fabric_port_change known;
	struct change change = { .fabric = fabric, .wanted = &known };
	int err = ibsa__sized_read(&known, sizeof(known), wanted, size);

	if (err)
		return err;
	pthread_mutex_lock(&fabric->lock);
	err = change_port_find(&change, node, port);
	if (!err)
		err = port_change(&change);
	pthread_mutex_unlock(&fabric->lock);
	return err;
}

int ibsa_fabric_fault_sized(struct ibsa_fabric *fabric,
			    const struct ibsa_fault *fault, size_t size)
{
	struct fault_state state = { .active = false };
	const int err = ibsa__sized_read(&state.fault, sizeof(state.fault),
					 fault, size);

	if (err)
		return err;
	if ((unsigned int)state.fault.kind >= IBSA_FAULT_KINDS ||
	    !(state.fault.percent >= 0 && state.fault.percent <= 100))
		return -EINVAL;
	state.left = state.fault.count;
	state.active = state.fault.percent > 0;
	if (!state.fault.delay_ms)
		state.fault.delay_ms = IBSA_DEFAULT_DELAY_MS;
	pthread_mutex_lock(&fabric->lock);
	for (uint32_t i = 0; i < fabric->part_count; i++)
		fabric_part(fabric, i)->net.faults[state.fault.kind] = state;
	pthread_mutex_unlock(&fabric->lock);
	return 0;
}
