/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends a query, waits for the reply, prints failures and returns the exit
 * status.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/device.h>
#include <ibsa/reach.h>

#include "session/query_wait.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "session/record.h"
#include "session/scope.h"

/* A query and its outcome. */
struct query_state {
	struct cli *cli;
	const struct ibsa_query *query;
	reply_use_fn use;
	void *arg;
	struct client_wait wait;
	int status; /* exit status */
};

/*
 * Open the client with signals blocked, so that threads which ibsim's preload
 * library starts do not receive them. The client of a fabric server starts no
 * thread, and there a signal must end the wait for the server.
 */
static int client_open_signals_blocked(struct cli *cli,
				       struct ibsa_error *error)
{
	const char *fabric = secure_getenv("IBSA_FABRIC");
	sigset_t all, before;
	int err;

	if (!cli->open.fabric && fabric && fabric_is_server(fabric))
		return ibsa_open(&cli->open, error, &cli->client);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	err = ibsa_open(&cli->open, error, &cli->client);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/*
 * For --sa without a LID and a GID, use the SA's address in the port's state.
 * Return: 0; -ENETDOWN the port has no SM.
 */
static int sa_address_own(struct cli *cli, const struct ibsa_port_state *port,
			  struct ibsa_error *error)
{
	if (!port->sm_lid) {
		snprintf(error->text, sizeof(error->text),
			 "no subnet manager has configured the port: --sa "
			 "needs a lid or a gid");
		return -ENETDOWN;
	}
	cli->sa.address.lid = port->sm_lid;
	if (!cli->sa.has_sl)
		cli->sa.address.sl = port->sm_sl;
	return 0;
}

/*
 * On InfiniBand, a packet to a GID needs a LID, too: query it from the SA at
 * the address in the port's state.
 */
static int sa_address_find(struct cli *cli, struct ibsa_client *client,
			   struct ibsa_error *error)
{
	struct ibsa_path path;
	struct ibsa_error why = { .text = "" };

	if (ibsa_path_wait(client, NULL, &cli->sa.address.gid, &why, &path) !=
	    0) {
		snprintf(error->text, sizeof(error->text),
			 "--sa: the LID for this GID is not known: %.120s; "
			 "give it, as in --sa lid=1,gid=...",
			 why.text);
		return -ENETDOWN;
	}
	cli->sa.address.lid = path.dlid;
	if (!cli->sa.has_sl)
		cli->sa.address.sl = path.sl;
	return 0;
}

/*
 * Complete the SA address of --sa: without LID and GID it means the SA of this
 * port, and with a GID only, its LID is found on InfiniBand.
 */
static int sa_address_complete(struct cli *cli, struct ibsa_error *error)
{
	struct ibsa_options own = cli->open;
	struct ibsa_client *client;
	struct ibsa_port_state port;
	int err;

	if (!cli->open.access.sa || cli->sa.address.lid)
		return 0;
	own.access.sa = NULL;
	err = ibsa_open(&own, error, &client);
	if (err)
		return err;
	err = ibsa_port_get(client, true, &port);
	if (!err && !cli->sa.address.has_grh)
		err = sa_address_own(cli, &port, error);
	else if (!err && port.link == IBSA_LINK_INFINIBAND)
		err = sa_address_find(cli, client, error);
	(void)ibsa_close(client);
	return err;
}

int client_open(struct cli *cli)
{
	struct ibsa_error error = { .text = "" };
	int status;
	int err;

	if (cli->client)
		return CLI_DONE;
	err = sa_address_complete(cli, &error);
	if (err == 0)
		err = client_open_signals_blocked(cli, &error);
	if (err == 0)
		return record_client_start(cli);
	if (scope_is_set(cli->open.device))
		return fail_usage("--device '%s' may stand for several "
				  "devices; ibsa %s sends from one: name one",
				  cli->open.device,
				  cli->arg_count ? cli->args[0] : "status");
	if (fabric_file(cli))
		return fabric_error_explain(err, &error, fabric_file(cli));
	status = error_explain(err, &error);
	if (status == CLI_DEVICE &&
	    ((!cli->open.device && !cli->open.port) || err == -EACCES))
		suggest_fabric();
	return status;
}

const char *sa_target_text(const struct cli *cli,
			   const struct ibsa_port_state *port,
			   char out[SA_TARGET_TEXT])
{
	const struct ibsa_address *given = cli->open.access.sa;

	if (given && !given->lid &&
	    ibsa_gid_format(&given->gid, out, SA_TARGET_TEXT) >= 0)
		return out;
	snprintf(out, SA_TARGET_TEXT, "LID %u",
		 (unsigned int)(given ? given->lid : port->sm_lid));
	return out;
}

static const char *sa_text(struct cli *cli, char *out, size_t size)
{
	struct ibsa_port_state port = { .sm_lid = 0 };
	char target[SA_TARGET_TEXT];

	if (cli->open.access.sa ||
	    (cli->client && ibsa_port_get(cli->client, false, &port) == 0))
		snprintf(out, size, "the SA at %s",
			 sa_target_text(cli, &port, target));
	else
		snprintf(out, size, "the SA");
	return out;
}

/* Print the library's error text for a reply, and an option that may help. */
static void error_with_option_explain(const struct ibsa_reply *reply,
				      const char *option)
{
	struct ibsa_error error;

	ibsa_reply_explain(reply, &error);
	complain("%s, with %s", error.text, option);
}

static void silence_explain(struct cli *cli, unsigned int tries)
{
	char sa[80];

	complain("%s did not answer (%u %s); check that the subnet manager "
		 "runs%s and supports this request, or use a longer --timeout",
		 sa_text(cli, sa, sizeof(sa)), tries,
		 tries == 1 ? "try" : "tries",
		 cli->open.access.sm_key ? ", accepts the SM_Key" : "");
}

enum { PORT_TEXT = 128 };

/* Write "port 1 of mlx5_0" for this port into @out, or "this port". */
static void own_port_text(const struct ibsa_port_state *own,
			  char out[PORT_TEXT])
{
	struct ibsa_device_list *list;

	snprintf(out, PORT_TEXT, "this port");
	if (ibsa_devices_read(&list) != 0)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);

