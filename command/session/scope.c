/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the devices and ports that a command applies to. */
#include <stdlib.h>
#include <string.h>

#include <ibsa/text.h>

#include "common/host.h"
#include "session/scope.h"

/* Maximum length of a topology file's path in a message. */
enum { FABRIC_SHOWN = 44 };

/*
 * Parse DEVICE or DEVICE/PORT. The text after a slash is a port only if it is
 * a number, because a node's name on a fabric may contain slashes.
 */
int scope_parse(const char *text, struct scope *out)
{
	const char *slash = strrchr(text, '/');
	uint64_t port;

	out->device = text;
	if (!slash || ibsa_number_parse(slash + 1, 32, &port) != 0)
		return CLI_DONE;
	if (slash == text || port == 0) {
		complain("'%s' is not DEVICE/PORT, with a port from 1", text);
		return CLI_USAGE;
	}
	out->owned = strndup(text, (size_t)(slash - text));
	if (!out->owned) {
		complain("out of memory");
		return CLI_DEVICE;
	}
	out->device = out->owned;
	out->port = (unsigned int)port;
	return CLI_DONE;
}

int scope_find(const struct cli *cli, struct scope *out)
{
	const bool is_by_option = cli->open.device || cli->open.port;
	const char *command = cli->args[0];

	*out = (struct scope){ .fabric = cli->open.fabric };
	if (!out->fabric)
		out->fabric = secure_getenv("IBSA_FABRIC");
	if (cli->arg_count > 2 || (cli->arg_count == 2 && is_by_option)) {
		complain("%s accepts one device or port; remove '%s'; see "
			 "ibsa %s --help",
			 command, cli->args[cli->arg_count - 1], command);
		return CLI_USAGE;
	}
	if (cli->arg_count == 2)
		return scope_parse(cli->args[1], out);
	if (cli->open.port && !cli->open.device) {
		complain("%s --port needs --device", command);
		return CLI_USAGE;
	}
	out->device = cli->open.device;
	out->port = cli->open.port;
	return CLI_DONE;
}

void scope_free(struct scope *scope)
{
	free(scope->owned);
}

bool scope_has_device(const struct scope *scope, const char *device)
{
	return !scope->device || ibsa__host_match(scope->device, device) > 0;
}

/* A node id is tested first, as by ibsa_open(). */
bool scope_has_node(const struct scope *scope,
		    const struct ibsa_fabric_port *port)
{
	return !scope->device || strcmp(scope->device, port->id) == 0 ||
	       ibsa__host_match(scope->device, port->node) > 0;
}

bool scope_has_port(const struct scope *scope, unsigned int port)
{
	return !scope->port || scope->port == port;
}

void scope_none(const struct scope *scope, bool has_device,
		struct ibsa_error *out)
{
	const char *fabric = scope->fabric;
	char option[FABRIC_SHOWN + sizeof(" --fabric ''")] = "";

	if (fabric && *fabric && strlen(fabric) < FABRIC_SHOWN)
		snprintf(option, sizeof(option), " --fabric '%s'", fabric);
	else if (fabric && *fabric)
		snprintf(option, sizeof(option), " --fabric FILE");
	if (!scope->device)
		snprintf(out->text, sizeof(out->text),
			 "there is no port %u; list the ports with: ibsa "
			 "devices%s",
			 scope->port, option);
	else if (has_device)
		snprintf(out->text, sizeof(out->text),
			 "device '%.64s' has no port %u; list its ports with: "
			 "ibsa devices '%.64s'%s",
			 scope->device, scope->port, scope->device, option);
	else
		snprintf(out->text, sizeof(out->text),
			 "there is no device '%.64s'; list them with: ibsa "
			 "devices%s",
			 scope->device, option);
}
