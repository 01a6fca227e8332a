/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric serve: the SA of an embedded fabric answers at a port of this
 * machine.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ibsa/responder.h>

#include "fabric/fabric.h"
#include "output/fields.h"
#include "session/scope.h"

/*
 * Create a signalfd for the signals that end the command, except those that
 * are ignored. Return: the signalfd, or a negative errno.
 */
static int signals_open(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct sigaction old;

		if (sigaction(numbers[i], NULL, &old) == 0 &&
		    old.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	}
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void ready_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_responder_info *info = arg;
	char text[16];

	(void)index;
	out_text(out, "event", "ready");
	out_text(out, "device", info->device);
	out_count(out, "port", info->port);
	fields_gid(out, "gid", &info->gid);
	snprintf(text, sizeof(text), "LID %" PRIu32, info->lid);
	out_number(out, "lid", info->lid, text);
}

static void ready_print(struct cli *cli, const struct ibsa_responder *responder)
{
	struct ibsa_responder_info info;

	ibsa_responder_info_get(responder, &info);
	out_event(&cli->out, ready_row, &info);
}

/*
 * Answer requests until a signal arrives or the port fails. Return: 0 or the
 * port's error.
 */
static int requests_pass(struct ibsa_responder *responder, int signals)
{
	struct pollfd fds[2] = {
		{ .fd = ibsa_responder_fd(responder), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	int err = 0;

	while (!err && !fds[1].revents) {
		if (poll(fds, 2, ibsa_responder_timeout_ms(responder)) < 0)
			err = errno == EINTR ? 0 : -errno;
		else
			err = ibsa_responder_dispatch(responder);
	}
	return err;
}

static int end_explain(const struct ibsa_responder *responder, int err)
{
	struct ibsa_responder_info info;

	ibsa_responder_info_get(responder, &info);
	if (err == -ENODEV)
		complain("the device %s was removed; the SA no longer answers",
			 info.device);
	else if (err == -EBUSY)
		complain("another program now receives the SA requests at port "
			 "%u of %s; the SA no longer answers",
			 info.port, info.device);
	else if (err)
		complain("receiving requests at port %u of %s has failed: %s; "
			 "the SA no longer answers",
			 info.port, info.device, strerror(-err));
	return err ? CLI_DEVICE : CLI_DONE;
}

static void counts_print(const struct ibsa_responder *responder)
{
	struct ibsa_responder_info info;

	ibsa_responder_info_get(responder, &info);
	complain("MADs of the SA: %" PRIu64 " requests of %" PRIu64
		 " requesters, %" PRIu64 " answers, %" PRIu64
		 " reports, %" PRIu64 " not sent, %" PRIu64 " not processed",
		 info.requests, info.requesters, info.answers, info.reports,
		 info.refused, info.unprocessed);
}

static int responder_run(struct cli *cli,
			 const struct ibsa_responder_options *options,
			 int signals)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_responder *responder;
	int err = ibsa_responder_open(cli->loaded, options, &error, &responder);
	int status;

	if (err)
		return error_explain(err, &error);
	ready_print(cli, responder);
	status = end_explain(responder, requests_pass(responder, signals));
	if (cli->output.verbose)
		counts_print(responder);
	ibsa_responder_close(responder);
	return status;
}

/*
 * Load the file and serve its fabric. Signals are blocked before the file is
 * read, so that none is lost.
 */
static int load_and_serve(struct cli *cli,
			  const struct ibsa_responder_options *options)
{
	const int signals = signals_open();
	int status;

	if (signals < 0)
		return fail_device("cannot create a signalfd: %s",
				   strerror(-signals));
	status = fabric_load(cli);
	if (status == CLI_DONE)
		status = responder_run(cli, options, signals);
	close(signals);
	return status;
}

int fabric_serve(struct cli *cli)
{
	struct scope scope = { .device = NULL };
	struct ibsa_responder_options options = {
		.node = cli->open.device,
		.node_port = cli->open.port,
	};
	int status;

	if (!fabric_umad(cli))
		return fail_usage("fabric serve needs --umad DEVICE, the name "
				  "of a device of this machine as ibsa devices "
				  "lists it");
	if (cli->sa.word && strcmp(cli->sa.word, "none") == 0)
		return fail_usage("fabric serve: with --sa none, the fabric "
				  "has no SA that answers; remove --sa none");
	status = scope_parse(fabric_umad(cli), &scope);
	options.device = scope.device;
	options.port = scope.port;
	if (status == CLI_DONE)
		status = load_and_serve(cli, &options);
	scope_free(&scope);
	return status;
}
