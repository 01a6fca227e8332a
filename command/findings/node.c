/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks whether this machine can use its fabric. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/defaults.h"
#include "findings/finding.h"
#include "findings/node.h"
#include "output/codes.h"
#include "session/query_wait.h"

void node_finding_add(struct node_check *check, enum ibsa_finding_kind kind,
		      const struct machine_port *port, const char *peer,
		      const char *format, ...)
{
	struct node_finding *added = list_add(&check->findings, &check->count,
					      sizeof(*added));
	va_list args;

	check->out_of_memory |= !added;
	if (!added)
		return;
	va_start(args, format);
	*added = (struct node_finding){
		.finding = check_finding(kind, 0, port ? port->number : 0,
					 format, args),
		.port = port,
		.peer = peer,
	};
	va_end(args);
}

void port_down_add(struct node_check *check, const struct machine_port *port,
		   const char *more)
{
	char where[MACHINE_PORT_TEXT];
	char state[CODE_TEXT], phys[CODE_TEXT];

	node_finding_add(
		check, IBSA_FINDING_PORT_DOWN, port, NULL,
		"%s is not active: state %s, physical state %s%s",
		machine_port_text(port, where),
		codes_name(IBSA_SHOW_port_state, port->state.port_state, state),
		codes_name(IBSA_SHOW_phys_state, port->state.phys_state, phys),
		more);
}

static void state_check(struct node_check *check, struct port_check *at)
{
	const struct machine_port *port = at->port;
	char where[MACHINE_PORT_TEXT];

	if (port->err)
		node_finding_add(check, IBSA_FINDING_PORT_DOWN, port, NULL,
				 "%s cannot be read: %s",
				 machine_port_text(port, where),
				 strerror(-port->err));
	else if (port->state.port_state == IBSA_PORT_DOWN &&
		 !machine_port_is_expected(check->cli, port))
		at->is_doubtful = true;
	else if (!machine_port_is_active(port))
		port_down_add(check, port, "");
}

static void rate_check(struct node_check *check,
		       const struct machine_port *port)
{
	const struct rate_limit *limit = &check->options->rate;
	char where[MACHINE_PORT_TEXT];
	char wanted[RATE_LIMIT_TEXT], has[RATE_LIMIT_TEXT];
	unsigned int tenths;

	machine_port_text(port, where);
	rate_limit_text(limit, wanted);
	if (limit->kind == RATE_ANY)
		return;
	if (!rate_of_port(port->rate, &tenths))
		node_finding_add(check, IBSA_FINDING_RATE_LOW, port, NULL,
				 "the rate of %s is unknown, expected is %s",
				 where, wanted);
	else if (!rate_limit_fits(limit, tenths))
		node_finding_add(check, IBSA_FINDING_RATE_LOW, port, NULL,
				 "%s runs at %s Gb/s, expected is %s", where,
				 tenths_text(tenths, has), wanted);
}

/*
 * Whether a port has the P_Key. If the wanted P_Key has full membership, the
 * port's must have it, too; otherwise limited membership is enough.
 */
static bool has_pkey(const struct machine_port *port, uint16_t sought)
{
	for (size_t i = 0; i < port->pkey_count; i++)
		if ((port->pkeys[i] | IBSA_PKEY_FULL) ==
			    (sought | IBSA_PKEY_FULL) &&
		    (port->pkeys[i] & IBSA_PKEY_FULL ||
		     !(sought & IBSA_PKEY_FULL)))
			return true;
	return false;
}

static bool has_limited_pkey(const struct machine_port *port, uint16_t sought)
{
	return has_pkey(port, sought & (uint16_t)~IBSA_PKEY_FULL);
}

static void pkeys_check(struct node_check *check,
			const struct machine_port *port)
{
	const struct pkey_list *pkeys = &check->options->pkeys;
	char where[MACHINE_PORT_TEXT];

	machine_port_text(port, where);
	for (int i = 0; i < pkeys->count; i++)
		if (!has_pkey(port, pkeys->all[i]))
			node_finding_add(
				check, IBSA_FINDING_NO_PKEY, port, NULL,
				has_limited_pkey(port, pkeys->all[i])
					? "%s is only a limited member of "
					  "P_Key 0x%04x, and --pkey requires "
					  "full membership"
					: "%s does not have P_Key 0x%04x",
				where, pkeys->all[i]);
}

/* The reply to a query for ClassPortInfo. */
struct sa_answer {
	struct answers *answers;
	enum ibsa_outcome outcome;
	uint16_t status;
	uint64_t rtt_ns;
	struct ibsa_error why;
};

