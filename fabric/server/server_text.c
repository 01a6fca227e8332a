/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The contents of an adapter's sysfs files, written from the present state of
 * the fabric.
 *
 * Source: Linux Documentation/ABI/stable/sysfs-class-infiniband; the order and
 * format of the contents are those of drivers/infiniband/core/sysfs.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

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

static int put_type(struct view *view)
{
	return ibsa__view_put(view, "ibsa\n");
}

/*
 * Write the file uevent. A client recognizes Omni-Path by the driver's name in
 * it.
 */
static int put_uevent(struct view *view)
{
	return ibsa__view_put(view, "DRIVER=%s\n",
			      view->fabric->first.subnet.is_opa ? "hfi1"
								: "ibsa");
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
	return ibsa__view_put(view, "%s\n", *text ? text : "2.5 Gb/sec (1X)");
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
	if (!guid_at(view))
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

const struct file ibsa__device_files[] = {
	{ "node_type", put_node_type, NULL },
	{ "node_guid", put_node_guid, NULL },
	{ "sys_image_guid", put_image_guid, NULL },
	{ "node_desc", put_node_desc, NULL },
	{ "fw_ver", put_version, NULL },
	{ "hw_rev", put_revision, NULL },
	{ "hca_type", put_type, NULL },
	{ "board_id", put_type, NULL },
	{ "device/uevent", put_uevent, NULL },
};

const struct file ibsa__port_files[] = {
	{ "lid", put_lid, NULL },
	{ "lid_mask_count", put_lmc, NULL },
	{ "sm_lid", put_sm_lid, NULL },
	{ "sm_sl", put_sm_sl, NULL },
	{ "state", put_state, NULL },
	{ "phys_state", put_phys_state, NULL },
	{ "rate", put_rate, NULL },
	{ "cap_mask", put_cap_mask, NULL },
	{ "link_layer", put_link_layer, NULL },
	{ "gids", put_gid, gid_count },
	{ "gid_attrs/types", put_gid_type, gid_count },
	{ "gid_attrs/ndevs", put_gid_interface, gid_count },
	{ "pkeys", put_pkey, pkey_count },
};

_Static_assert(sizeof(ibsa__device_files) ==
		       DEVICE_FILES * sizeof(*ibsa__device_files),
	       "files of a device");
_Static_assert(sizeof(ibsa__port_files) ==
		       PORT_FILES * sizeof(*ibsa__port_files),
	       "files of a port");
