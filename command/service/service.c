/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa service: lists, registers and removes services. */
#include <inttypes.h>
#include <string.h>

#include "output/column_table.h"
#include "session/own_port.h"
#include "session/query_wait.h"
#include "output/fields.h"
#include "service/service.h"
#include "options/command.h"

enum { DEFAULT_PKEY = 0xffff };

static const uint64_t identity = IBSA_SERVICE_CM(service_id) |
				 IBSA_SERVICE_CM(service_gid) |
				 IBSA_SERVICE_CM(service_pkey);

void service_cells(struct out *out, const struct ibsa_service *service)
{
	const struct ibsa_record *record = &ibsa_service_record;

	fields_named_as(out, "id", record, "service_id", service);
	fields_named_as(out, "gid", record, "service_gid", service);
	fields_named_as(out, "pkey", record, "service_pkey", service);
	fields_named_as(out, "lease", record, "service_lease", service);
	fields_named_as(out, "name", record, "service_name", service);
}

static void service_row(struct out *out, size_t index, void *arg)
{
	const struct ibsa_record *record = &ibsa_service_record;
	struct ibsa_service service;

	if (ibsa_reply_decode(arg, index, &service, sizeof(service)) != 0)
		return;
	if (out_is_brief(out)) {
		service_cells(out, &service);
		return;
	}
	for (unsigned int i = 0; i < record->field_count; i++)
		fields_field(out, &record->fields[i], &service);
}

static int reply_print(struct cli *cli, const struct ibsa_reply *reply,
		       void *arg)
{
	struct ibsa_reply rows = *reply;

	(void)arg;
	out_rows(&cli->out, rows.count, service_row, &rows);
	return CLI_DONE;
}

void service_local_warn(const struct cli *cli)
{
	if (fabric_file(cli))
		complain("this is an embedded fabric: only this process sees "
			 "the service, and the service ends with the process");
}

/* Return: the second part of the message that a service does not exist. */
static const char *process_only_hint(const struct cli *cli)
{
	return fabric_file(cli) ? "; on an embedded fabric only the process "
				  "that registers a service sees it"
				: "";
}

/* Parse FIELD=VALUE arguments, beginning with argument @from. */
static int fields_parse(struct cli *cli, int from, struct service *service)
{
	const struct ibsa_record *record = &ibsa_service_record;
	struct fields_mask mask = { .all = service->mask };
	struct ibsa_error error;
	char room[ARGUMENT_ROOM];
	const char *text;
	int status = CLI_DONE;

	for (int i = from; i < cli->arg_count && status == CLI_DONE; i++) {
		status = self_replace(cli, record, cli->args[i], room, &text);
		if (status != CLI_DONE ||
		    fields_select(record, text, &service->record, &mask,
				  &error) == 0)
			continue;
		complain("%s", error.text);
		status = CLI_USAGE;
	}
	service->mask = mask.all;
	return status;
}

static int id_parse(const char *text, struct service *service)
{
	uint64_t *id = &service->record.service_id;

	if (ibsa_number_parse(text, 64, id) != 0)
		return fail_usage("'%s' is not a service ID: an ID is a 64-bit "
				  "number such as 0x1000; see ibsa service "
				  "--help",
				  text);
	service->mask |= IBSA_SERVICE_CM(service_id);
	return CLI_DONE;
}

/*
 * Parse a service name in the form of the output, where \xNN stands for a byte
 * that cannot be printed.
 */
static int name_parse(const char *text, struct service *service)
{
	const struct ibsa_record *record = &ibsa_service_record;
	unsigned int index;
	const struct ibsa_field *field = ibsa_field_find(record, "service_name",
							 &index);

	if (!*text ||
	    ibsa_field_parse(field, index, text, &service->record) != 0)
		return fail_usage("'%s' is not a service name: a name has 1 to "
				  "%zu bytes; write unprintable ones as \\xNN",
				  text,
				  sizeof(service->record.service_name) - 1);
	service->mask |= IBSA_SERVICE_CM(service_name);
	return CLI_DONE;
}

/* Defaults for service_pkey and service_gid. */
static int owner_set(struct cli *cli, struct service *service)
{
	if (!(service->mask & IBSA_SERVICE_CM(service_pkey)))
		service->record.service_pkey = DEFAULT_PKEY;
	service->mask |= IBSA_SERVICE_CM(service_pkey);
	if (service->mask & IBSA_SERVICE_CM(service_gid))
		return CLI_DONE;
	service->mask |= IBSA_SERVICE_CM(service_gid);
	return own_gid_get(cli, &service->record.service_gid);
}

