/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The port as it was last read, and the SA's address in it. */
#include "base/clock.h"
#include "engine/state.h"

/* The port is read again at most so often, however many tries fail. */
enum { PORT_READ_MS = 100 };

/* Take the SA's address from the port, unless it was given. Return: whether
 * there is one. A port that needs a GRH has no SM to tell the GID of. */
static bool use_port(struct ibsa__engine *engine)
{
	const struct ibsa_port_state *port = &engine->port;

	if (engine->sa_given)
		return true;
	engine->sa = (struct ibsa_address){
		.lid = port->sm_lid,
		.qpn = IBSA_QPN_GSI,
		.pkey_index = port->pkey_index,
		.sl = port->sm_sl,
	};
	return port->sm_lid && port->sm_lid <= IBSA_LID_UNICAST_MAX &&
	       !port->needs_grh;
}

void ibsa__engine_read_port(struct ibsa__engine *engine)
{
	struct ibsa_port_state port;

	engine->port_read_ns = engine_now_ns(engine);
	if (!engine->transport->ops->port(engine->transport, &port))
		engine->port = port;
	engine->sa_known = use_port(engine);
}

void ibsa__engine_refresh(struct ibsa__engine *engine)
{
	uint64_t age_ns = engine_now_ns(engine) - engine->port_read_ns;

	if (age_ns >= PORT_READ_MS * NS_PER_MS)
		ibsa__engine_read_port(engine);
}

int ibsa__engine_port(struct ibsa__engine *engine, bool refresh,
		      struct ibsa_port_state *out)
{
	struct ibsa_port_state port = engine->port;

	if (refresh) {
		int err = engine->transport->ops->port(engine->transport,
						       &port);

		if (err)
			return err;
		engine->port = port;
		engine->sa_known = use_port(engine);
	}
	*out = port;
	return 0;
}
