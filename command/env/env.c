/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa env: prints environment variables for UCX and NCCL whose values follow
 * from this machine's ports and its SA.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/clean.h"
#include "output/column_table.h"
#include "env/env.h"
#include "options/command.h"
#include "options/shared.h"

enum { NAME_BYTES = 64 };

/*
 * An environment variable with its value, or NULL if it is not set; and the
 * reason for either.
 */
struct variable {
	const char *name;
	char *value;
	struct ibsa_error reason;
};

/* The names of the environment variables of UCX or NCCL. */
struct library {
	const char *name;
	const char *devices;
	const char *devices_prefix; /* names are whole, not prefixes */
	const char *gid_index;
	const char *pkey;
	/*
	 * Whether the value of @pkey is the index in the P_Key table, not the
	 * P_Key.
	 */
	bool pkey_is_index;
	const char *sl;
	const char *traffic_class;
};

/*
 * The libraries and their environment variables: L(name, devices, prefix of a
 * list of devices that makes the library compare whole names, GID index, P_Key,
 * whether the value for the P_Key is its index in the P_Key table, SL, traffic
 * class). Source: ucx_info -c -f of UCX 1.13; NCCL user guide, "Environment
 * Variables"; for NCCL_IB_PKEY the sources of NCCL 2.
 */
/* clang-format off */
#define ENV_LIBRARIES(L)                                                    \
	L("ucx", "UCX_NET_DEVICES", "", "UCX_IB_GID_INDEX", "UCX_IB_PKEY",  \
	  false, "UCX_IB_SL", "UCX_IB_TRAFFIC_CLASS")                       \
	L("nccl", "NCCL_IB_HCA", "=", "NCCL_IB_GID_INDEX", "NCCL_IB_PKEY",  \
	  true, "NCCL_IB_SL", "NCCL_IB_TC")
/* clang-format on */

static const struct library libraries[] = {
#define LIBRARY(...) { __VA_ARGS__ },
	ENV_LIBRARIES(LIBRARY)
#undef LIBRARY
};

struct env {
	const struct library *library;
	struct env_facts facts;
	struct variable all[8];
	size_t count;
	bool out_of_memory;
};

/*
 * Add an environment variable with its value, or NULL if it is not set;
 * @format is the reason for either.
 */
static void variable_add(struct env *env, const char *name, const char *value,
			 const char *format, ...)
{
	struct variable *added = &env->all[env->count++];
	va_list args;

	*added = (struct variable){ .name = name };
	if (value) {
		added->value = strdup(value);
		env->out_of_memory |= !added->value;
	}
	va_start(args, format);
	vsnprintf(added->reason.text, sizeof(added->reason.text), format, args);
	va_end(args);
}

/*
 * Whether a list of devices can contain the device's name: UCX and NCCL
 * separate devices by commas, and device and port by a colon.
 */
static bool is_listable(const struct machine_port *port)
{
	const char *text = port->device;
	char clean[4 * NAME_BYTES + 1];

	ibsa__text_clean(&text, clean, sizeof(clean));
	return !*text && strcmp(clean, port->device) == 0 &&
	       !strpbrk(port->device, ",:");
}

static void devices_add(struct env *env)
{
	const struct env_facts *facts = &env->facts;
	size_t size = 2 + facts->count * (NAME_BYTES * 4 + 8);
	char *list = calloc(1, size);
	size_t len = 0;
	size_t left_out = 0;

	env->out_of_memory |= !list;
	for (size_t i = 0; list && i < facts->count; i++) {
		const struct machine_port *port = facts->ports[i].port;

		if (!is_listable(port)) {
			left_out++;
			continue;
		}
		len += (size_t)snprintf(list + len, size - len, "%s%s:%u",
					len ? ","
					    : env->library->devices_prefix,
					port->device, port->number);
	}
	if (list && len)
		variable_add(env, env->library->devices, list,
			     left_out ? "the active ports, except %zu whose "
					"device has a comma, a colon or an "
					"unsafe character in its name"
				      : "these ports are active",
			     left_out);
	else if (list)
		variable_add(env, env->library->devices, NULL,
			     "the name of each device has a comma, a colon or "
			     "an unsafe character");
	free(list);
}

/* @format: of a value, as "%u" */
static void number_add(struct env *env, const char *name, unsigned int number,
		       const char *format, const char *reason)
{
	char text[16];

	snprintf(text, sizeof(text), format, number);
	variable_add(env, name, text, "%s", reason);
}

/*
 * Add the reason why a variable is not set: the ports have different values,
 * but it can have only one.
 */
static void differ_add(struct env *env, const char *name, const char *what,
		       const struct env_value *value, const char *format)
{
	char one[16], other[16];

	snprintf(one, sizeof(one), format, value->number);
	snprintf(other, sizeof(other), format, value->other);
	variable_add(env, name, NULL, "%s differs: %s and %s", what, one,
		     other);
}

