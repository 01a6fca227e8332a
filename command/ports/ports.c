/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the ports of ibsa devices and ibsa gids. */
#include "output/columns.h"
#include "ports/ports.h"

int ports_none(struct cli *cli, const struct scope *scope, bool has_device)
{
	struct ibsa_error error;

	scope_none(scope, has_device, &error);
	out_rows(&cli->out, 0, NULL, NULL);
	return fail_device("%s", error.text);
}

int ports_no_device(struct cli *cli, int err)
{
	out_rows(&cli->out, 0, NULL, NULL);
	return no_device_explain(err);
}

int ports_no_adapter(struct cli *cli, const char *what)
{
	out_rows(&cli->out, 0, NULL, NULL);
	return fail_device("%s has no channel adapter, so there are no %s to "
			   "list; name a file with a channel adapter",
			   fabric_file(cli), what);
}

static int machine_list(struct cli *cli, const struct scope *scope,
			const struct ports_lister *lister, void *arg)
{
	if (!server_is_silent(cli))
		return lister->machine(cli, scope, arg);
	out_rows(&cli->out, 0, NULL, NULL);
	return CLI_DEVICE;
}

static int fabric_list(struct cli *cli, struct scope *scope,
		       const struct ports_lister *lister, void *arg)
{
	struct ibsa_fabric *fabric;
	int status = scope_fabric_load(scope, fabric_file(cli), &fabric);

	if (status != CLI_DONE)
		return status;
	status = lister->fabric(cli, scope, fabric, arg);
	ibsa_fabric_put(fabric);
	return status;
}

int ports_list(struct cli *cli, const struct columns *columns,
	       const struct ports_lister *lister, void *arg)
{
	struct scope scope;
	int status = scope_find(cli, &scope);

	if (status == CLI_DONE)
		status = columns_use(cli, columns);
	if (status == CLI_DONE)
		status = fabric_file(cli)
				 ? fabric_list(cli, &scope, lister, arg)
				 : machine_list(cli, &scope, lister, arg);
	scope_free(&scope);
	return status;
}
