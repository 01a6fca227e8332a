/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses the command line of ibsa path, in the two layouts of path records. */
#include "session/opa.h"
#include "path/path.h"
#include "session/query_wait.h"

static int wrong(const struct ibsa_error *error)
{
	return fail_usage("%s", error->text);
}

static int parse_ends(const struct cli *cli, struct path_query *path_query)
{
	struct ibsa_error error;

	for (int i = 0; i < 2; i++)
		if (target_parse_any(cli->args[i + 1], &path_query->ends[i],
				     &error) != 0)
			return wrong(&error);
	return CLI_DONE;
}

static void parse_fields(const struct cli *cli, struct form *form)
{
	for (int i = 3; i < cli->arg_count && !form->is_wrong; i++)
		form->is_wrong = fields_select(form->record, cli->args[i],
					       &form->match, &form->mask,
					       &form->error) != 0;
}

/* Whether a selector is for an end of the path, which SRC and DST are. */
static bool is_end(const char *selector)
{
	unsigned int index;
	const struct ibsa_field *field = fields_find(&ibsa_path_record,
						     selector, &index);
	const uint64_t ends = IBSA_PATH_CM(slid) | IBSA_PATH_CM(sgid) |
			      IBSA_PATH_CM(dlid) | IBSA_PATH_CM(dgid);

	return field && ibsa_field_cm(field, index) & ends;
}

/*
 * Parse the arguments in both layouts. An argument that is invalid in both is
 * an error on any link layer.
 */
int path_arguments_parse(struct cli *cli, struct path_query *path_query)
{
	int status;

	if (cli->arg_count < 3)
		return fail_usage("path needs SRC and DST; see ibsa path "
				  "--help");
	status = parse_ends(cli, path_query);
	if (status != CLI_DONE)
		return status;
	for (int i = 3; i < cli->arg_count; i++) {
		if (!is_end(cli->args[i]))
			continue;
		return fail_usage("SRC and DST already give the ends of the "
				  "path; remove slid, sgid, dlid and dgid");
	}
	parse_fields(cli, &path_query->ib);
	parse_fields(cli, &path_query->opa);
	if (path_query->ib.is_wrong && path_query->opa.is_wrong)
		return wrong(&path_query->ib.error);
	return CLI_DONE;
}

/*
 * Parse SRC and DST once more, because the valid range of LIDs depends on the
 * link layer. Refuse a multicast GID as SRC.
 */
static int ends_check(const struct cli *cli, struct path_query *path_query)
{
	struct ibsa_error error;

	for (int i = 0; i < 2; i++) {
		const char *text = cli->args[i + 1];
		struct target *end = &path_query->ends[i];

		if (path_query->is_opa ? target_parse_opa(text, end, &error)
				       : target_parse(text, end, &error))
			return wrong(&error);
	}
	if (path_query->ends[0].kind == TARGET_GID &&
	    path_query->ends[0].gid.raw[0] == 0xff)
		return fail_usage("SRC '%.64s' is a multicast GID; a group "
				  "cannot send",
				  cli->args[1]);
	return CLI_DONE;
}

/*
 * Refuse an MTU above 4096 with a message that lists the possible values:
 * OpenSM would refuse such an MTU without a list of the possible values.
 */
static int mtu_check(const struct form *form)
{
	enum { MTU_MAX = 4096 };
	const unsigned int bytes = ibsa_mtu_bytes(form->match.path.mtu);

	if (!(form->mask.all & IBSA_PATH_CM(mtu)) || bytes <= MTU_MAX)
		return CLI_DONE;
	return fail_usage("mtu: an InfiniBand path cannot have the MTU %u; "
			  "possible are 256, 512, 1024, 2048 and 4096",
			  bytes);
}

int path_form_choose(struct cli *cli, struct path_query *path_query,
		     struct form **out)
{
	struct ibsa_port_state port;
	int status = own_port_get(cli, &port);

	if (status != CLI_DONE)
		return status;
	path_query->is_opa = port.link == IBSA_LINK_OPA;
	status = ends_check(cli, path_query);
	if (status != CLI_DONE)
		return status;
	*out = path_query->is_opa && opa_has_paths(cli) ? &path_query->opa
							: &path_query->ib;
	if ((*out)->is_wrong)
		return wrong(&(*out)->error);
	return path_query->is_opa ? CLI_DONE : mtu_check(&path_query->ib);
}
