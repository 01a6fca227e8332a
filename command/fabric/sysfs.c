/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa fabric sysfs: a directory with the device files of a host of a fabric
 * server.
 */
#include <poll.h>
#include <string.h>

#include <ibsa/server.h>

#include "base/interrupt.h"
#include "fabric/fabric.h"
#include "fabric/tree.h"

static int server_command(void *arg, const char *line, char *out, size_t room,
			  struct ibsa_error *error)
{
	return ibsa_server_command(arg, line, out, room, error);
}

/* Update the files until a signal arrives or the server is gone. */
static int files_update(struct tree *tree, const struct interrupt *interrupt)
{
	int status = CLI_DONE;

	while (status == CLI_DONE && !interrupt_seen(interrupt)) {
		(void)poll(NULL, 0, FABRIC_SYSFS_MS);
		if (!interrupt_seen(interrupt))
			status = tree_update(tree);
	}
	return status;
}

static int files_serve(struct cli *cli, struct tree *tree)
{
	struct interrupt interrupt;
	int status = interrupt_start(&interrupt, "ended at once: the device "
						 "files stay");

	if (status != CLI_DONE)
		return status;
	status = tree_update(tree);
	if (status == CLI_DONE) {
		out_clean_line(&cli->out, "%s has the device files of %s",
			       tree->path,
			       *tree->host ? tree->host : "this machine");
		out_flush(&cli->out);
		status = files_update(tree, &interrupt);
	}
	interrupt_stop(&interrupt);
	return status;
}

int fabric_sysfs(struct cli *cli)
{
	char server[FABRIC_PATH_MAX + 8];
	const char *name;
	struct tree tree = {
		.host = cli->args[2],
		.path = cli->args[3],
		.command = server_command,
	};
	int status = fabric_server_find(cli, server, &name);

	if (status != CLI_DONE)
		return status;
	tree.arg = (void *)(uintptr_t)name;
	status = tree_open(&tree);
	if (status == CLI_DONE)
		status = files_serve(cli, &tree);
	tree_close(&tree);
	return status;
}