/* Set the lease if --lease is given. */
static int lease_set(struct cli *cli, struct service *service)
{
	const bool given = service->mask & IBSA_SERVICE_CM(service_lease);

	if (given && service->record.service_lease == 0)
		return fail_usage("service_lease=0 is not a lease: use a "
				  "number of seconds from 1 to 4294967294, or "
				  "infinite");
	if (!service_own(cli)->lease)
		return CLI_DONE;
	if (given)
		return fail_usage("the lease is given twice; remove --lease or "
				  "service_lease");
	service->record.service_lease = service_own(cli)->lease;
	service->mask |= IBSA_SERVICE_CM(service_lease);
	return CLI_DONE;
}

int service_parse(struct cli *cli, struct service *out)
{
	int status = id_parse(cli->args[2], out);

	if (status == CLI_DONE)
		status = name_parse(cli->args[3], out);
	if (status == CLI_DONE)
		status = fields_parse(cli, 4, out);
	if (status == CLI_DONE)
		status = lease_set(cli, out);
	return status;
}

static int service_query(struct cli *cli, uint8_t method,
			 const struct service *service)
{
	const struct ibsa_query query = {
		.record = &ibsa_service_record,
		.match = &service->record,
		.mask = service->mask,
		.method = method,
	};
	int status = query_wait(cli, &query, reply_print, NULL);

	if (status == CLI_NO)
		out_rows(&cli->out, 0, service_row, NULL);
	return status;
}

static int service_list(struct cli *cli)
{
	struct service service = { .mask = 0 };
	int status = fields_parse(cli, 2, &service);

	if (status == CLI_DONE)
		status = service_query(cli, IBSA_METHOD_GET_TABLE, &service);
	if (status == CLI_NO)
		complain("the SA shows no service%s%s",
			 service.mask ? " with these fields" : "",
			 process_only_hint(cli));
	return status;
}

/*
 * Parse a service: text that begins with "id:" or "0x" is an ID; other text,
 * or text after "name:", is a name.
 */
static int target_text_parse(const char *text, struct service *service)
{
	if (strncmp(text, "id:", 3) == 0)
		return id_parse(text + 3, service);
	if (strncmp(text, "name:", 5) == 0)
		return name_parse(text + 5, service);
	if (strncmp(text, "0x", 2) == 0)
		return id_parse(text, service);
	return name_parse(text, service);
}

/*
 * Whether the text is a decimal number: it was parsed as a name, and the
 * message gives a hint.
 */
static bool is_decimal(const char *text)
{
	return text[strspn(text, "0123456789")] == '\0';
}

static int service_lookup(struct cli *cli)
{
	struct service service = { .mask = 0 };
	int status = target_text_parse(cli->args[2], &service);

	if (status == CLI_DONE)
		status = fields_parse(cli, 3, &service);
	if (status == CLI_DONE)
		status = service_query(cli, IBSA_METHOD_GET_TABLE, &service);
	if (status == CLI_NO)
		complain("the SA shows no service '%s'%s%s%s", cli->args[2],
			 cli->arg_count > 3 ? " with these fields" : "",
			 is_decimal(cli->args[2])
				 ? "; the number was looked up as a name: for "
				   "a ServiceID, write id: before it"
				 : "",
			 process_only_hint(cli));
	return status;
}

static int service_register(struct cli *cli)
{
	struct service service = { .mask = 0 };
	int status;

	if (service_own(cli)->renew)
		return service_renew(cli);
	status = service_parse(cli, &service);
	if (!(service.mask & IBSA_SERVICE_CM(service_lease)))
		service.record.service_lease = IBSA_LEASE_INFINITE;
	service.mask |= IBSA_SERVICE_CM(service_lease);
	if (status == CLI_DONE)
		status = owner_set(cli, &service);
	if (status == CLI_DONE)
		status = service_query(cli, IBSA_METHOD_SET, &service);
	if (status == CLI_DONE)
		service_local_warn(cli);
	return status;
}

static void no_such_service_explain(const struct cli *cli,
				    const struct service *service)
{
	char gid[IBSA_GID_TEXT];

	if (ibsa_gid_format(&service->record.service_gid, gid, sizeof(gid)) < 0)
		gid[0] = '\0';
	complain(
		"no service 0x%" PRIx64
		" of %s with P_Key 0x%04x is registered; to list the service_gid "
		"and service_pkey of each service, type: ibsa service list%s",
		service->record.service_id, gid, service->record.service_pkey,
		process_only_hint(cli));
}

/*
 * Remove a service. The ID, GID and P_Key of the service are sent, because the
 * SA compares these fields regardless of the component mask.
 */
static int service_unregister(struct cli *cli)
{
	struct service service = { .mask = 0 };
	int status = id_parse(cli->args[2], &service);

	if (status == CLI_DONE)
		status = fields_parse(cli, 3, &service);
	if (status != CLI_DONE)
		return status;
	if (service.mask & ~identity)
		return fail_usage("a service is identified by its ID, "
				  "service_gid and service_pkey; remove the "
				  "other fields");
	status = owner_set(cli, &service);
	if (status == CLI_DONE)
		status = service_query(cli, IBSA_METHOD_DELETE, &service);
	if (status == CLI_NO)
		no_such_service_explain(cli, &service);
	return status;
}

