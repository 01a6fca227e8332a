/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents of an adapter's sysfs files, written from the present state of
 * the fabric.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband; the order and
 * format of the contents are those of drivers/infiniband/core/sysfs.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "fabric/mad/counters.h"
#include "fabric/server/server_text.h"

enum { NODE_TEXT = 64 };

int ibsa__view_put(struct view *view, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(view->out + view->used, view->room - view->used, format,
			args);
	va_end(args);
	if (len > 0 && (size_t)len < view->room - view->used)
		view->used += (size_t)len;
	else
		view->is_full = true;
	return 0;
}

static void put_groups(struct view *view, uint64_t value)
{
	ibsa__view_put(view, "%04x:%04x:%04x:%04x", (unsigned int)(value >> 48),
		       (unsigned int)(value >> 32 & 0xffff),
		       (unsigned int)(value >> 16 & 0xffff),
		       (unsigned int)(value & 0xffff));
}

static const struct subnet *subnet_of(const struct view *view)
{
	const struct topo_port *ports = view->fabric->first.subnet.topo.ports;

	return fabric_subnet_of(view->fabric, (uint32_t)(view->port - ports));
}

static int put_node_type(struct view *view)
{
	static const char *const names[] = { "", "CA", "switch", "router" };

	return ibsa__view_put(view, "%u: %s\n", view->node->type,
			      names[view->node->type & 3]);
}

static int put_node_guid(struct view *view)
{
	put_groups(view, view->node->guid);
	return ibsa__view_put(view, "\n");
}

static int put_image_guid(struct view *view)
{
	put_groups(view, view->node->image_guid);
	return ibsa__view_put(view, "\n");
}

static int put_node_desc(struct view *view)
{
	return ibsa__view_put(view, "%.*s\n", NODE_TEXT, view->node->name);
}

static int put_version(struct view *view)
{
	return ibsa__view_put(view, "%s\n", IBSA_VERSION);
}

static int put_revision(struct view *view)
{
	return ibsa__view_put(view, "0\n");
}

static int put_board(struct view *view)
{
	return ibsa__view_put(view, "ibsa\n");
}

static int put_lid(struct view *view)
{
	return ibsa__view_put(view, "0x%x\n", view->state.lid);
}

static int put_lmc(struct view *view)
{
	return ibsa__view_put(view, "%u\n", view->state.lmc);
}

static int put_sm_lid(struct view *view)
{
	return ibsa__view_put(view, "0x%x\n", view->state.sm_lid);
}

static int put_sm_sl(struct view *view)
{
	return ibsa__view_put(view, "%u\n", view->state.sm_sl);
}

static int put_state(struct view *view)
{
	static const char *const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"
	};
	const unsigned int state = view->state.port_state;

	return ibsa__view_put(view, "%u: %s\n", state,
			      state < sizeof(names) / sizeof(names[0])
				      ? names[state]
				      : "UNKNOWN");
}

static int put_phys_state(struct view *view)
{
	static const char *const names[] = { "<unknown>",
					     "Sleep",
					     "Polling",
					     "Disabled",
					     "PortConfigurationTraining",
					     "LinkUp",
					     "LinkErrorRecovery",
					     "Phy Test" };
	const unsigned int state = view->state.phys_state;

	return ibsa__view_put(view, "%u: %s\n", state,
			      state < sizeof(names) / sizeof(names[0])
				      ? names[state]
				      : "<unknown>");
}

/*
 * Write the file rate. A port without a link has the lowest rate, as in the
 * kernel.
 */
static int put_rate(struct view *view)
{
	const struct topo_port *port = view->port;
	const char *text = "";

	if (port->peer != NO_INDEX)
		text = ibsa__rate_text(port->rate.width, port->rate.speed);
	return ibsa__view_put(view, "%s\n",
			      *text ? text : "2.5 Gb/sec (1X SDR)");
}

static int put_cap_mask(struct view *view)
{
	return ibsa__view_put(
		view, "0x%08x\n",
		ibsa__port_capabilities(
			subnet_of(view),
			&view->fabric->first.subnet.ends[view->port->end]));
}

static int put_link_layer(struct view *view)
{
	return ibsa__view_put(view, "InfiniBand\n");
}

static uint64_t guid_at(const struct view *view)
{
	return ibsa__aliases_guid_at(&subnet_of(view)->aliases,
				     view->port->guid, view->index);
}

/*
 * Write the file of a GID. An empty entry is all zero; reading its type fails
 * with -EINVAL.
 */
static int put_gid(struct view *view)
{
	const uint64_t guid = guid_at(view);

	put_groups(view, guid ? ibsa_be64(view->state.gid.raw) : 0);
	ibsa__view_put(view, ":");
	put_groups(view, guid);
	return ibsa__view_put(view, "\n");
}

static int put_gid_type(struct view *view)
{
	if (!guid_at(view) && !view->is_copy)
		return -EINVAL;
	return ibsa__view_put(view, "IB/RoCE v1\n");
}

/* No network interface belongs to the GID. */
static int put_gid_interface(struct view *view)
{
	(void)view;
	return -EINVAL;
}

static int put_pkey(struct view *view)
{
	const struct end_setup *setup =
		&view->fabric->first.subnet.setups[view->port->end];

	return ibsa__view_put(view, "0x%04x\n", setup_pkey(setup, view->index));
}

static uint32_t gid_count(const struct view *view)
{
	return view->node->type == IBSA_NODE_SWITCH ? GUID_CAP_SWITCH
						    : GUID_CAP_ADAPTER;
}

static uint32_t pkey_count(const struct view *view)
{
	return setup_pkey_count(
		&view->fabric->first.subnet.setups[view->port->end]);
}

