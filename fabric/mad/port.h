/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handlers of the MADs that arrive at a port. The agents that every port has,
 * the SA, and umad files each provide a struct port_handler.
 */
#ifndef FABRIC_MAD_PORT_H
#define FABRIC_MAD_PORT_H

#include "fabric/mad/queue.h"

struct port_handler {
	struct port_handler *next;
	/*
	 * Offer an arrived MAD to the handler. Return: whether the MAD was for
	 * this handler; if not, the next handler is called.
	 */
	bool (*take)(void *arg, const struct message *message,
		     const struct arrival *at, uint64_t now_ns);
	/*
	 * Return: whether the handler has this queue pair at this end port. The
	 * queue pairs 0 and 1, which every port has, are not meant. May be
	 * NULL.
	 */
	bool (*has_qp)(void *arg, uint32_t end, uint32_t qpn);
	/*
	 * Called when a MAD was sent that will arrive at the port later. May
	 * be NULL.
	 */
	void (*expect)(void *arg);
	/* Process what is due at the handler by @now_ns. May be NULL. */
	void (*settle)(void *arg, uint64_t now_ns);
	/*
	 * Return: the next time at which settle must be called for this end
	 * port. If settle is not NULL, due is not NULL, too.
	 */
	uint64_t (*due)(void *arg, uint32_t end);
	void *arg;
};

/*
 * The handler of responses, called before all others. The handler may take the
 * message's body: the message then has no body.
 */
struct response_handler {
	bool (*take)(void *arg, struct message *message,
		     const struct arrival *at);
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

/*
 * A function that is called with each MAD between ports when it leaves its
 * port.
 */
struct mad_tap {
	void (*seen)(void *arg, const struct message *message, uint64_t now_ns);
	void *arg;
};

/*
 * Offer a MAD to @handler and the handlers after it until one of these takes
 * it. Return: whether one has taken it.
 */
static inline bool port_handlers_take(const struct port_handler *handler,
				      const struct message *message,
				      const struct arrival *at, uint64_t now_ns)
{
	while (handler && !handler->take(handler->arg, message, at, now_ns))
		handler = handler->next;
	return handler;
}

#endif
