/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a transport registers for at its umad file. */
#include <errno.h>

#include <ibsa/sa.h>

#include "umad/transport.h"

enum {
	REPORTS = 1 << IBSA_METHOD_REPORT,
	REQUESTS = 1 << IBSA_METHOD_GET | 1 << IBSA_METHOD_SET |
		   1 << IBSA_METHOD_GET_TABLE | 1 << IBSA_METHOD_GET_MULTI |
		   1 << IBSA_METHOD_DELETE,
};

/*
 * An empty method mask asks for nothing but the replies to what this agent
 * sends; with RMPP version 1 the kernel puts their segments together.
 */
static const struct {
	uint8_t class_version;
	uint32_t methods; /* all below 32: one word */
} uses[UMAD_AGENTS] = {
	[UMAD_AGENT_SA] = { IBSA_CLASS_VERSION, 0 },
	[UMAD_AGENT_OPA] = { IBSA_CLASS_VERSION_OPA, 0 },
	[UMAD_AGENT_REPORTS] = { IBSA_CLASS_VERSION, REPORTS },
	[UMAD_AGENT_REQUESTS] = { IBSA_CLASS_VERSION, REQUESTS },
};

/*
 * A method of a class goes to one agent of a port. To a second one the kernel
 * says EINVAL, and there is nothing else in this request that it could mean.
 */
int ibsa__umad_agent_register(struct umad_file *file, enum umad_agent_use use,
			      struct umad_agent *out)
{
	struct umad_agent_request request = {
		.method_mask = { uses[use].methods },
		.qpn = IBSA_QPN_GSI,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = uses[use].class_version,
		.rmpp_version = 1,
	};
	int err = file->ops->register_agent(file, &request);

	if (!err)
		*out = (struct umad_agent){ request.id, true };
	if (uses[use].methods && (err == -EINVAL || err == -EPERM))
		return -EBUSY;
	return err == -ENOTTY ? -ENODEV : err;
}

static int agent_have(struct umad_transport *umad, enum umad_agent_use use)
{
	struct umad_agent *agent = &umad->agents[use];

	return agent->is_there
		       ? 0
		       : ibsa__umad_agent_register(umad->file, use, agent);
}

static int agent_end(struct umad_transport *umad, enum umad_agent_use use)
{
	struct umad_agent *agent = &umad->agents[use];
	int err;

	if (!agent->is_there)
		return 0;
	err = umad->file->ops->unregister_agent(umad->file, agent->id);
	if (err)
		return err == -ENOTTY ? -ENODEV : err;
	agent->is_there = false;
	return 0;
}

/* A file that refuses an agent for OPA MADs is one without. */
int ibsa__umad_up(struct umad_transport *umad)
{
	int err = agent_have(umad, UMAD_AGENT_SA);

	if (!err && umad->link == IBSA_LINK_OPA)
		(void)!agent_have(umad, UMAD_AGENT_OPA);
	if (!err && umad->serves)
		err = agent_have(umad, UMAD_AGENT_REQUESTS);
	umad->is_open = true;
	if (err) {
		ibsa__umad_drop(umad);
		return err;
	}
	/* If another program was quicker, the next listen will say so. */
	if (umad->listens)
		(void)!agent_have(umad, UMAD_AGENT_REPORTS);
	return 0;
}

int ibsa__umad_listen(struct ibsa_transport *transport, bool on)
{
	struct umad_transport *umad = umad_of(transport);
	int err = 0;

	/* A file that is closed listens to nothing by itself. */
	if (umad->is_open || on)
		err = ibsa__umad_have(umad);
	if (!err && umad->is_open)
		err = on ? agent_have(umad, UMAD_AGENT_REPORTS)
			 : agent_end(umad, UMAD_AGENT_REPORTS);
	if (!err || !on)
		umad->listens = on;
	return err;
}

int ibsa__umad_serve(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);
	int err = ibsa__umad_have(umad);

	if (!err)
		err = agent_have(umad, UMAD_AGENT_REQUESTS);
	if (!err)
		umad->serves = true;
	return err;
}
