/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints why no device was found, and suggests an embedded fabric. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/device.h>

#include "base/installed.h"
#include "session/scope.h"

bool fabric_is_server(const char *fabric)
{
	return strncmp(fabric, "unix:", strlen("unix:")) == 0 ||
	       strncmp(fabric, "tcp:", strlen("tcp:")) == 0 ||
	       strncmp(fabric, "unix-any-user:", strlen("unix-any-user:")) == 0;
}

static bool machine_has(const char *device)
{
	struct ibsa_device_list *list;
	bool is_found = false;

	if (ibsa_devices_read(&list) != 0)
		return false;
	for (size_t i = 0; i < list->count; i++)
		is_found |= !strcmp(ibsa_device_at(list, i)->name, device);
	ibsa_devices_free(list);
	return is_found;
}

/*
 * If the options or IBSA_FABRIC name a fabric server, make its devices the
 * devices of this whole process: set IBSA_FABRIC, which all functions of the
 * library read, and IBSA_NODE if the options name a node, and not a device of
 * the host where this process is.
 */
int fabric_server_use(struct cli *cli)
{
	char node[320];

	if (cli->open.fabric && fabric_is_server(cli->open.fabric)) {
		if (setenv("IBSA_FABRIC", cli->open.fabric, 1) != 0)
			return CLI_DEVICE;
		cli->open.fabric = NULL;
	}
	if (cli->open.fabric || !secure_getenv("IBSA_FABRIC") ||
	    !fabric_is_server(secure_getenv("IBSA_FABRIC")) ||
	    !cli->open.device || scope_is_set(cli->open.device) ||
	    strcmp(cli->open.device, "ibsa0") == 0 ||
	    machine_has(cli->open.device))
		return CLI_DONE;
	snprintf(node, sizeof(node), "%s", cli->open.device);
	cli->open.device = NULL;
	return setenv("IBSA_NODE", node, 1) == 0 ? CLI_DONE : CLI_DEVICE;
}

const char *fabric_file(const struct cli *cli)
{
	const char *file = secure_getenv("IBSA_FABRIC");

	if (cli->open.fabric)
		file = cli->open.fabric;
	return file && *file && !fabric_is_server(file) ? file : NULL;
}

/*
 * Open a port of the fabric server, to get the precise error text if the port
 * cannot be opened. Return: 0, also if no server is used; or the error.
 */
static int server_try(unsigned int deadline_ms, struct ibsa_error *out)
{
	const struct ibsa_options options = { .deadline_ms = deadline_ms };
	const char *fabric = secure_getenv("IBSA_FABRIC");
	struct ibsa_client *client;
	int err;

	out->text[0] = '\0';
	if (!fabric || !fabric_is_server(fabric))
		return 0;
	err = ibsa_open(&options, out, &client);
	if (!err)
		(void)ibsa_close(client);
	return err;
}

int server_failure(struct ibsa_error *out)
{
	int err;

	/*
	 * Wait for at most a second, because the caller may already have waited
	 * for the server.
	 */
	err = server_try(1000, out);
	return out->text[0] ? err : 0;
}

bool server_is_silent(const struct cli *cli)
{
	struct ibsa_error error;

	if (server_try(cli->open.deadline_ms, &error) != -ETIMEDOUT)
		return false;
	complain("%s", error.text);
	return true;
}

static int is_topology(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".net") == 0;
}

/*
 * Find four-hosts.net, which the manual pages use; if it is missing, the first
 * topology file of a folder.
 */
static void example_find(const char *folder, char *out, size_t size)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_topology, alphasort);

	*out = '\0';
	for (int i = 0; i < count; i++) {
		if (i == 0 || strcmp(entries[i]->d_name, "four-hosts.net") == 0)
			snprintf(out, size, "%s/%s", folder,
				 entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

bool machine_has_device(void)
{
	struct ibsa_device_list *list;
	bool has_device;

	if (ibsa_devices_read(&list) != 0)
		return false;
	has_device = list->count > 0;
	ibsa_devices_free(list);
	return has_device;
}

void suggest_fabric(void)
{
	const char *fabric = secure_getenv("IBSA_FABRIC");
	char example[2 * PATH_MAX];
	char folder[PATH_MAX];

	/* If a fabric server is used, no example is suggested. */
	if (fabric && fabric_is_server(fabric))
		return;
	if (machine_has_device()) {
		complain("to check this machine's devices, type: ibsa doctor");
		return;
	}
	installed_folder(IBSA_FABRICS_FROM_BIN, IBSA_FABRICS, folder);
	example_find(folder, example, sizeof(example));
	if (*example)
		complain("to see what ibsa finds in a simulated pod, type: "
			 "ibsa demo; for a shell on a simulated fabric: ibsa "
			 "fabric exec %s -- bash",
			 example);
	else
		complain("to simulate the fabric of a topology file, use "
			 "--fabric FILE; the examples are not installed in %s",
			 folder);
}

int fabric_error_explain(int err, const struct ibsa_error *error,
			 const char *fabric)
{
	const int status = error_explain(err, error);
	char folder[PATH_MAX];
	char *example = NULL;

	if (err != -ENOENT || strchr(fabric, '/'))
		return status;
	installed_folder(IBSA_FABRICS_FROM_BIN, IBSA_FABRICS, folder);
	if (asprintf(&example, "%s/%s", folder, fabric) < 0)
		return status;
	if (access(example, R_OK) == 0)
		complain("to use the example with this name, give its path: "
			 "%s",
			 example);
	free(example);
	return status;
}

int error_explain(int err, const struct ibsa_error *error)
{
	complain("%s", error->text[0] ? error->text : strerror(-err));
	return err == -EINVAL || err == -ENAMETOOLONG ? CLI_USAGE : CLI_DEVICE;
}

bool sysfs_is_empty(void)
{
	const char *root = secure_getenv("SYSFS_PATH");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class", root && *root ? root : "/sys");
	return access(path, F_OK) != 0 && errno == ENOENT;
}

void no_device_text(int err, struct ibsa_error *out)
{
	const size_t size = sizeof(out->text);

	if (err == -ENOSYS && sysfs_is_empty())
		snprintf(out->text, size,
			 "cannot list this machine's devices: no sysfs at "
			 "/sys, or at SYSFS_PATH if that is set; mount it "
			 "there, or set SYSFS_PATH");
	else if (err == -ENOSYS)
		snprintf(out->text, size,
			 "this machine has no InfiniBand device: the "
			 "kernel's RDMA modules are not loaded");
	else if (err)
		snprintf(out->text, size,
			 "cannot read this machine's devices: %s",
			 strerror(-err));
	else
		snprintf(out->text, size,
			 "this machine has no InfiniBand device");
}

int no_device_explain(int err)
{
	struct ibsa_error error;

	if (server_failure(&error))
		return fail_device("%s", error.text);
	no_device_text(err, &error);
	complain("%s", error.text);
	suggest_fabric();
	return CLI_DEVICE;
}

void suggest_start(void)
{
	struct ibsa_device_list *list;
	const int err = ibsa_devices_read(&list);

	no_device_explain(err);
	if (err == 0)
		ibsa_devices_free(list);
}
