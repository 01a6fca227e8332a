/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the devices and ports that a command applies to. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibsa/text.h>

#include "common/host.h"
#include "session/scope.h"

/* Maximum length of a topology file's path in a message. */
enum { FABRIC_SHOWN = 44 };

/* A name is a description or its first word; see ibsa__host_match(). */
enum { HOST_IS_WHOLE = 3 };

/*
 * Return the length of the name in NAME or NAME/PORT, and store the port in
 * @out_port if there is one. The text after a slash is a port only if it is a
 * number, because a node's name on a fabric may contain slashes.
 */
static size_t name_len(const char *text, uint64_t *out_port)
{
	const char *slash = strrchr(text, '/');

	if (!slash || ibsa_number_parse(slash + 1, 32, out_port) != 0)
		return strlen(text);
	return (size_t)(slash - text);
}

int scope_parse(const char *text, struct scope *out)
{
	uint64_t port = 0;
	const size_t len = name_len(text, &port);

	out->device = text;
	if (!text[len])
		return CLI_DONE;
	if (len == 0 || port == 0)
		return fail_usage("'%s' is not DEVICE/PORT, with a port from "
				  "1",
				  text);
	out->owned = strndup(text, len);
	if (!out->owned)
		return no_memory();
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
	if (cli->arg_count > 2 || (cli->arg_count == 2 && is_by_option))
		return fail_usage("%s accepts one device or port; remove '%s'; "
				  "see ibsa %s --help",
				  command, cli->args[cli->arg_count - 1],
				  command);
	if (cli->arg_count == 2)
		return scope_parse(cli->args[1], out);
	if (cli->open.port && !cli->open.device)
		return fail_usage("%s --port needs --device", command);
	out->device = cli->open.device;
	out->port = cli->open.port;
	return CLI_DONE;
}

void scope_free(struct scope *scope)
{
	free(scope->owned);
}

bool scope_is_set(const char *device)
{
	return device && strpbrk(device, ",*?[");
}

/*
 * Return: how well the element @name, a name or a pattern, of a list fits a
 * description; a pattern is compared with the description, and with the device
 * in it; 0: it does not.
 */
static int element_match(const char *name, const char *description)
{
	char host_device[IBSA_VALUE_TEXT];
	const char *device = ibsa__host_device(description);
	const int match = ibsa__host_match(name, description);

	if (match)
		return match;
	if (!strpbrk(name, "*?["))
		return *device && strcmp(name, device) == 0;
	snprintf(host_device, sizeof(host_device), "%.*s/%s",
		 (int)strcspn(description, " "), description, device);
	return fnmatch(name, description, 0) == 0 ||
	       (*device && (fnmatch(name, device, 0) == 0 ||
			    fnmatch(name, host_device, 0) == 0));
}

/*
 * Return: how well the best element of a list fits a description and the port
 * @number; 0: none does. @number 0: any port.
 */
static int list_match(const char *list, const char *description,
		      unsigned int number)
{
	int best = 0;

	for (const char *at = list; *at;) {
		const size_t len = strcspn(at, ",");
		char element[IBSA_VALUE_TEXT];
		uint64_t port = 0;
		int match;

		snprintf(element, sizeof(element), "%.*s", (int)len, at);
		match = element_match(element, description);
		if (!match) {
			element[name_len(element, &port)] = '\0';
			match = element_match(element, description);
		}
		if (match > best && (!port || !number || port == number))
			best = match;
		at += len;
		at += *at == ',';
	}
	return best;
}

static int device_match(const char *text, const char *description,
			unsigned int number)
{
	const int match = ibsa__host_match(text, description);

	return match || !scope_is_set(text)
		       ? match
		       : list_match(text, description, number);
}

bool scope_has_device(const struct scope *scope, const char *device)
{
	return !scope->device || device_match(scope->device, device, 0) > 0;
}

bool scope_has_device_port(const struct scope *scope, const char *device,
			   unsigned int port)
{
	return scope_has_port(scope, port) &&
	       (!scope->device ||
		device_match(scope->device, device, port) > 0);
}

int scope_node_match(const char *name, const struct ibsa_fabric_port *port)
{
	enum { ID_MATCH = 100 };

	return strcmp(name, port->id) == 0
		       ? ID_MATCH
		       : device_match(name, port->node, port->number);
}

bool scope_has_node(const struct scope *scope,
		    const struct ibsa_fabric_port *port)
{
	return !scope->device || scope_node_match(scope->device, port) > 0;
}

static bool fabric_has_host(struct ibsa_fabric *fabric, const char *name)
{
	struct ibsa_fabric_port port;

	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++)
		if (ibsa__host_match(name, port.node) >= HOST_IS_WHOLE)
			return true;
	return false;
}

bool scope_own_host(struct ibsa_fabric *fabric, char out[IBSA_VALUE_TEXT])
{
	const char *node = secure_getenv("IBSA_NODE");
	uint64_t number;

	if (node && *node) {
		snprintf(out, IBSA_VALUE_TEXT, "%.*s",
			 (int)name_len(node, &number), node);
		return true;
	}
	if (gethostname(out, IBSA_VALUE_TEXT))
		return false;
	if (fabric_has_host(fabric, out))
		return true;
	out[strcspn(out, ".")] = '\0';
	return fabric_has_host(fabric, out);
}

void scope_at_host(struct scope *scope, struct ibsa_fabric *fabric)
{
	const char *device = scope->device;
	struct ibsa_fabric_port port;
	char host[IBSA_VALUE_TEXT];
	int best = 0;

	if (!device || !scope_own_host(fabric, host))
		return;
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++) {
		const int match = scope_node_match(host, &port);

		if (match <= best ||
		    strcmp(device, ibsa__host_device(port.node)) != 0)
			continue;
		best = match;
		scope->device = port.node;
	}
}

int scope_fabric_load(struct scope *scope, const char *file,
		      struct ibsa_fabric **out)
{
	struct ibsa_error error = { .text = "" };
	const int err = ibsa_fabric_load(file, NULL, &error, out);

	if (err)
		return error_explain(err, &error);
	scope_at_host(scope, *out);
	return CLI_DONE;
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
