/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the GIDs of the targets of ibsa reach. */
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "session/query_wait.h"
#include "names/ends.h"
#include "output/fields.h"
#include "session/opa.h"
#include "reach/options.h"
#include "reach/resolver.h"

struct reach_target *reach_target_add(struct reach_targets *targets)
{
	return list_add(&targets->all, &targets->count, sizeof(*targets->all));
}

static void drop(struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];

	free(target->text);
	free(target->error);
	free(target->node);
	free(target->absence);
	*target = (struct reach_target){ .line = 0 };
}

/*
 * Return: the beginning of a message about a target: "line 3: " for a line of
 * standard input, "" for an argument.
 */
const char *reach_where(const struct reach_target *target, char out[32])
{
	out[0] = '\0';
	if (target->line)
		snprintf(out, 32, "line %lu: ", target->line);
	return out;
}

int reach_node_set(struct reach_target *target, const struct ibsa_node *node)
{
	if (!node)
		return CLI_DONE;
	target->node = strdup(node->node_description);
	return target->node ? CLI_DONE : no_memory();
}

/*
 * Find the NodeRecord of the port with this LID, which may be any LID of a
 * port with an LMC.
 */
static int find_lid(struct cli *cli, uint16_t lid, struct ibsa_node *out)
{
	const struct ibsa_node want = { .lid = lid };
	const struct ibsa_query query = {
		.record = &ibsa_node_record,
		.match = &want,
		.mask = IBSA_NODE_CM(lid),
		.method = IBSA_METHOD_GET_TABLE,
	};

	return query_wait(cli, &query, record_take, out);
}

static int set_port(const struct target_resolver *resolver,
		    struct reach_target *target, const struct ibsa_node *node)
{
	target->gid = fields_guid_gid(&resolver->own, node->port_guid);
	return reach_node_set(target, node);
}

/* Convert a target that is a LID. */
static int find_port(struct target_resolver *resolver,
		     struct reach_target *target)
{
	struct ibsa_node node;
	char line_text[32];
	int status = find_lid(resolver->cli, (uint16_t)target->what.lid, &node);

	if (status == CLI_DONE)
		return set_port(resolver, target, &node);
	if (status != CLI_NO)
		return status;
	complain("%s%s the LID %u", reach_where(target, line_text),
		 nodes_are_shown(resolver->cli->client)
			 ? "no port has"
			 : "the SA shows no port with",
		 target->what.lid);
	target->missing = IBSA_REASON_UNKNOWN_PORT;
	return CLI_DONE;
}

/*
 * Append a further port for the name of target @index. Return: the new target;
 * NULL if memory is short, which is reported.
 */
struct reach_target *reach_further_add(struct reach_targets *targets,
				       size_t index)
{
	struct reach_target *more = reach_target_add(targets);

	if (more) {
		more->line = targets->all[index].line;
		more->after = index + 1;
		more->text = strdup(targets->all[index].text);
	}
	if (more && more->text)
		return more;
	no_memory();
	return NULL;
}

/*
 * Find the ports of a node's name: its first port becomes the target, the
 * other ports are appended. arrange() moves them later.
 */
static int find_node(struct target_resolver *resolver,
		     struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];
	const struct nodes *nodes = resolver->has_nodes ? &resolver->nodes
							: NULL;
	struct node_ports ports;
	char line_text[32];
	int status = nodes_find(resolver->cli, nodes,
				reach_where(target, line_text),
				target->what.name, &ports);

	if (status == CLI_DONE)
		status = set_port(resolver, target, &ports.all[0]);
	for (size_t i = 1; i < ports.count && status == CLI_DONE; i++) {
		target = reach_further_add(targets, index);
		status = target ? set_port(resolver, target, &ports.all[i])
				: CLI_DEVICE;
	}
	node_ports_free(&ports);
	if (status == CLI_DONE || status == CLI_NO)
		status = reach_absent_find(resolver, targets, index, status);
	if (status != CLI_NO)
		return status;
	targets->all[index].missing = IBSA_REASON_NO_NAME;
	return CLI_DONE;
}

/* Convert "self" to this host's ports, likewise. */
static int find_own(struct target_resolver *resolver,
		    struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];
	const struct nodes *nodes = resolver->has_nodes ? &resolver->nodes
							: NULL;
	struct ends ends;
	int status = ends_own(resolver->cli, nodes, &ends);

	for (size_t i = 0; i < ends.count && status == CLI_DONE; i++) {
		const struct ibsa_gid *gid = &ends.all[i].gid;

		if (i)
			target = reach_further_add(targets, index);
		if (!target) {
			status = CLI_DEVICE;
			break;
		}
		target->gid = *gid;
		if (nodes)
			status = reach_node_set(
				target, nodes_at(nodes, fields_gid_guid(gid)));
	}
	ends_free(&ends);
	return status;
}

