/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa doctor: checks of the SA's answers. */
#include <errno.h>
#include <string.h>

#include "base/defaults.h"
#include "doctor/query.h"
#include "output/fields.h"
#include "session/answers.h"
#include "session/query_wait.h"

/* Query the SA's ClassPortInfo, which every SA returns to any client. */
static struct answer info_query(const struct visit *visit,
				struct ibsa_client *client)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};

	return doctor_query(visit->doctor, client, &query, NULL, NULL);
}

/*
 * Query the port's own P_Key table, which OpenSM returns to trusted requests
 * only. The query is not possible with Omni-Path LIDs, which do not fit the
 * record, or at a RoCE port, which has no LID.
 */
static struct answer pkeys_query(const struct visit *visit,
				 struct ibsa_client *client)
{
	const struct answer unasked = {
		.outcome = IBSA_OUTCOME_UNREACHABLE,
		.err = -EOPNOTSUPP,
	};
	const uint32_t lid = visit->state->lid;
	const struct ibsa_pkey_table own = { .lid = (uint16_t)lid };
	const struct ibsa_query query = {
		.record = &ibsa_pkey_table_record,
		.match = &own,
		.mask = IBSA_PKEY_TABLE_CM(lid) | IBSA_PKEY_TABLE_CM(block_num),
	};

	return lid && lid <= IBSA_LID_UNICAST_MAX
		       ? doctor_query(visit->doctor, client, &query, NULL, NULL)
		       : unasked;
}

/* Open a client at this port, with the options of the command line. */
static int port_open(const struct visit *visit, uint64_t sm_key,
		     struct ibsa_error *error, struct ibsa_client **out)
{
	struct ibsa_options options = visit->doctor->cli->open;

	options.device = visit->device;
	options.port = (unsigned int)visit->spot.port;
	options.on = visit->fabric;
	options.access.sm_key = sm_key;
	if (!options.deadline_ms)
		options.deadline_ms = CLI_DEFAULT_DOCTOR_MS;
	return ibsa_open(&options, error, out);
}

/* Whether a signal ended the query. */
static bool is_cut_short(const struct visit *visit, const char *name,
			 const struct answer *answer)
{
	if (answer->err != -ECANCELED)
		return false;
	doctor_skip(visit->doctor, &visit->spot, name, "interrupted");
	return true;
}

static void sa_failed(const struct visit *visit, const struct answer *answer)
{
	struct doctor *doctor = visit->doctor;
	const unsigned int waited = doctor->cli->open.deadline_ms;
	char target[SA_TARGET_TEXT];

	if (is_cut_short(visit, "sa", answer))
		return;
	if (answer->err == -ETIMEDOUT)
		doctor_wrong(doctor, &visit->spot, "sa", CLI_SILENT,
			     "check that the subnet manager runs and has done "
			     "its first sweep, or wait longer with --timeout",
			     "no answer in %u ms (%u %s)",
			     waited ? waited : CLI_DEFAULT_DOCTOR_MS,
			     answer->tries,
			     answer->tries == 1 ? "try" : "tries");
	else if (answer->err == -EAGAIN || answer->err == -ENETDOWN)
		doctor_wrong(doctor, &visit->spot, "sa", CLI_SILENT,
			     "check the cable and the subnet manager", "%s",
			     answer->why.text);
	else if (answer->err)
		doctor_wrong(doctor, &visit->spot, "sa", CLI_SILENT,
			     "try again, and see the kernel log (dmesg)",
			     "no answer: %s", strerror(-answer->err));
	else if (answer->outcome == IBSA_OUTCOME_BUSY)
		doctor_wrong(doctor, &visit->spot, "sa", CLI_SILENT,
			     "try again later, or wait longer with --timeout",
			     "the SA is busy");
	else if (answer->status & IBSA_STATUS_REDIRECT)
		doctor_wrong(doctor, &visit->spot, "sa", CLI_REFUSED,
			     "name the SA that it redirects to with --sa", "%s",
			     answer->why.text);
	else if (answer_is_of_no_sa(answer->status))
		doctor_wrong(doctor, &visit->spot, "sa", CLI_REFUSED,
			     "check that the subnet manager runs; if --sa is "
			     "given, that it is the address of the SA",
			     "no SA runs at %s: the node there refuses "
			     "ClassPortInfo (status 0x%04x)",
			     sa_target_text(doctor->cli, visit->state, target),
			     answer->status);
	else
		doctor_wrong(doctor, &visit->spot, "sa", CLI_REFUSED,
			     "if --sa is given, check that it is the address "
			     "of the SA",
			     "the SA refuses ClassPortInfo: %s (status 0x%04x)",
			     ibsa_status_text(answer->status), answer->status);
}

