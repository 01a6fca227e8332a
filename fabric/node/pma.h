/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Performance management agents, which report the counters of ports. */
#ifndef FABRIC_NODE_PMA_H
#define FABRIC_NODE_PMA_H

#include "fabric/node/sma.h"

/*
 * Answer a Get or Set of class 0x04 (performance management). This function is
 * the member take of a struct port_handler.
 */
bool ibsa__pma_take(void *arg, const struct message *message,
		    const struct arrival *at, uint64_t now_ns);

#endif
