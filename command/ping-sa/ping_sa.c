/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa ping-sa: times the answers of the SA to small queries. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/defaults.h"
#include "options/command.h"
#include "output/column_table.h"
#include "session/answers.h"
#include "session/query_wait.h"
#include "session/waiter.h"

enum {
	DEFAULT_COUNT = 5,
	COUNT_MAX = 1000000,
	INTERVAL_MS = 1000,
};

/* clang-format off */
#define STATUS_WORD(name, value, text) "|" text
#define STATUS_WORDS							\
	IBSA_STATUSES(STATUS_WORD) "|unknown status|no answer|"		\
	"this port is down|no subnet manager|malformed answer|"		\
	"device is gone|not sent"

static const struct column columns[] = {
	ALWAYS("number", NUMBER),
	MAYBE("time_ms", DECIMAL),
	MAYBE("status", NUMBER),
	WORDS("status_text", STATUS_WORDS),
};

static const struct columns columns_ping_sa = COLUMN_TABLE("ping-sa", columns);
/* clang-format on */

static const char second_signal_text[] = "ended before the summary was printed";

/**
 * struct answer - how one of the queries ended
 * @number: number of the query, from 1
 * @err, @status, @tries: as in struct ibsa_reply
 * @rtt_ns: as in struct ibsa_reply, but 0 if the SA was busy until the deadline
 */
struct answer {
	unsigned int number;
	int err;
	uint16_t status;
	unsigned int tries;
	uint64_t rtt_ns;
};

/**
 * struct ping - the queries of this command
 * @all:       for JSON output, which is written at the end: how each of the
 *             @ended queries ended; NULL: a row is written when a query ends
 * @last:      how the last query ended
 * @ended:     number of queries that have ended
 * @sent:      number of queries that were sent
 * @answered:  number of queries that an SA has answered
 * @timed:     number of answers whose time is known; the shortest is @min_ns,
 *             the longest @max_ns, the sum @sum_ns
 * @in_flight: a query has not ended
 * @broken:    waiting has failed, and a message was printed
 */
struct ping {
	struct cli *cli;
	struct ibsa_query query;
	struct interrupt interrupt;
	struct waiter waiter;
	struct answer *all;
	struct answer last;
	unsigned int count;
	unsigned int ended;
	unsigned int sent;
	unsigned int answered;
	unsigned int timed;
	uint64_t min_ns, max_ns, sum_ns;
	bool in_flight;
	bool broken;
};

static const char *answer_text(const struct answer *answer)
{
	switch (answer->err) {
	case 0:
		return ibsa_status_text(answer->status);
	case -ETIMEDOUT:
		return "no answer";
	case -ENETDOWN:
		return "this port is down";
	case -EAGAIN:
		return "no subnet manager";
	case -EPROTO:
	case -ENODATA:
	case -EMSGSIZE:
		return "malformed answer";
	case -ENODEV:
		return "device is gone";
	default:
		return "not sent";
	}
}

static void status_cells(struct out *out, const struct answer *answer)
{
	const char *text = answer_text(answer);

	if (!out_is_data(out)) {
		out_text(out, "status", text);
		return;
	}
	if (answer->err)
		out_none(out, "status");
	else
		out_number(out, "status", answer->status, text);
	out_text(out, "status_text", text);
}

static void answer_row(struct out *out, size_t index, void *arg)
{
	const struct answer *answer = (const struct answer *)arg + index;
	char time_ms[32];

	snprintf(time_ms, sizeof(time_ms), "%.3f",
		 (double)answer->rtt_ns / 1e6);
	out_count(out, "number", answer->number);
	out_decimal(out, "time_ms", answer->rtt_ns ? time_ms : NULL);
	status_cells(out, answer);
}