static void sa_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct sa_answer *answer = arg;

	answer->outcome = ibsa_reply_outcome(reply);
	answer->status = reply->status;
	answer->rtt_ns = reply->rtt_ns;
	answers_count(answer->answers, reply->err, reply->status);
	ibsa_reply_explain(reply, &answer->why);
}

/* Return: whether the SA answers. */
static bool sa_check(struct node_check *check, struct port_check *at)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct sa_answer answer = {
		.answers = check->answers,
		.outcome = IBSA_OUTCOME_UNREACHABLE,
	};
	char where[MACHINE_PORT_TEXT];
	char target[SA_TARGET_TEXT];
	int err = ibsa_query_wait(at->client, &query, sa_note_reply, &answer);

	at->rtt_ns = answer.rtt_ns;
	if (answer.outcome == IBSA_OUTCOME_OK)
		return true;
	machine_port_text(at->port, where);
	if (answer.outcome == IBSA_OUTCOME_REFUSED &&
	    answer_is_of_no_sa(answer.status))
		node_finding_add(check, IBSA_FINDING_NO_SA, at->port, NULL,
				 "no SA runs at %s, to which %s sends: the "
				 "node there refuses ClassPortInfo with status "
				 "0x%04x; check that the subnet manager runs",
				 sa_target_text(check->cli, &at->port->state,
						target),
				 where, answer.status);
	else
		node_finding_add(
			check, IBSA_FINDING_NO_SA, at->port, NULL,
			"the SA does not return its ClassPortInfo to port %s: %s",
			where,
			*answer.why.text ? answer.why.text : strerror(-err));
	return false;
}

/* Store the first reason why something could not be checked. */
static void uncheckable(struct node_check *check, const char *format, ...)
{
	va_list args;

	if (check->why.text[0])
		return;
	va_start(args, format);
	vsnprintf(check->why.text, sizeof(check->why.text), format, args);
	va_end(args);
}

static void sm_and_sa_check(struct node_check *check, struct port_check *at)
{
	const struct machine_port *port = at->port;
	struct ibsa_error error = { .text = "" };
	char where[MACHINE_PORT_TEXT];
	int err;

	if (port->state.link == IBSA_LINK_ETHERNET &&
	    !check->cli->open.access.sa)
		return;
	if (!ibsa_port_has_sm(&port->state) && !check->cli->open.access.sa) {
		node_finding_add(check, IBSA_FINDING_NO_SM, port, NULL,
				 "no subnet manager has configured %s",
				 machine_port_text(port, where));
		return;
	}
	err = machine_open(check->cli, &check->machine, port, &error,
			   &at->client);
	if (err) {
		at->client = NULL;
		uncheckable(check, "the SA cannot be checked: %s",
			    error.text[0] ? error.text : strerror(-err));
	} else if (!sa_check(check, at)) {
		(void)ibsa_close(at->client);
		at->client = NULL;
	}
}

static void port_check(struct node_check *check, struct port_check *at)
{
	if (at->port->role == ROLE_MANAGEMENT &&
	    (at->port->is_role_given ||
	     !machine_port_is_expected(check->cli, at->port))) {
		at->left_out = at->port->role_reason;
		return;
	}
	state_check(check, at);
	if (!machine_port_is_active(at->port))
		return;
	rate_check(check, at->port);
	pkeys_check(check, at->port);
	sm_and_sa_check(check, at);
}

static void ports_check(struct node_check *check)
{
	check->ports = calloc(check->machine.count, sizeof(*check->ports));
	check->out_of_memory |= !check->ports;
	progress_start(&check->progress);
	for (size_t i = 0; check->ports && i < check->machine.count; i++) {
		progress_count(&check->progress, i, check->machine.count);
		check->ports[i].port = &check->machine.ports[i];
		port_check(check, &check->ports[i]);
	}
	if (check->ports) {
		down_ports_check(check);
		peers_check(check);
	}
	progress_end();
	if (check->out_of_memory)
		uncheckable(check, "out of memory");
}

int node_check_run(struct node_check *check, struct ibsa_error *error)
{
	struct cli *cli = check->cli;
	int status;

	if (!cli->open.deadline_ms)
		cli->open.deadline_ms = CLI_DEFAULT_CHECK_MS;
	status = machine_read(cli, error, &check->machine);
	if (status == CLI_DONE)
		status = peers_fit(check);
	if (status == CLI_DONE)
		ports_check(check);
	return check->is_wrong ? CLI_USAGE : status;
}

void node_check_end(struct node_check *check)
{
	for (size_t i = 0; check->ports && i < check->machine.count; i++)
		(void)ibsa_close(check->ports[i].client);
	free(check->ports);
	free(check->findings);
	expected_free(&check->expected);
	peers_free(check);
	machine_free(&check->machine);
}