		for (size_t k = 0; k < device->port_count; k++)
			if (memcmp(&ibsa_device_port_at(device, k)->state->gid,
				   &own->gid, sizeof(own->gid)) == 0)
				snprintf(out, PORT_TEXT, "port %u of %s",
					 ibsa_device_port_at(device, k)->number,
					 device->name);
	}
	ibsa_devices_free(list);
}

/*
 * Print why no query can be sent. @err: -ENETDOWN the port was down; -EAGAIN
 * the port has no SM.
 */
static void no_sm_explain(struct cli *cli, int err)
{
	struct ibsa_port_state port;
	char text[PORT_TEXT];

	if (err == -ENETDOWN && cli->client &&
	    ibsa_port_get(cli->client, true, &port) == 0) {
		own_port_text(&port, text);
		complain("%s; check the cable of %s, or send from another port "
			 "with --device or --port",
			 ibsa_reason_text(IBSA_REASON_THIS_PORT_DOWN), text);
		return;
	}
	complain("no subnet manager has configured the port; start one on the "
		 "fabric, or give the SA's address with --sa");
}

static void unreachable_explain(struct cli *cli, const struct ibsa_reply *reply)
{
	switch (reply->err) {
	case -ETIMEDOUT:
		if (reply->tries)
			silence_explain(cli, reply->tries);
		else
			error_with_option_explain(reply, "--timeout");
		break;
	case -EPROTO:
		complain("the SA's answer is malformed; try again, and report "
			 "repeated failures to the SA's vendor");
		break;
	case -EMSGSIZE:
		complain("the answer is larger than 64 MiB, the limit of ibsa; "
			 "select fewer records with ibsa query and "
			 "FIELD=VALUE");
		break;
	case -ENODATA:
		complain("the answer was truncated on its way (%zu %s "
			 "arrived); select fewer records with ibsa query and "
			 "FIELD=VALUE",
			 reply->count,
			 reply->count == 1 ? "record" : "records");
		break;
	case -EAGAIN:
	case -ENETDOWN:
		no_sm_explain(cli, reply->err);
		break;
	default:
		complain("the query failed: %s; try again",
			 strerror(-reply->err));
	}
}

