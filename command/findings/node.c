/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa check node: checks whether this machine can use its fabric. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "check/check.h"
#include "findings/node.h"
#include "output/columns.h"
#include "output/fields.h"
#include "output/nagios.h"
#include "base/rate.h"

enum { DEADLINE_MS = 2000 };

void node_finding_add(struct node_check *check, enum ibsa_finding_kind kind,
		      const struct machine_port *port, const char *peer,
		      const char *format, ...)
{
	struct node_finding *findings = reallocarray(
		check->findings, check->count + 1, sizeof(*findings));
	va_list args;

	check->out_of_memory |= !findings;
	if (!findings)
		return;
	check->findings = findings;
	va_start(args, format);
	findings[check->count++] = (struct node_finding){
		.finding = check_finding(kind, 0, port ? port->number : 0,
					 format, args),
		.port = port,
		.peer = peer,
	};
	va_end(args);
}

static bool is_active(const struct machine_port *port)
{
	return !port->err && port->state.port_state == IBSA_PORT_ACTIVE;
}

static void state_check(struct node_check *check,
			const struct machine_port *port)
{
	const struct ibsa_port_info info = {
		.port_state = port->state.port_state,
		.port_physical_state = port->state.phys_state,
	};
	char where[MACHINE_PORT_TEXT];
	char state[IBSA_VALUE_TEXT], phys[IBSA_VALUE_TEXT];

	machine_port_text(port, where);
	if (port->err)
		node_finding_add(check, IBSA_FINDING_PORT_DOWN, port, NULL,
				 "%s cannot be read: %s", where,
				 strerror(-port->err));
	else if (!is_active(port))
		node_finding_add(
			check, IBSA_FINDING_PORT_DOWN, port, NULL,
			"%s is not active: state %s, physical state %s", where,
			fields_text(&ibsa_port_info_record, "port_state", &info,
				    state),
			fields_text(&ibsa_port_info_record,
				    "port_physical_state", &info, phys));
}

static void rate_check(struct node_check *check,
		       const struct machine_port *port)
{
	const struct rate_limit *limit = &check->cli->check.rate;
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
	const struct check_options *options = &check->cli->check;
	char where[MACHINE_PORT_TEXT];

	machine_port_text(port, where);
	for (int i = 0; i < options->pkey_count; i++)
		if (!has_pkey(port, options->pkeys[i]))
			node_finding_add(
				check, IBSA_FINDING_NO_PKEY, port, NULL,
				has_limited_pkey(port, options->pkeys[i])
					? "%s is only a limited member of "
					  "P_Key 0x%04x, and --pkey requires "
					  "full membership"
					: "%s does not have P_Key 0x%04x",
				where, options->pkeys[i]);
}

/* The reply to a query for ClassPortInfo. */
struct sa_answer {
	struct answers *answers;
	enum ibsa_outcome outcome;
	uint64_t rtt_ns;
	struct ibsa_error why;
};