/* Write a row at once; the first row of a table has the header above it. */
static void answer_print(struct ping *ping)
{
	struct out *out = &ping->cli->out;
	const bool is_first = ping->last.number == 1;

	if (out->shape == OUT_BLOCKS && !is_first)
		out_line(out, "%s", "");
	if (out->shape == OUT_BLOCKS || is_first)
		out_rows(out, 1, answer_row, &ping->last);
	else
		out_event(out, answer_row, &ping->last);
	out_flush(out);
}

static bool is_answered(const struct answer *answer)
{
	return answer->err == 0 && !answer_is_of_no_sa(answer->status);
}

static void answer_count(struct ping *ping, const struct answer *answer)
{
	const uint64_t rtt_ns = answer->rtt_ns;

	ping->sent += answer->tries > 0;
	if (!is_answered(answer))
		return;
	ping->answered++;
	if (!rtt_ns)
		return;
	if (ping->timed == 0 || rtt_ns < ping->min_ns)
		ping->min_ns = rtt_ns;
	if (rtt_ns > ping->max_ns)
		ping->max_ns = rtt_ns;
	ping->sum_ns += rtt_ns;
	ping->timed++;
}

static void answer_add(struct ping *ping, const struct answer *answer)
{
	ping->last = *answer;
	ping->last.number = ping->ended + 1;
	answer_count(ping, answer);
	if (ping->all)
		ping->all[ping->ended] = ping->last;
	else
		answer_print(ping);
	ping->ended++;
}

static void query_done(const struct ibsa_reply *reply, void *arg)
{
	struct ping *ping = arg;

	ping->in_flight = false;
	if (reply->err == -ECANCELED)
		return;
	reply_statistics_print(ping->cli, &ping->query, reply);
	answer_add(ping, &(struct answer){
				 .err = reply->err,
				 .status = reply->status,
				 .tries = reply->tries,
				 .rtt_ns = reply->rtt_ns,
			 });
}

/* Whether no further query is to be sent. */
static bool is_over(const struct ping *ping)
{
	return ping->broken || interrupt_seen(&ping->interrupt) ||
	       !out_is_read(&ping->cli->out);
}

/* Wait at most @ms. */
static void wait_once(struct ping *ping, int ms)
{
	ping->broken |= waiter_failed(waiter_wait(&ping->waiter, ms));
}

static void wait_until(struct ping *ping, int64_t at_ms)
{
	int64_t left_ms;

	while (!is_over(ping) && (left_ms = at_ms - now_ms()) > 0)
		wait_once(ping, (int)left_ms);
}

/*
 * Send a query and wait until it has ended. Cancel it if no further query is to
 * be sent, for example after a signal. Return: 0, or the error from sending it.
 */
static int query_run(struct ping *ping)
{
	struct ibsa_client *client = ping->cli->client;
	uint64_t id;
	int err = ibsa_query_start(client, &ping->query, query_done, ping, &id);

	if (err)
		return err;
	ping->in_flight = true;
	while (ping->in_flight && !is_over(ping))
		wait_once(ping, -1);
	while (ping->in_flight) {
		(void)ibsa_cancel(client, id);
		(void)ibsa_dispatch(client);
	}
	return 0;
}

/*
 * Send all queries. Return: the exit status if not even the first could be
 * sent, which ends the command; otherwise CLI_DONE.
 */
static int queries_run(struct ping *ping)
{
	for (unsigned int i = 0; i < ping->count && !is_over(ping); i++) {
		const int64_t start_ms = now_ms();
		const int err = query_run(ping);

		if (err && ping->ended == 0)
			return query_refused_explain(ping->cli, err);
		if (err)
			answer_add(ping, &(struct answer){ .err = err });
		if (i + 1 < ping->count)
			wait_until(ping, start_ms + INTERVAL_MS);
	}
	return CLI_DONE;
}

/* Print why no query was answered. Return: the exit status. */
static int silence_print(const struct ping *ping)
{
	const struct ibsa_reply reply = {
		.record = ping->query.record,
		.err = ping->last.err,
		.status = ping->last.status,
		.tries = ping->sent,
	};

	if (ping->ended > 0)
		(void)reply_explain(ping->cli, &reply);
	else if (!ping->broken)
		complain("interrupted before the first answer");
	return CLI_SILENT;
}