static bool is_long_lid(const struct target *target)
{
	return target->kind == TARGET_LID && target->lid >= IBSA_LID_PERMISSIVE;
}

/*
 * Find the GID of a LID of more than 16 bits. A NodeRecord has no room for it;
 * on Omni-Path a GID encodes it.
 */
static int take_long_lid(const struct target_resolver *resolver,
			 struct reach_target *target)
{
	struct ibsa_error error;
	char line_text[32];

	if (resolver->is_opa) {
		target->gid = opa_gid_of_lid(&resolver->own, target->what.lid);
		return CLI_DONE;
	}
	if (target_parse(target->text, &target->what, &error) != 0)
		complain("%s%s", reach_where(target, line_text), error.text);
	return CLI_USAGE;
}

static int resolve(struct target_resolver *resolver,
		   struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];
	const struct ibsa_node *node = NULL;
	struct ibsa_error error;

	if (resolver->is_opa && target->what.kind == TARGET_GUID)
		(void)target_parse_opa(target->text, &target->what, &error);
	if (is_long_lid(&target->what))
		return take_long_lid(resolver, target);
	switch (target->what.kind) {
	case TARGET_SELF:
		return find_own(resolver, targets, index);
	case TARGET_GID:
		target->gid = target->what.gid;
		break;
	case TARGET_GUID:
		target->gid = fields_guid_gid(&resolver->own,
					      target->what.guid);
		break;
	case TARGET_LID:
		return find_port(resolver, target);
	default:
		return find_node(resolver, targets, index);
	}
	if (resolver->has_nodes)
		node = nodes_at(&resolver->nodes,
				fields_gid_guid(&target->gid));
	return reach_node_set(target, node);
}

/*
 * Remove dropped targets, and move the further ports of each name behind its
 * first port. The further ports begin at index @given, in the order of their
 * names.
 */
static int arrange(struct reach_targets *targets, size_t given)
{
	struct reach_target *all = calloc(targets->count + 1, sizeof(*all));
	size_t more = given;
	size_t count = 0;

	if (!all)
		return no_memory();
	for (size_t i = 0; i < given; i++) {
		if (targets->all[i].text)
			all[count++] = targets->all[i];
		while (more < targets->count &&
		       targets->all[more].after == i + 1)
			all[count++] = targets->all[more++];
	}
	free(targets->all);
	targets->all = all;
	targets->count = count;
	return CLI_DONE;
}

/*
 * The SA did not answer. Return: CLI_DONE: the command continues, because
 * targets that need no query nevertheless get a result; CLI_SILENT: the command
 * ends, because of --matrix or --all, because a signal has arrived, or because
 * waiting has failed, which closes the client.
 */
static int silence_note(const struct cli *cli, struct reach_targets *targets)
{
	if (reach_own(cli)->matrix || targets->is_whole || !cli->client ||
	    interrupt_seen(cli->interrupt))
		return CLI_SILENT;
	targets->is_silent = true;
	targets->status = reach_worse(targets->status, CLI_SILENT);
	return CLI_DONE;
}

static bool needs_query(const struct target *target)
{
	return target->kind == TARGET_NAME ||
	       (target->kind == TARGET_LID && !is_long_lid(target));
}

/*
 * Find the GID of a target, unless that needs the answer of an SA that did not
 * answer before.
 */
static int resolve_or_mark(struct target_resolver *resolver,
			   struct reach_targets *targets, size_t index)
{
	struct reach_target *target = &targets->all[index];
	char line_text[32];
	int status = CLI_SILENT;

	if (target->error)
		return fail_usage("%s%s", reach_where(target, line_text),
				  target->error);
	if (!targets->is_silent || !needs_query(&target->what))
		status = resolve(resolver, targets, index);
	if (status != CLI_SILENT)
		return status;
	targets->all[index].is_unresolved = true;
	return silence_note(resolver->cli, targets);
}

/*
 * Find the GIDs of all targets. A line that cannot be parsed, or whose name is
 * ambiguous, is reported and dropped.
 */
static int resolve_all(struct target_resolver *resolver,
		       struct reach_targets *targets)
{
	const size_t given = targets->count;
	int status = CLI_DONE;

	for (size_t i = 0; i < given && status == CLI_DONE; i++) {
		status = resolve_or_mark(resolver, targets, i);
		if (status == CLI_USAGE && targets->all[i].line) {
			drop(targets, i);
			targets->status = status;
			status = CLI_DONE;
		}
	}
	return status == CLI_DONE ? arrange(targets, given) : status;
}

