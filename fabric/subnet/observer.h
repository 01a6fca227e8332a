/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Callbacks for changes in a subnet. */
#ifndef FABRIC_SUBNET_OBSERVER_H
#define FABRIC_SUBNET_OBSERVER_H

#include <stdint.h>

struct end_port;
struct topo_port;

enum subnet_change_kind {
	CHANGE_LINK_DOWNED, /* the link of @port went down */
	CHANGE_SWEPT,	    /* the SM has finished a sweep */
	/* The change is that a link of the switch @end went up or down. */
	CHANGE_LINK,
	CHANGE_CAPABILITIES, /* of @end, to @capability_mask */
	CHANGE_PORT_LOST,    /* @end left the subnet */
	/*
	 * All ports were reported that left the subnet: this change comes after
	 * the last CHANGE_PORT_LOST.
	 */
	CHANGE_PORTS_LOST,
	CHANGE_PORT_FOUND, /* @end joined the subnet */
};

struct subnet_change {
	enum subnet_change_kind kind;
	const struct topo_port *port;
	const struct end_port *end;
	uint32_t capability_mask;
};

struct subnet_observer {
	struct subnet_observer *next;
	void (*observe)(void *arg, const struct subnet_change *change);
	void *arg;
};

#endif
