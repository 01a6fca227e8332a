/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the process that may receive the SA's Reports at a port. The kernel
 * does not tell which process has the agent, but /proc shows which processes
 * have the umad file open.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/process.h"
#include "umad_dev/umad_device.h"

static void error_append(struct ibsa_error *out, const char *text)
{
	const size_t len = strlen(out->text);

	snprintf(out->text + len, sizeof(out->text) - len, "%s", text);
}

/*
 * Append "pid 7 (opensm) has PATH open", or for several processes "A, B and
 * others have PATH open", to @out.
 */
static void processes_add(struct ibsa_error *out,
			  const struct processes *processes, const char *path)
{
	struct process_text process;

	for (size_t i = 0; i < processes->count && i < PROCESSES_MAX; i++) {
		ibsa__process_text(PROCESS_FOLDER, processes->pids[i],
				   &process);
		error_append(out, i ? ", " : "");
		error_append(out, process.text);
	}
	error_append(out,
		     processes->count > PROCESSES_MAX ? " and others" : "");
	error_append(out, processes->count > 1 ? " have " : " has ");
	error_append(out, path);
	error_append(out, " open");
}

bool ibsa__umad_dev_holder(struct umad_file *file, struct ibsa_error *out)
{
	const struct umad_device *device = umad_device_of(file);
	struct processes processes;
	char path[sizeof(UMAD_FOLDER) + sizeof(device->selection.umad)];

	if (device->simulated)
		return false;
	snprintf(path, sizeof(path), UMAD_FOLDER "%s", device->selection.umad);
	ibsa__processes_find(PROCESS_FOLDER, path, &processes);
	out->text[0] = '\0';
	if (processes.count)
		processes_add(out, &processes, path);
	/*
	 * Only root can read the descriptors of other users' processes: if this
	 * process is not root's, or has found no process, the text adds how
	 * root finds them.
	 */
	if (!processes.count || geteuid() != 0) {
		error_append(out, processes.count ? "; as root, fuser -v "
						  : "as root, fuser -v ");
		error_append(out, path);
		error_append(out, " shows which may be it");
	}
	return true;
}
