/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs saquery, which is built for libibumad, and reads its output. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "many.h"

/* Become saquery. The kernel kills saquery when the worker is killed. */
static void saquery_exec(const char *saquery, const char *node, int out)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (setenv("IBSA_NODE", node, 1))
		_exit(126);
	execl(saquery, saquery, "-t", "2000", "NR", (char *)NULL);
	_exit(127);
}

/*
 * Parse the value of the field @name in a line of saquery, such as
 * "port_guid...............0x0000000000abc001". Return: false: the line has
 * another field.
 */
static bool field_parse(const char *line, const char *name, uint64_t *out)
{
	line += strspn(line, " \t");
	if (strncmp(line, name, strlen(name)) != 0 || line[strlen(name)] != '.')
		return false;
	line += strlen(name);
	*out = strtoull(line + strspn(line, "."), NULL, 0);
	return true;
}

static void see_record(const struct many_host hosts[HOSTS], uint64_t lid,
		       uint64_t guid, struct many_report *report)
{
	const uint64_t host = (guid - 0xabc001) / 16;

	/* The LIDs of switches are not checked. */
	if (guid < 0xabc001 || guid > 0xabc001 + 16 * HOSTS)
		return;
	if (host >= HOSTS || report->seen >> host & 1 ||
	    hosts[host].guid != guid || hosts[host].lid != lid) {
		fprintf(stderr,
			"worker %u: saquery has LID %" PRIu64 " of 0x%" PRIx64
			"\n",
			report->worker, lid, guid);
		report->result = MANY_WRONG;
	} else {
		report->seen |= UINT64_C(1) << host;
	}
}

static void see_output(const struct many_host hosts[HOSTS], FILE *from,
		       struct many_report *report)
{
	char line[256];
	uint64_t lid = 0;
	uint64_t guid;

	while (fgets(line, sizeof(line), from)) {
		if (field_parse(line, "lid", &lid))
			continue;
		if (field_parse(line, "port_guid", &guid))
			see_record(hosts, lid, guid, report);
	}
}

static pid_t saquery_start(const char *saquery, const char *node, FILE **out)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return -1;
	pid = fork();
	if (pid == 0)
		saquery_exec(saquery, node, ends[1]);
	close(ends[1]);
	*out = fdopen(ends[0], "r");
	return *out ? pid : -1;
}

void many_saquery(const struct many_host hosts[HOSTS], const char *saquery,
		  struct many_report *report)
{
	FILE *out = NULL;
	int status = 1;
	const pid_t pid = saquery_start(saquery, hosts[report->worker].name,
					&out);

	if (pid <= 0) {
		fprintf(stderr, "cannot run saquery: %s\n", strerror(errno));
		return;
	}
	see_output(hosts, out, report);
	fclose(out);
	waitpid(pid, &status, 0);
	if (report->result == MANY_WRONG)
		return;
	/* For an empty table, saquery prints nothing and succeeds. */
	report->result = status || !report->seen ? MANY_LOST : MANY_ANSWERED;
}