static void gid_index_add(struct env *env)
{
	const struct env_value *index = &env->facts.gid_index;

	if (index->kind == ENV_DIFFERS)
		differ_add(env, env->library->gid_index,
			   "the GID index of the RoCE ports", index, "%u");
	else if (index->kind == ENV_KNOWN)
		number_add(env, env->library->gid_index, index->number, "%u",
			   "the index of the best RoCE GID; see ibsa gids");
}

/*
 * The different P_Keys that the ports use, as text; those for which @text has
 * no room are omitted.
 */
struct pkeys {
	char text[64];
	size_t count;
	bool has_limited;
};

static void pkeys_list(const struct env_facts *facts, struct pkeys *out)
{
	size_t len = 0;

	*out = (struct pkeys){ .count = 0 };
	for (size_t i = 0; i < facts->count; i++) {
		const struct env_port *at = &facts->ports[i];
		char text[sizeof(", 0x8001")];
		uint16_t pkey;

		if (at->pkey_index >= at->port->pkey_count)
			continue;
		pkey = at->port->pkeys[at->pkey_index];
		out->has_limited |= !(pkey & IBSA_PKEY_FULL);
		snprintf(text, sizeof(text), "0x%04x", pkey);
		if (strstr(out->text, text))
			continue;
		if (len + sizeof(text) < sizeof(out->text))
			len += (size_t)snprintf(out->text + len,
						sizeof(out->text) - len, "%s%s",
						len ? ", " : "", text);
		out->count++;
	}
}

static void pkey_reason(const struct env *env, char *out, size_t size)
{
	const struct env_facts *facts = &env->facts;
	struct pkeys pkeys;
	const char *noun;

	pkeys_list(facts, &pkeys);
	noun = pkeys.count > 1 ? "P_Keys" : "P_Key";
	if (facts->pkey_is_given && pkeys.has_limited)
		snprintf(out, size, "%s %s, %s of the partition of --pkey",
			 noun, pkeys.text,
			 pkeys.count > 1 ? "with limited members"
					 : "a limited member");
	else if (pkeys.count > 1 && env->library->pkey_is_index)
		snprintf(out, size, "index %u on all ports (%s)",
			 facts->pkey_index.number, pkeys.text);
	else if (pkeys.count > 1)
		snprintf(out, size, "the same partition on all ports (%s)",
			 pkeys.text);
	else
		snprintf(out, size, "%s %s%s", noun, pkeys.text,
			 facts->pkey_is_given ? ", from --pkey"
			 : pkeys.has_limited
				 ? " is the first one; none has full membership"
				 : " is the first one with full membership");
}

/*
 * Add the variable for the P_Key, unless index 0 of the P_Key table has full
 * membership: UCX and NCCL use index 0 by default.
 */
static void pkey_add(struct env *env)
{
	const struct env_facts *facts = &env->facts;
	const bool is_index = env->library->pkey_is_index;
	const struct env_value *value = is_index ? &facts->pkey_index
						 : &facts->pkey;
	char reason[128];

	if (facts->pkey_index.kind == ENV_KNOWN &&
	    facts->pkey_index.number == 0)
		return;
	if (value->kind == ENV_DIFFERS)
		differ_add(env, env->library->pkey,
			   is_index ? "the index of the P_Key" : "the P_Key",
			   value, is_index ? "%u" : "0x%04x");
	if (value->kind != ENV_KNOWN)
		return;
	pkey_reason(env, reason, sizeof(reason));
	number_add(env, env->library->pkey, value->number,
		   is_index ? "%u" : "0x%x", reason);
}

static void path_value_add(struct env *env, const char *name, const char *what,
			   const struct env_value *value)
{
	char reason[128];

	if (value->kind == ENV_DIFFERS)
		differ_add(env, name, what, value, "%u");
	if (value->kind != ENV_KNOWN || value->number == 0)
		return;
	snprintf(reason, sizeof(reason),
		 env->facts.path_count == 1 ? "%s is that of the only path"
					    : "%s is the same on all %zu paths",
		 what, env->facts.path_count);
	number_add(env, name, value->number, "%u", reason);
}

/*
 * NCCL_CROSS_NIC: whether a ring may use another adapter at one end than at the
 * other. Source: NCCL user guide, "Environment Variables".
 */
static void cross_nic_add(struct env *env)
{
	const enum env_wiring wiring = env->facts.wiring;

	if (strcmp(env->library->name, "nccl") != 0)
		return;
	if (wiring == ENV_WIRING_RAILS)
		variable_add(env, "NCCL_CROSS_NIC", "0",
			     "each rail has a switch of its own");
	else if (wiring == ENV_WIRING_ONE_SWITCH)
		variable_add(env, "NCCL_CROSS_NIC", "1",
			     "all ports are connected to one switch");
}

