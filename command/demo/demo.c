/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa demo: runs commands on a simulated fabric that has faults. The commands
 * are in a script that is installed with the topology file, so that users can
 * read and change the script.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "options/command.h"

enum { DEMO_PATH = 2 * PATH_MAX };

static const char default_page[] = "ibsa-demo.html";

/* Set @out to an installed file. Return: the exit status. */
static int file_find(const char *name, char out[DEMO_PATH])
{
	char folder[PATH_MAX];

	installed_folder(IBSA_FABRICS_FROM_BIN, IBSA_FABRICS, folder);
	snprintf(out, DEMO_PATH, "%s/%s", folder, name);
	if (access(out, R_OK) == 0)
		return CLI_DONE;
	return fail_device("the demo is not installed: cannot read %s: %s", out,
			   strerror(errno));
}

/*
 * The script calls this executable as ibsa. The fabric of the demo replaces
 * another one that the environment names.
 */
static int environment_set(const char *exe)
{
	const char *path = getenv("PATH");
	char *all = NULL;
	int err;

	if (asprintf(&all, "%.*s:%s", (int)(strrchr(exe, '/') - exe), exe,
		     path && *path ? path : "/usr/bin:/bin") < 0)
		return no_memory();
	err = setenv("PATH", all, 1);
	free(all);
	if (err || unsetenv("IBSA_FABRIC") || unsetenv("IBSA_NODE"))
		return no_memory();
	return CLI_DONE;
}

static int cmd_demo(struct cli *cli)
{
	char exe[PATH_MAX] = "";
	char fabric[DEMO_PATH];
	char partitions[DEMO_PATH];
	char script[DEMO_PATH];
	const char *page = cli->output.file ? cli->output.file : default_page;
	int status = CLI_DONE;

	if (cli->arg_count > 1)
		return fail_usage("demo has no argument; remove '%s'",
				  cli->args[1]);
	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return fail_device("cannot read /proc/self/exe: %s",
				   strerror(errno));
	status = file_find("gpu-pod.net", fabric);
	if (status == CLI_DONE)
		status = file_find("gpu-pod.partitions.conf", partitions);
	if (status == CLI_DONE)
		status = file_find("gpu-pod.sh", script);
	if (status == CLI_DONE)
		status = environment_set(exe);
	if (status != CLI_DONE)
		return status;
	execl(exe, "ibsa", "fabric", "exec", fabric, "--partitions", partitions,
	      "--", "sh", script, page, (char *)NULL);
	return fail_device("cannot run %s: %s", exe, strerror(errno));
}

/* clang-format off */
const struct command command_demo = {
	.name = "demo",
	.arguments = "",
	.help = "find faults in a simulated GPU pod",
	.groups = GROUP_FILE | GROUP_VERSION | GROUP_HELP,
	.run = cmd_demo,
};
/* clang-format on */