/* Print the summary. Return: the exit status. */
static int summary_print(const struct ping *ping)
{
	char times[128] = "";

	if (ping->timed)
		snprintf(times, sizeof(times),
			 "; min/avg/max %.3f/%.3f/%.3f ms",
			 (double)ping->min_ns / 1e6,
			 (double)ping->sum_ns / ping->timed / 1e6,
			 (double)ping->max_ns / 1e6);
	complain("%u sent, %u answered%s", ping->sent, ping->answered, times);
	if (ping->answered == 0)
		return silence_print(ping);
	return ping->broken ? CLI_SILENT : CLI_DONE;
}

static int ping_run(struct ping *ping)
{
	int status = interrupt_start(&ping->interrupt, second_signal_text);

	if (status != CLI_DONE)
		return status;
	waiter_start(&ping->waiter, ping->cli, &ping->interrupt);
	status = queries_run(ping);
	waiter_stop(&ping->waiter, &ping->interrupt);
	if (ping->all && status == CLI_DONE)
		out_rows(&ping->cli->out, ping->ended, answer_row, ping->all);
	out_flush(&ping->cli->out);
	if (status == CLI_DONE)
		status = summary_print(ping);
	interrupt_stop(&ping->interrupt);
	return status;
}

static int arguments_parse(const struct cli *cli, unsigned int *count)
{
	if (cli->arg_count > 2)
		return fail_usage(
			"ping-sa takes only COUNT; see ibsa ping-sa --help");
	return cli->arg_count < 2
		       ? CLI_DONE
		       : option_number("COUNT", cli->args[1], COUNT_MAX, count);
}

/*
 * The query has a single try, so that each lost packet shows: the second would
 * follow after the deadline. Each SA returns its ClassPortInfo to any client.
 */
static void query_set(struct ping *ping)
{
	struct ibsa_options *open = &ping->cli->open;

	if (!open->deadline_ms)
		open->deadline_ms = CLI_DEFAULT_DOCTOR_MS;
	ping->query = (struct ibsa_query){
		.record = &ibsa_class_port_info_record,
		.first_interval_ms = 2 * open->deadline_ms,
		.max_interval_ms = 2 * open->deadline_ms,
		.jitter_percent = -1,
		.no_sharing = true,
	};
}

static int cmd_ping_sa(struct cli *cli)
{
	struct ping ping = { .cli = cli, .count = DEFAULT_COUNT };
	int status = arguments_parse(cli, &ping.count);

	if (status == CLI_DONE)
		status = columns_use(cli, &columns_ping_sa);
	if (status != CLI_DONE)
		return status;
	query_set(&ping);
	if (cli->out.shape == OUT_JSON) {
		ping.all = calloc(ping.count, sizeof(*ping.all));
		if (!ping.all)
			return no_memory();
	}
	/* The summary is printed even if the reader has closed the output. */
	signal(SIGPIPE, SIG_IGN);
	status = client_open(cli);
	if (status == CLI_DONE)
		status = ping_run(&ping);
	free(ping.all);
	return status;
}

static void cmd_ping_sa_details(struct cli *cli)
{
	out_line(&cli->out,
		 "Sends COUNT queries (default: %d), each a second after the "
		 "one before, or when\nthat one has ended. Each has only one "
		 "try, and ends after --timeout (default:\n%d ms).\n",
		 DEFAULT_COUNT, CLI_DEFAULT_DOCTOR_MS);
}

/* clang-format off */
const struct command command_ping_sa = {
	.name = "ping-sa",
	.arguments = "[COUNT]",
	.help = "time the answers of the SA",
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_ping_sa, NULL },
	.run = cmd_ping_sa,
	.details = cmd_ping_sa_details,
};
/* clang-format on */