static int by_name(const void *a, const void *b)
{
	const struct reach_target *x = a;
	const struct reach_target *y = b;
	int order = strverscmp(x->node, y->node);

	return order ? order : memcmp(&x->gid, &y->gid, sizeof(x->gid));
}

/* Make every port of a channel adapter a target, sorted by node name. */
static int take_all(struct target_resolver *resolver,
		    struct reach_targets *targets)
{
	const struct nodes *nodes = &resolver->nodes;
	int status;

	for (size_t i = 0; i < nodes->count; i++) {
		const struct ibsa_node *node = &nodes->all[i];
		struct reach_target *target;

		if (node->node_type != IBSA_NODE_CA)
			continue;
		target = reach_target_add(targets);
		if (!target || reach_node_set(target, node) != CLI_DONE)
			return target ? CLI_DEVICE : no_memory();
		target->gid = fields_guid_gid(&resolver->own, node->port_guid);
	}
	status = reach_absent_take(resolver, targets);
	if (status == CLI_DONE && targets->count > 0)
		qsort(targets->all, targets->count, sizeof(*targets->all),
		      by_name);
	return status;
}

bool reach_target_has_gid(const struct reach_target *target)
{
	return !target->missing && !target->is_unresolved;
}

static int by_gid(const void *a, const void *b)
{
	const struct reach_target *const *x = a;
	const struct reach_target *const *y = b;
	int order = memcmp(&(*x)->gid, &(*y)->gid, sizeof((*x)->gid));

	return order ? order : (*x > *y) - (*x < *y);
}

/* Set @same of each target to the first target with the same GID. */
static void find_same(struct reach_target **sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_same = i > 0 &&
			       memcmp(&sorted[i]->gid, &sorted[i - 1]->gid,
				      sizeof(sorted[i]->gid)) == 0;

		sorted[i]->same = is_same ? sorted[i - 1]->same : sorted[i];
	}
}

/* Collect the GIDs of the targets in their order, each GID once. */
static int collect_gids(struct reach_targets *targets)
{
	struct reach_target **sorted = calloc(targets->count, sizeof(*sorted));
	size_t count = 0;

	targets->gids = calloc(targets->count, sizeof(*targets->gids));
	targets->first = calloc(targets->count, sizeof(*targets->first));
	if (!sorted || !targets->gids || !targets->first) {
		free(sorted);
		return no_memory();
	}
	for (size_t i = 0; i < targets->count; i++)
		if (reach_target_has_gid(&targets->all[i]))
			sorted[count++] = &targets->all[i];
	qsort(sorted, count, sizeof(*sorted), by_gid);
	find_same(sorted, count);
	for (size_t i = 0; i < targets->count; i++) {
		struct reach_target *target = &targets->all[i];

		if (!reach_target_has_gid(target))
			continue;
		if (target->same == target) {
			target->index = targets->gid_count++;
			targets->gids[target->index] = target->gid;
			targets->first[target->index] = target;
		} else {
			target->index = target->same->index;
		}
	}
	free(sorted);
	return CLI_DONE;
}

/*
 * Whether all NodeRecords must be read, because targets are given by name, or
 * because the names of nodes are part of the output.
 */
static bool wants_nodes(const struct cli *cli,
			const struct reach_targets *targets)
{
	bool has_name = false;

	for (size_t i = 0; i < targets->count && !has_name; i++)
		has_name = targets->all[i].what.kind == TARGET_NAME;
	return targets->is_whole || reach_own(cli)->matrix ||
	       reach_own(cli)->expect || cli->output.verbose || has_name;
}

int reach_targets_resolve(struct cli *cli, struct reach_targets *targets)
{
	struct target_resolver resolver = { .cli = cli };
	struct ibsa_port_state port;
	int status = expected_read(cli, reach_own(cli)->expect,
				   &resolver.expected);

	if (status == CLI_DONE)
		status = own_port_get(cli, &port);
	if (status == CLI_DONE) {
		resolver.own = port.gid;
		resolver.is_opa = port.link == IBSA_LINK_OPA;
	}
	if (status == CLI_DONE && wants_nodes(cli, targets)) {
		status = nodes_read(cli, &resolver.nodes);
		resolver.has_nodes = status == CLI_DONE;
		if (status == CLI_SILENT)
			status = silence_note(cli, targets);
	}
	if (status == CLI_DONE && targets->is_whole)
		status = take_all(&resolver, targets);
	else if (status == CLI_DONE)
		status = resolve_all(&resolver, targets);
	nodes_free(&resolver.nodes);
	expected_free(&resolver.expected);
	rails_free(&resolver.rails);
	if (status == CLI_DONE && targets->count > 0)
		status = collect_gids(targets);
	return status;
}

void reach_targets_free(struct reach_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		drop(targets, i);
	free(targets->all);
	free(targets->gids);
	free(targets->first);
}
