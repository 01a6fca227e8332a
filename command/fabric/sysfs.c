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
#include "output/column_table.h"

static const struct column columns[] = {
	WORDS("event", "ready"),
	ALWAYS("directory", TEXT),
	MAYBE("host", TEXT),
};

const struct columns columns_fabric_sysfs = COLUMN_STREAM("fabric-sysfs",
							  columns);

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

static void ready_row(struct out *out, size_t index, void *arg)
{
	const struct tree *tree = arg;

	(void)index;
	out_text(out, "event", "ready");
	out_text(out, "directory", tree->path);
	out_text_or_none(out, "host", *tree->host ? tree->host : NULL);
}

/* Print that the files are there. */
static void ready_print(struct out *out, struct tree *tree)
{
	if (out_is_data(out)) {
		out_event(out, ready_row, tree);
		return;
	}
	out_clean_line(out, "%s has the device files of %s", tree->path,
		       *tree->host ? tree->host : "the default host");
	out_flush(out);
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
		ready_print(&cli->out, tree);
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