/* Return: what to do after the SA refused a request with this status. */
static const char *advice(const struct ibsa_record *record, uint16_t status)
{
	switch (status) {
	case IBSA_STATUS_REQ_INVALID:
		if (record == &ibsa_service_record)
			return "service_gid must be a port's on the fabric, "
			       "and service_pkey one that this port and that "
			       "one have";
		break;
	case IBSA_STATUS_TOO_MANY_RECORDS:
		return "use ibsa query table, or name more fields";
	case IBSA_STATUS_REQ_INSUFFICIENT:
		return "name more fields";
	case IBSA_STATUS_REQ_DENIED:
		return "the SA may require --sm-key";
	case IBSA_STATUS_NO_RESOURCES:
		return "try again later, or ask for less with FIELD=VALUE";
	case IBSA_STATUS_BAD_METHOD:
	case IBSA_STATUS_BAD_METHOD_ATTRIBUTE:
		return "no SA runs there, which ibsa doctor checks, or it does "
		       "not support this request";
	case IBSA_STATUS_BAD_VALUE:
		return "the SA does not support this request; use another "
		       "method or record";
	default:
		break;
	}
	return "name other fields, or use --sm-key";
}

void refusal_explain(const struct ibsa_record *record, uint16_t status)
{
	if (status == IBSA_STATUS_NOT_RECORDED) {
		complain("the capture or report does not hold the answer to "
			 "this query for the %s",
			 record->name);
		return;
	}
	complain("the SA refused: %s (status 0x%04x); %s",
		 ibsa_status_text(status), status, advice(record, status));
}

bool redirection_explain(struct cli *cli, uint16_t status)
{
	struct ibsa_error error;

	if (!(status & IBSA_STATUS_REDIRECT) || !cli->client ||
	    ibsa_redirect_explain(cli->client, &error))
		return false;
	complain("%s, with --sa", error.text);
	return true;
}

int reply_explain(struct cli *cli, const struct ibsa_reply *reply)
{
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		return CLI_DONE;
	case IBSA_OUTCOME_NONE:
		return CLI_NO;
	case IBSA_OUTCOME_REFUSED:
		if (reply->status & IBSA_STATUS_REDIRECT)
			error_with_option_explain(reply, "--sa");
		else
			refusal_explain(reply->record, reply->status);
		return CLI_REFUSED;
	case IBSA_OUTCOME_BUSY:
		return fail_silent("the SA is busy; try again later, or use a "
				   "longer --timeout");
	default:
		unreachable_explain(cli, reply);
		return CLI_SILENT;
	}
}

static int reply_status(struct query_state *state,
			const struct ibsa_reply *reply)
{
	if (ibsa_reply_outcome(reply) == IBSA_OUTCOME_OK)
		return state->use(state->cli, reply, state->arg);
	state->cli->silence = (struct query_silence){
		.err = reply->err,
		.status = reply->status,
		.tries = reply->tries,
	};
	return reply_explain(state->cli, reply);
}

void reply_statistics_print(const struct cli *cli,
			    const struct ibsa_query *query,
			    const struct ibsa_reply *reply)
{
	uint8_t method = query->method;
	char delay[64] = "";

	if (!cli->output.verbose || reply->err)
		return;
	if (reply->rtt_ns)
		snprintf(delay, sizeof(delay),
			 ", reply %.3f ms after the last try",
			 (double)reply->rtt_ns / 1e6);
	complain("%s %s: %u %s%s, %zu %s, status 0x%04x", query->record->name,
		 ibsa_method_name(method ? method : IBSA_METHOD_GET),
		 reply->tries, reply->tries == 1 ? "try" : "tries", delay,
		 reply->count, reply->count == 1 ? "record" : "records",
		 reply->status);
}

static void query_done(const struct ibsa_reply *reply, void *arg)
{
	struct query_state *state = arg;

	progress_end();
	state->wait.ended = true;
	if (state->wait.broken)
		return;
	reply_statistics_print(state->cli, state->query, reply);
	state->status = reply_status(state, reply);
}

int query_refused_explain(struct cli *cli, int err)
{
	cli->silence = (struct query_silence){ .err = err };
	switch (err) {
	case -EAGAIN:
	case -ENETDOWN:
		no_sm_explain(cli, err);
		return CLI_SILENT;
	case -EINVAL:
	case -ERANGE:
		return fail_usage("the query is invalid: %s", strerror(-err));
	case -EOPNOTSUPP:
		return fail_usage("the record is of Omni-Path, and the port is "
				  "not an Omni-Path port; use another record, "
				  "or another port with --device or --port");
	default:
		complain("cannot send to the SA: %s; check the port with ibsa "
			 "devices",
			 strerror(-err));
		return err == -EACCES || err == -EPERM || err == -ENODEV
			       ? CLI_DEVICE
			       : CLI_SILENT;
	}
}