/*
 * Write a counter, as the kernel reads it from the PMA of the port: from
 * PortCountersExtended if it has 64 bits, otherwise from PortCounters.
 */
static int put_counter(struct view *view)
{
	const struct topo_port *ports = view->fabric->first.subnet.topo.ports;
	const ptrdiff_t port = view->port - ports;
	struct mad_net *net =
		&fabric_part_of(view->fabric, (uint32_t)port)->net;
	const struct file *file = view->file;
	const uint64_t most = UINT64_MAX >> (64 - file->nbits);
	const struct counters *counters = NULL;
	uint64_t value = 0;

	if (net->counters)
		counters =
			ibsa__counters(net, &net->subnet->topo.ports[port],
				       fabric_clock_now(&view->fabric->clock));
	if (counters)
		value = file->nbits == 64 ? counters->extended[file->counted]
					  : counters->plain[file->counted];
	return ibsa__view_put(view, "%" PRIu64 "\n",
			      value < most ? value : most);
}

/* clang-format off */
#define COUNTER(name, counted, nbits) \
	{ "counters/" name, put_counter, NULL, counted, nbits }
/* clang-format on */

const struct file ibsa__device_files[] = {
	{ "node_type", put_node_type, NULL, 0, 0 },
	{ "node_guid", put_node_guid, NULL, 0, 0 },
	{ "sys_image_guid", put_image_guid, NULL, 0, 0 },
	{ "node_desc", put_node_desc, NULL, 0, 0 },
	{ "fw_ver", put_version, NULL, 0, 0 },
	{ "hw_rev", put_revision, NULL, 0, 0 },
	{ "hca_type", ibsa__put_type, NULL, 0, 0 },
	{ "board_id", put_board, NULL, 0, 0 },
	{ "device/vendor", ibsa__put_pci_vendor, NULL, 0, 0 },
	{ "device/device", ibsa__put_pci_device, NULL, 0, 0 },
	{ "device/subsystem_vendor", ibsa__put_pci_vendor, NULL, 0, 0 },
	{ "device/subsystem_device", ibsa__put_pci_device, NULL, 0, 0 },
	{ "device/class", ibsa__put_pci_class, NULL, 0, 0 },
	{ "device/numa_node", ibsa__put_numa_node, NULL, 0, 0 },
	{ "device/modalias", ibsa__put_modalias, NULL, 0, 0 },
	{ "device/uevent", ibsa__put_uevent, NULL, 0, 0 },
};

const struct file ibsa__port_files[] = {
	{ "lid", put_lid, NULL, 0, 0 },
	{ "lid_mask_count", put_lmc, NULL, 0, 0 },
	{ "sm_lid", put_sm_lid, NULL, 0, 0 },
	{ "sm_sl", put_sm_sl, NULL, 0, 0 },
	{ "state", put_state, NULL, 0, 0 },
	{ "phys_state", put_phys_state, NULL, 0, 0 },
	{ "rate", put_rate, NULL, 0, 0 },
	{ "cap_mask", put_cap_mask, NULL, 0, 0 },
	{ "link_layer", put_link_layer, NULL, 0, 0 },
	COUNTER("symbol_error", COUNT_SYMBOL_ERRORS, 16),
	COUNTER("link_error_recovery", COUNT_LINK_RECOVERY, 8),
	COUNTER("link_downed", COUNT_LINK_DOWNED, 8),
	COUNTER("port_rcv_errors", COUNT_RCV_ERRORS, 16),
	COUNTER("port_rcv_remote_physical_errors", COUNT_REMOTE_PHYSICAL, 16),
	COUNTER("port_rcv_switch_relay_errors", COUNT_RELAY_ERRORS, 16),
	COUNTER("port_xmit_discards", COUNT_DISCARDS, 16),
	COUNTER("port_xmit_constraint_errors", COUNT_XMIT_CONSTRAINT, 8),
	COUNTER("port_rcv_constraint_errors", COUNT_RCV_CONSTRAINT, 8),
	COUNTER("local_link_integrity_errors", COUNT_LINK_INTEGRITY, 4),
	COUNTER("excessive_buffer_overrun_errors", COUNT_BUFFER_OVERRUN, 4),
	COUNTER("VL15_dropped", COUNT_VL15_DROPPED, 16),
	COUNTER("port_xmit_data", COUNT_XMIT_DATA, 64),
	COUNTER("port_rcv_data", COUNT_RCV_DATA, 64),
	COUNTER("port_xmit_packets", COUNT_XMIT_PKTS, 64),
	COUNTER("port_rcv_packets", COUNT_RCV_PKTS, 64),
	COUNTER("port_xmit_wait", COUNT_XMIT_WAIT, 32),
	COUNTER("unicast_rcv_packets", COUNT_UNICAST_RCV, 64),
	COUNTER("unicast_xmit_packets", COUNT_UNICAST_XMIT, 64),
	COUNTER("multicast_rcv_packets", COUNT_MULTICAST_RCV, 64),
	COUNTER("multicast_xmit_packets", COUNT_MULTICAST_XMIT, 64),
	{ "gids", put_gid, gid_count, 0, 0 },
	{ "gid_attrs/types", put_gid_type, gid_count, 0, 0 },
	{ "gid_attrs/ndevs", put_gid_interface, gid_count, 0, 0 },
	{ "pkeys", put_pkey, pkey_count, 0, 0 },
};

_Static_assert(sizeof(ibsa__device_files) ==
		       DEVICE_FILES * sizeof(*ibsa__device_files),
	       "files of a device");
_Static_assert(sizeof(ibsa__port_files) ==
		       PORT_FILES * sizeof(*ibsa__port_files),
	       "files of a port");