/*
 * Check whether the SA answers a request without an SM_Key. Return: whether it
 * does.
 */
static bool sa_check(const struct visit *visit, struct ibsa_client *client)
{
	const struct answer answer = info_query(visit, client);

	if (answer.outcome != IBSA_OUTCOME_OK) {
		sa_failed(visit, &answer);
		return false;
	}
	doctor_ok(visit->doctor, &visit->spot, "sa",
		  "the SA answers in %.3f ms%s", (double)answer.rtt_ns / 1e6,
		  answer.tries > 1 ? ", after a retry" : "");
	return true;
}

enum trust { TRUSTED, UNTRUSTED, UNTOLD };

/*
 * Return: whether the SA trusts the request. Every port has a P_Key table: if
 * the SA returns no record, it may hide the table.
 */
static enum trust answer_trust(const struct answer *answer)
{
	if (answer->outcome == IBSA_OUTCOME_OK)
		return TRUSTED;
	if (answer->err)
		return UNTOLD;
	switch (answer->status) {
	case IBSA_STATUS_TOO_MANY_RECORDS:
		return TRUSTED;
	case IBSA_STATUS_REQ_INVALID:
	case IBSA_STATUS_REQ_DENIED:
		return UNTRUSTED;
	default:
		return UNTOLD;
	}
}

static void key_unknown_skip(const struct visit *visit,
			     const struct answer *answer)
{
	const char *what =
		visit->doctor->cli->open.access.sm_key
			? "the SA answers requests with this key; whether it "
			  "trusts them"
			: "no SM_Key is given; whether the SA needs one";

	if (is_cut_short(visit, "sm_key", answer))
		return;
	doctor_skip(visit->doctor, &visit->spot, "sm_key",
		    "%s: unknown, because the query for P_Keys failed: %s",
		    what,
		    answer->err ? strerror(-answer->err)
				: ibsa_status_text(answer->status));
}

/*
 * Report how the SA treats requests without an SM_Key. Most clients have no
 * SM_Key and do not need one.
 */
static void no_key_check(const struct visit *visit, struct ibsa_client *client)
{
	const struct answer answer = pkeys_query(visit, client);

	switch (answer_trust(&answer)) {
	case TRUSTED:
		doctor_ok(visit->doctor, &visit->spot, "sm_key",
			  "no SM_Key is given; the SA trusts requests "
			  "without one");
		break;
	case UNTRUSTED:
		doctor_ok(visit->doctor, &visit->spot, "sm_key",
			  "no SM_Key is given; the SA returns what untrusted "
			  "requests may read");
		break;
	default:
		key_unknown_skip(visit, &answer);
	}
}

/*
 * Check whether the SA trusts the SM_Key of --sm-key. OpenSM does not answer a
 * request with a wrong SM_Key.
 */
static void trust_check(const struct visit *visit, struct ibsa_client *client)
{
	struct answer answer = info_query(visit, client);

	if (is_cut_short(visit, "sm_key", &answer))
		return;
	if (answer.outcome != IBSA_OUTCOME_OK) {
		doctor_wrong(visit->doctor, &visit->spot, "sm_key", CLI_REFUSED,
			     "use the key of the subnet manager (sa_key in "
			     "opensm.conf), or no key",
			     "the SA does not answer requests with this key; "
			     "without it, it does");
		return;
	}
	answer = pkeys_query(visit, client);
	switch (answer_trust(&answer)) {
	case TRUSTED:
		doctor_ok(visit->doctor, &visit->spot, "sm_key",
			  "the SA trusts this key");
		break;
	case UNTRUSTED:
		doctor_wrong(visit->doctor, &visit->spot, "sm_key", CLI_REFUSED,
			     "use the key of the subnet manager",
			     "the SA answers, but does not trust this key");
		break;
	default:
		key_unknown_skip(visit, &answer);
	}
}

static void check_key(const struct visit *visit)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client;
	int err = port_open(visit, visit->doctor->cli->open.access.sm_key,
			    &error, &client);

	if (err) {
		doctor_skip(visit->doctor, &visit->spot, "sm_key", "%s",
			    error.text);
		return;
	}
	trust_check(visit, client);
	(void)ibsa_close(client);
}

