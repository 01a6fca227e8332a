/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What takes the MADs that have come to a port: the agents that every port
 * has, the SA, and umad files. Each fills in a handler.
 */
#ifndef SIM_MAD_PORT_H
#define SIM_MAD_PORT_H

#include "sim/mad/queue.h"

struct port_handler {
	struct port_handler *next;
	/* Return: whether the MAD was for it; if not, the next is asked. */
	bool (*take)(void *arg, const struct message *message,
		     const struct arrival *at, uint64_t now_ns);
	/* NULL, or: whether it has that queue pair at that end port, besides
	 * those that every port has. */
	bool (*has_qp)(void *arg, uint32_t end, uint32_t qpn);
	/* NULL, or: a MAD arrives at the port later, or is sent to it later. */
	void (*expect)(void *arg);
	/* NULL, or: do what is due by @now_ns. */
	void (*settle)(void *arg, uint64_t now_ns);
	/* When the next is due that may reach that end port; with settle. */
	uint64_t (*due)(void *arg, uint32_t end);
	void *arg;
};

static inline bool port_handlers_have_qp(const struct port_handler *handler,
					 uint32_t end, uint32_t qpn)
{
	for (; handler; handler = handler->next) {
		if (handler->has_qp && handler->has_qp(handler->arg, end, qpn))
			return true;
	}
	return false;
}

static inline void port_handlers_expect(const struct port_handler *handler)
{
	for (; handler; handler = handler->next) {
		if (handler->expect)
			handler->expect(handler->arg);
	}
}

/* Sees each MAD between ports as it leaves its port. */
struct mad_tap {
	void (*seen)(void *arg, const struct message *message, uint64_t now_ns);
	void *arg;
};

/* Ask @handler and those after it. Return: whether one has taken the MAD. */
static inline bool port_handlers_take(const struct port_handler *handler,
				      const struct message *message,
				      const struct arrival *at, uint64_t now_ns)
{
	while (handler && !handler->take(handler->arg, message, at, now_ns))
		handler = handler->next;
	return handler;
}

#endif