/* clang-format off */
static const struct action {
	const char *name;
	const char *arguments;
	const char *help;
	int needs; /* number of arguments */
	bool registers; /* takes --lease and --renew */
	int (*run)(struct cli *cli);
} actions[] = {
	{ "list", "[FIELD=VALUE...]",
	  "list the registered services", 0, false, service_list },
	{ "lookup", "NAME|ID [FIELD=VALUE...]",
	  "list the services with this name or ID", 1, false,
	  service_lookup },
	{ "register", "ID NAME [FIELD=VALUE...]",
	  "register a service; --renew renews it and removes it at the end",
	  2, true, service_register },
	{ "unregister", "ID [FIELD=VALUE...]",
	  "remove a service", 1, false, service_unregister },
};
/* clang-format on */

enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const struct action *action_find(const char *name)
{
	for (size_t i = 0; i < ACTIONS; i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	complain("unknown action '%s': service has list, lookup, register and "
		 "unregister; see ibsa service --help",
		 name);
	return NULL;
}

static int cmd_service_can_help(struct cli *cli)
{
	if (cli->arg_count > 1 && !action_find(cli->args[1]))
		return CLI_USAGE;
	return CLI_DONE;
}

static void cmd_service_details(struct cli *cli)
{
	for (size_t i = 0; i < ACTIONS; i++) {
		out_line(&cli->out, "  %s %s%s", actions[i].name,
			 actions[i].arguments,
			 actions[i].registers ? " [--lease SECONDS] [--renew]"
					      : "");
		out_line(&cli->out, "      %s", actions[i].help);
	}
	out_line(&cli->out, "%s", "");
}

/* clang-format off */
static const struct column service_column_list[] = {
	RECORD(service),
};

static const struct column service_renew_list[] = {
	ALWAYS("time", TIME),
	WORDS("event", "registered|lost|registered again|replaced|failed|"
		       "refused|removed|not removed"),
	MAYBE("reason", TEXT),
	ALWAYS("status", NUMBER),
	RECORD(service),
};
/* clang-format on */

static const struct columns columns_service = COLUMN_TABLE("service",
							   service_column_list);
static const struct columns columns_service_renew =
	COLUMN_STREAM("service-renew", service_renew_list);

static int cmd_service(struct cli *cli)
{
	const struct action *action;
	int status;

	if (cli->arg_count < 2)
		return fail_usage("service needs an action: list, lookup, "
				  "register or unregister; see ibsa service "
				  "--help");
	action = action_find(cli->args[1]);
	if (!action)
		return CLI_USAGE;
	if (cli->arg_count - 2 < action->needs)
		return fail_usage("service %s needs %s; see ibsa service "
				  "--help",
				  action->name, action->arguments);
	if ((service_own(cli)->lease || service_own(cli)->renew) &&
	    !action->registers)
		return fail_usage("service %s has no option --%s", action->name,
				  service_own(cli)->lease ? "lease" : "renew");
	status = columns_use(cli, service_own(cli)->renew
					  ? &columns_service_renew
					  : &columns_service);
	return status == CLI_DONE ? action->run(cli) : status;
}

static int lease_option(void *to, const char *value)
{
	uint32_t *lease = to;
	uint64_t seconds = IBSA_LEASE_INFINITE;

	if (strcmp(value, "infinite") != 0 &&
	    (ibsa_number_parse(value, 32, &seconds) != 0 || seconds == 0 ||
	     seconds == IBSA_LEASE_INFINITE))
		return fail_usage("--lease: '%s' is neither a number of "
				  "seconds from 1 to 4294967294 nor infinite",
				  value);
	*lease = (uint32_t)seconds;
	return CLI_DONE;
}

/* clang-format off */
static const struct option_row rows[] = {
	{ 0, "lease", "SECONDS",
	  "register: lease in seconds, or infinite",
	  OPTION_BY(lease_option, struct service_options, lease) },
	{ 0, "renew", NULL, "register: renew it, remove it at the end",
	  OPTION_AT(struct service_options, renew) },
};

static const struct option_table table =
	OPTION_TABLE(rows, struct service_options);

const struct command command_service = {
	.name = "service",
	.arguments = "ACTION [ARGUMENT...]",
	.help = "list, register or remove services",
	.options = &table,
	.groups = GROUP_ALL | GROUP_RECORD,
	.columns = (const struct columns *const[]){ &columns_service, &columns_service_renew, NULL },
	.run = cmd_service,
	.text =
	"FIELD=VALUE sets another field of the record; for the fields, see\n"
	"ibsa query get ServiceRecord --help. lookup takes an argument that\n"
	"begins with 0x or id: as an ID, any other as a NAME.\n",
	.details = cmd_service_details,
	.can_help = cmd_service_can_help,
};
/* clang-format on */