static void sa_and_key_check(const struct visit *visit,
			     struct ibsa_client *client)
{
	if (!sa_check(visit, client))
		doctor_skip(visit->doctor, &visit->spot, "sm_key", "%s",
			    doctor_is_interrupted(visit->doctor)
				    ? "interrupted"
				    : "the SA does not answer");
	else if (visit->doctor->cli->open.access.sm_key)
		check_key(visit);
	else
		no_key_check(visit, client);
}

/*
 * Return: the reason why the SA cannot be queried from this port; NULL: it can
 * be.
 */
static const char *skip_reason(const struct visit *visit)
{
	const struct ibsa_port_state *state = visit->state;

	if (!state)
		return "the port cannot be read";
	if (visit->locked)
		return visit->locked;
	if (state->port_state != IBSA_PORT_ACTIVE)
		return "the port is not active";
	if (visit->doctor->cli->open.access.sa)
		return NULL;
	if (state->link == IBSA_LINK_ETHERNET)
		return "RoCE has no SA, unless --sa names one";
	return ibsa_port_has_sm(state) ? NULL : "no subnet manager is known";
}

void doctor_sa(struct visit *visit)
{
	const char *why = skip_reason(visit);
	struct ibsa_error error = { .text = "" };
	struct ibsa_client *client;
	int err;

	if (why) {
		doctor_skip(visit->doctor, &visit->spot, "sa", "%s", why);
		doctor_skip(visit->doctor, &visit->spot, "sm_key", "%s", why);
		return;
	}
	err = port_open(visit, 0, &error, &client);
	if (err) {
		doctor_wrong(visit->doctor, &visit->spot, "sa", CLI_DEVICE,
			     NULL, "%s", error.text);
		doctor_skip(visit->doctor, &visit->spot, "sm_key",
			    "the port cannot be opened");
		return;
	}
	sa_and_key_check(visit, client);
	(void)ibsa_close(client);
}

/*
 * Return: the name of the device that has a port with this number and GID; or
 * NULL.
 */
static const char *device_of(const struct ibsa_device_list *list,
			     const struct ibsa_port_state *state)
{
	for (size_t i = 0; list && i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		for (size_t j = 0; j < device->port_count; j++) {
			const struct ibsa_port *port =
				ibsa_device_port_at(device, j);

			if (port->number == state->port_num && !port->err &&
			    !ibsa_port_gsi(list, port, NULL) &&
			    !memcmp(&port->state->gid, &state->gid,
				    sizeof(state->gid)))
				return device->name;
		}
	}
	return NULL;
}

static const char *node_of(struct ibsa_fabric *fabric,
			   const struct ibsa_port_state *state)
{
	struct ibsa_fabric_port port;

	for (size_t i = 0; fabric && !ibsa_fabric_port_at(fabric, i, &port);
	     i++)
		if (!memcmp(&port.state.gid, &state->gid, sizeof(state->gid)))
			return port.node;
	return NULL;
}

static void default_port_ok(struct doctor *doctor, const struct spot *spot,
			    const char *device,
			    const struct ibsa_port_state *state)
{
	char clean[IBSA_VALUE_TEXT];

	doctor_ok(doctor, spot, "default",
		  "queries use port %u of %s unless --device names another",
		  state->port_num,
		  device ? fields_clean(device, clean) : "a device");
}

void doctor_default(struct doctor *doctor, struct ibsa_fabric *fabric,
		    const struct ibsa_device_list *list)
{
	static const struct spot spot = { .port = NO_PORT };
	struct ibsa_error error = { .text = "" };
	struct ibsa_port_state state;
	struct ibsa_client *client;
	/* Not on @fabric: with @on, ibsa_open() does not use IBSA_NODE. */
	int err = ibsa_open(&doctor->cli->open, &error, &client);

	if (err) {
		doctor_wrong(doctor, &spot, "default", CLI_DEVICE,
			     "correct the problems above, or select another "
			     "port with --device",
			     "%s", error.text);
		return;
	}
	err = ibsa_port_get(client, false, &state);
	if (err)
		doctor_wrong(doctor, &spot, "default", CLI_DEVICE, NULL,
			     "cannot read the port: %s", strerror(-err));
	else
		default_port_ok(doctor, &spot,
				fabric ? node_of(fabric, &state)
				       : device_of(list, &state),
				&state);
	(void)ibsa_close(client);
}