static void sa_note_reply(const struct ibsa_reply *reply, void *arg)
{
	struct sa_answer *answer = arg;

	answer->outcome = ibsa_reply_outcome(reply);
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
	int err = ibsa_query_wait(at->client, &query, sa_note_reply, &answer);

	at->rtt_ns = answer.rtt_ns;
	if (answer.outcome == IBSA_OUTCOME_OK)
		return true;
	node_finding_add(check, IBSA_FINDING_NO_SA, at->port, NULL,
			 "the SA does not return its ClassPortInfo to %s: %s",
			 machine_port_text(at->port, where),
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
	state_check(check, at->port);
	if (!is_active(at->port))
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
	if (check->ports)
		peers_check(check);
	progress_end();
	if (check->out_of_memory)
		uncheckable(check, "out of memory");
}

static void finding_row(struct out *out, size_t index, void *arg)
{
	const struct node_check *check = arg;
	const struct node_finding *row = &check->findings[index];
	char text[IBSA_VALUE_TEXT];

	out_text(out, "finding", row->finding.name);
	out_text(out, "severity", check_severity_text(row->finding.severity));
	if (row->port)
		out_text(out, "device", fields_clean(row->port->device, text));
	else
		out_none(out, "device");
	if (row->port)
		out_count(out, "port", row->finding.port);
	else
		out_none(out, "port");
	if (row->peer)
		out_text(out, "peer", fields_clean(row->peer, text));
	else
		out_none(out, "peer");
	out_text(out, "what", row->finding.what.text);
}

static void port_data_add(struct nagios *nagios, const struct node_check *check,
			  const struct port_check *at)
{
	const struct rate_limit *limit = &check->cli->check.rate;
	char where[MACHINE_PORT_TEXT];
	char label[MACHINE_PORT_TEXT + 8];
	char has[RATE_LIMIT_TEXT], wanted[RATE_LIMIT_TEXT];
	unsigned int tenths;

	machine_port_text(at->port, where);
	snprintf(label, sizeof(label), "rate %s", where);
	tenths_text(limit->tenths, wanted);
	if (is_active(at->port) && rate_of_port(at->port->rate, &tenths)) {
		tenths_text(tenths, has);
		/*
		 * A threshold "400:" means: warn below 400. There is no
		 * threshold that means "warn at or below", for RATE_ABOVE.
		 */
		if (limit->kind == RATE_AT_LEAST)
			nagios_add(nagios, label, "%s;%s:", has, wanted);
		else if (limit->kind == RATE_EXACTLY)
			nagios_add(nagios, label, "%s;%s:%s", has, wanted,
				   wanted);
		else
			nagios_add(nagios, label, "%s", has);
	}
	snprintf(label, sizeof(label), "sa %s", where);
	if (at->rtt_ns)
		nagios_add(nagios, label, "%.3fms", (double)at->rtt_ns / 1e6);
}

/* Return: the first finding of the highest severity, or NULL. */
static const struct ibsa_finding *worst_finding(const struct node_check *check)
{
	const struct ibsa_finding *worst = NULL;

	for (size_t i = check->count; i-- > 0;) {
		const struct ibsa_finding *finding =
			&check->findings[i].finding;

		if (!worst || finding->severity >= worst->severity)
			worst = finding;
	}
	return worst;
}

static int nagios_report(struct node_check *check)
{
	const struct ibsa_finding *worst = worst_finding(check);
	const size_t ports = check->machine.count;
	struct nagios nagios = { .len = 0 };
	char text[sizeof(worst->what.text) + 64];

	nagios_add(&nagios, "findings", "%zu", check->count);
	nagios_add(&nagios, "ports", "%zu", ports);
	nagios_add(&nagios, "peers", "%zu", check->peer_count);
	for (size_t i = 0; i < ports && check->ports; i++)
		port_data_add(&nagios, check, &check->ports[i]);
	check->cli->check.is_reported = true;
	if (worst) {
		snprintf(text, sizeof(text), "%zu %s, %s: %s", check->count,
			 check->count == 1 ? "finding" : "findings",
			 worst->name, worst->what.text);
		return nagios_print(&nagios, &check->cli->out,
				    worst->severity == IBSA_SEVERITY_CRITICAL
					    ? NAGIOS_CRITICAL
					    : NAGIOS_WARNING,
				    text);
	}
	if (check->why.text[0])
		return nagios_print(&nagios, &check->cli->out, NAGIOS_UNKNOWN,
				    check->why.text);
	snprintf(text, sizeof(text), "%zu %s, %zu %s", ports,
		 ports == 1 ? "port" : "ports", check->peer_count,
		 check->peer_count == 1 ? "peer" : "peers");
	return nagios_print(&nagios, &check->cli->out, NAGIOS_OK, text);
}

/*
 * If a port is down while another one is active, print how to select ports: a
 * port that is down is a finding unless the user names other ports.
 */
static void unused_port_explain(const struct node_check *check)
{
	const struct machine_port *down = NULL;
	char where[MACHINE_PORT_TEXT];
	bool has_active = false;

	for (size_t i = 0; i < check->machine.count; i++) {
		const struct machine_port *port = &check->machine.ports[i];

		has_active |= is_active(port);
		if (!port->err && port->state.port_state == IBSA_PORT_DOWN)
			down = port;
	}
	if (down && has_active)
		complain("if port %s is unused, select the port in use with "
			 "--device and --port",
			 machine_port_text(down, where));
}

/*
 * If something cannot be checked and nothing was found, there is no output: an
 * empty array or a header alone would mean that there are no findings.
 */
static int report(struct node_check *check)
{
	struct out *out = &check->cli->out;

	if (check->cli->check.nagios)
		return nagios_report(check);
	if (check->count || (out_is_data(out) && !check->why.text[0]))
		out_rows(out, check->count, finding_row, check);
	unused_port_explain(check);
	if (check->why.text[0])
		complain("%s", check->why.text);
	return check->why.text[0] ? CLI_DEVICE
	       : check->count	  ? CLI_NO
				  : CLI_DONE;
}

/*
 * Report why the check was not made. A monitoring plugin reports a missing port
 * or device as critical.
 */
static int not_run(struct node_check *check, int status,
		   const struct ibsa_error *error)
{
	struct nagios nagios = { .len = 0 };

	if (!error->text[0])
		return status;
	if (!check->cli->check.nagios || !check->machine.is_missing) {
		complain("%s", error->text);
		return status;
	}
	check->cli->check.is_reported = true;
	return nagios_print(&nagios, &check->cli->out, NAGIOS_CRITICAL,
			    error->text);
}

int node_check_run(struct node_check *check, struct ibsa_error *error)
{
	struct cli *cli = check->cli;
	int status;

	if (!cli->open.deadline_ms)
		cli->open.deadline_ms = DEADLINE_MS;
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
	peers_free(check);
	machine_free(&check->machine);
}

int check_node(struct cli *cli)
{
	struct node_check check = { .cli = cli };
	struct ibsa_error error;
	int status = columns_use(cli, &columns_check_node);

	if (status == CLI_DONE)
		status = peers_parse(&check);
	if (status == CLI_DONE) {
		status = node_check_run(&check, &error);
		status = status == CLI_DONE ? report(&check)
					    : not_run(&check, status, &error);
	}
	node_check_end(&check);
	return status;
}

void check_node_details(struct cli *cli)
{
	static const char *const lines[] = {
		"With node, checks the ports of this machine: that each is "
		"active, that the SM",
		"and the SA answer, and that the SA has a path to each PEER (a "
		"node's name, GID,",
		"port GUID or LID).",
		"",
		"Prints a line for each finding. The exit status is 0 without "
		"findings, 1 with",
		"findings.",
		"",
		"  ibsa check node",
		"  ibsa check node --rate '>=400' --pkey 0x8001 storage1 "
		"storage2",
		"  ibsa check node -C mlx5_0 --nagios --peers /etc/peers",
		"",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		out_line(&cli->out, "%s", lines[i]);
}
