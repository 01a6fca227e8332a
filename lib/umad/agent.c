/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The agents that a transport registers at its umad file, to receive MADs. */
#include <errno.h>

#include <ibsa/types.h>

#include "umad/transport.h"

/*
 * Maximum time in ms that the transport's listen operation waits for the
 * file's answer. If the answer comes later, a later call gets it.
 */
enum { ANSWER_MS = 250 };

enum {
	REPORTS = 1 << IBSA_METHOD_REPORT,
	REQUESTS = 1 << IBSA_METHOD_GET | 1 << IBSA_METHOD_SET |
		   1 << IBSA_METHOD_GET_TABLE | 1 << IBSA_METHOD_GET_MULTI |
		   1 << IBSA_METHOD_DELETE,
};

/*
 * The agents of a transport. An agent with an empty method mask receives only
 * replies to its own requests. For RMPP version 1, the kernel reassembles the
 * segments of replies.
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
 * Map the error from registering an agent. At a port, only one agent can
 * receive the MADs with a certain class and method. For a second agent, the
 * kernel returns EINVAL, which has no other cause in these requests and becomes
 * -EBUSY.
 */
static int agent_err(enum umad_agent_use use, int err)
{
	if (uses[use].methods && (err == -EINVAL || err == -EPERM))
		return -EBUSY;
	return err == -ENOTTY ? -ENODEV : err;
}

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

	if (!err || err == -EINPROGRESS)
		*out = (struct umad_agent){
			.id = request.id,
			.is_registered = !err,
			.is_asked = err,
		};
	return agent_err(use, err);
}

/*
 * Register an agent unless it is registered. If the file cannot answer at
 * once, wait up to @wait_ms. Return: 0; -EINPROGRESS the file has not answered
 * yet; or an error.
 */
static int agent_have(struct umad_transport *umad, enum umad_agent_use use,
		      int wait_ms)
{
	struct umad_agent *agent = &umad->agents[use];
	int err = 0;

	if (agent->is_registered)
		return 0;
	if (!agent->is_asked)
		err = ibsa__umad_agent_register(umad->file, use, agent);
	if (!agent->is_asked)
		return err;
	err = umad->file->ops->answer(umad->file, wait_ms, &agent->id);
	if (err == -EINPROGRESS)
		return err;
	agent->is_asked = false;
	agent->is_registered = !err;
	return agent_err(use, err);
}

/*
 * Register an agent that the transport cannot work without. Return: as
 * agent_have(); but if @wait_ms is below 0, -ETIMEDOUT instead of -EINPROGRESS.
 */
static int agent_need(struct umad_transport *umad, enum umad_agent_use use,
		      int wait_ms)
{
	int err = agent_have(umad, use, wait_ms);

	return err == -EINPROGRESS && wait_ms < 0 ? -ETIMEDOUT : err;
}

static int reports_end(struct umad_transport *umad)
{
	struct umad_agent *agent = &umad->agents[UMAD_AGENT_REPORTS];
	int err;

	if (!agent->is_registered)
		return 0;
	err = umad->file->ops->unregister_agent(umad->file, agent->id);
	if (err)
		return err == -ENOTTY ? -ENODEV : err;
	agent->is_registered = false;
	return 0;
}

void ibsa__umad_agents_answer(struct umad_transport *umad)
{
	int err = agent_have(umad, UMAD_AGENT_REPORTS, 0);

	if (err == -EPIPE)
		(void)ibsa__umad_lose(umad, -ENODEV);
	else if (err != -EINPROGRESS)
		umad->reports_err = err;
	/*
	 * The transport's user may have ended listening before the file
	 * answered: unregister the agent.
	 */
	if (!err && !umad->listens)
		(void)!reports_end(umad);
}

/*
 * Register the agent for Omni-Path MADs. If the file refuses it, the port does
 * not support Omni-Path MADs, and the transport works without this agent.
 */
static int opa_need(struct umad_transport *umad, int wait_ms)
{
	int err = agent_need(umad, UMAD_AGENT_OPA, wait_ms);

	return err == -EINPROGRESS ? err : 0;
}

int ibsa__umad_up(struct umad_transport *umad, int wait_ms)
{
	int err = agent_need(umad, UMAD_AGENT_SA, wait_ms);

	if (!err && umad->link == IBSA_LINK_OPA)
		err = opa_need(umad, wait_ms);
	if (!err && umad->serves)
		err = agent_need(umad, UMAD_AGENT_REQUESTS, wait_ms);
	if (err == -EINPROGRESS)
		return err;
	umad->is_open = true;
	umad->reports_err = 0;
	if (err) {
		ibsa__umad_shut(umad, false);
		return err;
	}
	/*
	 * If another program has registered for Reports first, the next call
	 * of the listen operation returns the error.
	 */
	if (umad->listens)
		(void)!agent_have(umad, UMAD_AGENT_REPORTS, 0);
	return 0;
}

/*
 * Register the agent for Reports. If the file does not answer in time, assume
 * that it accepts the agent: a later call of the listen operation returns the
 * file's answer.
 */
static int reports_begin(struct umad_transport *umad)
{
	const struct umad_agent *agent = &umad->agents[UMAD_AGENT_REPORTS];
	int err = umad->reports_err;

	umad->reports_err = 0;
	if (!err)
		err = agent_have(umad, UMAD_AGENT_REPORTS,
				 agent->is_asked ? 0 : ANSWER_MS);
	return err == -EINPROGRESS ? 0 : err;
}

int ibsa__umad_listen(struct ibsa_transport *transport, bool on)
{
	struct umad_transport *umad = umad_of(transport);
	int err = 0;

	/*
	 * A closed file has no agents, so to stop listening needs no request.
	 */
	if (umad->is_open || on)
		err = umad_have(umad);
	if (!err && on)
		err = reports_begin(umad);
	if (!on && umad->agents[UMAD_AGENT_REPORTS].is_asked)
		(void)!agent_have(umad, UMAD_AGENT_REPORTS, ANSWER_MS);
	if (!on)
		err = reports_end(umad);
	if (err == -EPIPE)
		err = ibsa__umad_lose(umad, -ENODEV);
	if (!err || !on)
		umad->listens = on;
	return err;
}

int ibsa__umad_serve(struct ibsa_transport *transport)
{
	struct umad_transport *umad = umad_of(transport);
	int err = umad_have(umad);

	if (!err)
		err = agent_need(umad, UMAD_AGENT_REQUESTS, -1);
	if (!err)
		umad->serves = true;
	return err;
}