void receive_failed(int err)
{
	complain("cannot receive from the SA: %s; check the port with ibsa "
		 "devices",
		 strerror(-err));
}

void client_abandon(struct cli *cli, int err)
{
	if (cli->interrupt)
		interrupt_wakes(cli->interrupt, NULL);
	(void)ibsa_close(cli->client);
	cli->client = NULL;
	progress_end();
	if (err)
		receive_failed(err);
}

static bool is_interrupted(const struct cli *cli)
{
	return cli->interrupt && interrupt_seen(cli->interrupt);
}

void client_wait(struct cli *cli, struct client_wait *wait)
{
	struct ibsa_client *client = cli->client;
	struct progress progress;
	struct ibsa_stats stats;
	uint64_t sent_before;

	ibsa_stats_get(client, &stats);
	/*
	 * This number includes the first try of the query that is waited for.
	 */
	sent_before = stats.sent;
	progress_start(&progress);
	while (!wait->ended) {
		int err = 0;

		if (!is_interrupted(cli))
			err = ibsa_wait(client, progress_pause_ms(&progress));

		if (wait->ended)
			break;
		if (is_interrupted(cli) || (err && err != -EINTR)) {
			wait->broken = true;
			client_abandon(cli, is_interrupted(cli) ? 0 : err);
			break;
		}
		ibsa_stats_get(client, &stats);
		progress_show(&progress, stats.sent - sent_before + 1);
	}
	progress_end();
}

int query_wait(struct cli *cli, const struct ibsa_query *query,
	       reply_use_fn use, void *arg)
{
	struct query_state state = {
		.cli = cli,
		.query = query,
		.use = use,
		.arg = arg,
		.status = CLI_SILENT,
	};
	int err = client_open(cli);

	if (err)
		return err;
	err = ibsa_query_start(cli->client, query, query_done, &state, NULL);
	if (err)
		return query_refused_explain(cli, err);
	client_wait(cli, &state.wait);
	return state.status;
}

int record_take(struct cli *cli, const struct ibsa_reply *reply, void *arg)
{
	(void)cli;
	return ibsa_reply_decode(reply, 0, arg, reply->record->host_size)
		       ? CLI_SILENT
		       : CLI_DONE;
}

struct records {
	char *all;
	size_t count;
};

bool records_decode(const struct ibsa_reply *reply, void *out_all,
		    size_t *out_count)
{
	const size_t size = reply->record->host_size;
	char *all = calloc(reply->count + 1, size);

	*out_count = 0;
	for (size_t i = 0; all && i < reply->count; i++)
		*out_count += !ibsa_reply_decode(reply, i,
						 all + *out_count * size, size);
	memcpy(out_all, &all, sizeof(all));
	return all;
}

static int records_take(struct cli *cli, const struct ibsa_reply *reply,
			void *arg)
{
	struct records *records = arg;

	(void)cli;
	return records_decode(reply, &records->all, &records->count)
		       ? CLI_DONE
		       : no_memory();
}

int records_query(struct cli *cli, const struct ibsa_query *query,
		  void *out_all, size_t *out_count)
{
	struct records records = { .count = 0 };
	const int status = query_wait(cli, query, records_take, &records);

	memcpy(out_all, &records.all, sizeof(records.all));
	*out_count = records.count;
	return status == CLI_NO ? CLI_DONE : status;
}

void queries_print(const struct cli *cli, const char *what,
		   const struct ibsa_stats *before)
{
	struct ibsa_stats now;
	uint64_t queries, tries;

	if (!cli->output.verbose || !cli->client)
		return;
	ibsa_stats_get(cli->client, &now);
	queries = now.queries - before->queries;
	tries = now.sent - before->sent;
	complain("%s: %llu %s, %llu %s", what, (unsigned long long)queries,
		 queries == 1 ? "query" : "queries", (unsigned long long)tries,
		 tries == 1 ? "try" : "tries");
}

int own_port_get(struct cli *cli, struct ibsa_port_state *out)
{
	int err = client_open(cli);

	if (err)
		return err;
	err = ibsa_port_get(cli->client, false, out);
	if (!err)
		return CLI_DONE;
	return fail_device("cannot read the port: %s; check it with ibsa "
			   "devices",
			   strerror(-err));
}

int own_gid_get(struct cli *cli, struct ibsa_gid *out)
{
	struct ibsa_port_state port;
	int status = own_port_get(cli, &port);

	if (status == CLI_DONE)
		*out = port.gid;
	return status;
}
