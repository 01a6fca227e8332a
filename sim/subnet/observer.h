/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What has changed in a subnet, for those above it that have to act on it. */
#ifndef SIM_SUBNET_OBSERVER_H
#define SIM_SUBNET_OBSERVER_H

#include <stdint.h>

struct end_port;
struct topo_port;

enum subnet_change_kind {
	CHANGE_LINK_DOWNED,  /* @port */
	CHANGE_SWEPT,	     /* the SM has looked around */
	CHANGE_LINK,	     /* one of the links of the switch @end */
	CHANGE_CAPABILITIES, /* of @end, to @capability_mask */
	CHANGE_PORT_LOST,    /* @end, which the SM has known */
	CHANGE_PORTS_LOST,   /* all that are lost were reported */
	CHANGE_PORT_FOUND,   /* @end, which is new to the SM */
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