static void variables_add(struct env *env)
{
	devices_add(env);
	gid_index_add(env);
	pkey_add(env);
	path_value_add(env, env->library->sl, "the SL of the SA",
		       &env->facts.sl);
	path_value_add(env, env->library->traffic_class,
		       "the traffic class of the SA",
		       &env->facts.traffic_class);
	cross_nic_add(env);
}

/* Write the value quoted as one word of the shell. */
static void value_quote(const char *value, char *out, size_t size)
{
	static const char plain[] = "0123456789:,._-abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t len;

	if (value[strspn(value, plain)] == '\0') {
		snprintf(out, size, "%s", value);
		return;
	}
	len = (size_t)snprintf(out, size, "'");
	for (; *value; value++)
		len += (size_t)snprintf(out + len, size - len,
					*value == '\'' ? "'\\%c'" : "%c",
					*value);
	snprintf(out + len, size - len, "'");
}

static int variable_print(struct env *env, struct out *out,
			  const struct variable *variable)
{
	size_t size;
	char *word;

	if (!variable->value) {
		out_line(out, "# %s is not set: %s", variable->name,
			 variable->reason.text);
		return CLI_DONE;
	}
	size = 4 * strlen(variable->value) + sizeof("''");
	word = malloc(size);
	env->out_of_memory |= !word;
	if (!word)
		return CLI_DEVICE;
	value_quote(variable->value, word, size);
	out_line(out, "# %s", variable->reason.text);
	out_line(out, "export %s=%s", variable->name, word);
	free(word);
	return CLI_DONE;
}

static void variable_row(struct out *out, size_t index, void *arg)
{
	const struct env *env = arg;
	const struct variable *variable = &env->all[index];

	out_text(out, "variable", variable->name);
	out_text_or_none(out, "value", variable->value);
	out_text(out, "reason", variable->reason.text);
}

static int env_print(struct cli *cli, struct env *env, int status)
{
	struct out *out = &cli->out;

	if (out_is_data(out))
		out_rows(out, env->count, variable_row, env);
	for (size_t i = 0; i < env->count && !out_is_data(out); i++)
		(void)variable_print(env, out, &env->all[i]);
	if (!env->out_of_memory)
		return status;
	return no_memory();
}

/* clang-format off */
#define VARIABLE_WORD(name, devices, prefix, gid_index, pkey, is_index, sl, \
		      traffic_class)                                        \
	"|" devices "|" gid_index "|" pkey "|" sl "|" traffic_class
#define VARIABLE_WORDS ENV_LIBRARIES(VARIABLE_WORD) "|NCCL_CROSS_NIC"

static const struct column env_list[] = {
	WORDS("variable", VARIABLE_WORDS),
	MAYBE("value", TEXT),
	ALWAYS("reason", TEXT),
};
/* clang-format on */

static const struct columns columns_env = COLUMN_TABLE("env", env_list);

static int env_run(struct cli *cli, const struct library *library)
{
	struct env env = { .library = library };
	int status = columns_use(cli, &columns_env);

	if (status != CLI_DONE)
		return status;
	status = env_facts_read(cli, &env.facts);
	if (env.facts.count) {
		variables_add(&env);
		status = env_print(cli, &env, status);
	} else if (out_is_data(&cli->out)) {
		out_rows(&cli->out, 0, variable_row, &env);
	}
	for (size_t i = 0; i < env.count; i++)
		free(env.all[i].value);
	env_facts_free(&env.facts);
	return status;
}

static int cmd_env(struct cli *cli)
{
	if (cli->arg_count != 2)
		return fail_usage("env needs one word, ucx or nccl; see "
				  "ibsa env --help");
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strcmp(libraries[i].name, cli->args[1]) == 0)
			return env_run(cli, &libraries[i]);
	return fail_usage("env: unknown library '%s'; use ucx or nccl",
			  cli->args[1]);
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_PKEY(struct env_options, pkeys, 0),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct env_options);

const struct command command_env = {
	.name = "env",
	.arguments = "ucx|nccl",
	.help = "print the environment variables of UCX or NCCL",
	.options = &table,
	.groups = GROUP_ALL,
	.columns = (const struct columns *const[]){ &columns_env, NULL },
	.run = cmd_env,
	.text =
	"Prints, as commands for sh, the variables of UCX or NCCL that follow\n"
	"from the ports of this machine and its SA, each with its reason.\n"
	"\n"
	"  eval \"$(ibsa env ucx)\"\n"
	"  ibsa env nccl --pkey 0x8001 >/etc/profile.d/nccl.sh\n",
};
/* clang-format on */
