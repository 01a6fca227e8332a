/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the lines of ibsa status. */
#include <inttypes.h>
#include <string.h>

#include "status/status.h"

static const char *plural(size_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* Whether ports that applications or storage use are not active. */
static bool lacks_port(const struct status *status)
{
	for (size_t i = 0; i < STATUS_ROLES; i++)
		if (i != ROLE_UNCABLED && i != ROLE_MANAGEMENT &&
		    status->roles[i].active < status->roles[i].count)
			return true;
	return false;
}

/* Add an option with the name of a file to a command line, if there is room. */
static void file_add(char next[STATUS_NEXT], const char *option,
		     const char *file)
{
	const size_t len = strlen(next);

	if (file && strlen(option) + strlen(file) + 4 < STATUS_NEXT - len)
		snprintf(next + len, STATUS_NEXT - len, " %s '%s'", option,
			 file);
}

const char *status_next(const struct cli *cli, const struct status *status,
			char out[STATUS_NEXT])
{
	const struct status_options *own = cli->own;
	const char *what = "check node";

	if (!status->has_fabric)
		what = "doctor";
	else if (status->check.count)
		what = "check";
	else if (lacks_port(status))
		what = "doctor";
	snprintf(out, STATUS_NEXT, "ibsa %s", what);
	file_add(out, "--fabric", cli->open.fabric);
	if (status->check.count)
		file_add(out, "--expect", own->expect);
	return out;
}

static void role_line(struct out *out, enum port_role role,
		      const struct status_role *ports)
{
	const char *name = role_name(role);

	if (!ports->count)
		return;
	if (role == ROLE_UNCABLED)
		out_clean_line(out, "%-10s %s", name, ports->inactive);
	else
		out_clean_line(out, "%-10s %zu of %zu active%s%s%s%s",
			       name ? name : "ports", ports->active,
			       ports->count, *ports->rates ? ": " : "",
			       ports->rates, *ports->inactive ? "; " : "",
			       ports->inactive);
}

static void standby_text(const struct status *status,
			 char out[STATUS_TEXT + 32])
{
	const struct status_sm *sm = &status->sm;

	*out = '\0';
	if (!status->has_fabric)
		return;
	if (*status->check.no_sms.text)
		strcpy(out, "; standby SMs are unknown");
	else if (sm->standby)
		snprintf(out, STATUS_TEXT + 32, "; %zu standby: %s",
			 sm->standby, sm->standby_names);
	else
		strcpy(out, "; no standby SM");
}

static void sm_line(struct out *out, const struct status *status)
{
	const struct status_sm *sm = &status->sm;
	char standby[STATUS_TEXT + 32];
	char answers[32] = "no answer";

	standby_text(status, standby);
	if (sm->rtt_ns)
		snprintf(answers, sizeof(answers), "answers in %.2f ms",
			 (double)sm->rtt_ns / 1e6);
	if (!sm->lid && !sm->rtt_ns)
		out_clean_line(out, "SM         none");
	else
		out_clean_line(out, "SM         %s%sLID %" PRIu32 "%s%s, %s%s",
			       sm->name, *sm->name ? ", " : "", sm->lid,
			       *sm->since ? " since " : "", sm->since, answers,
			       standby);
}

/* List the number of switches of each level, such as " in 2 levels: 8 + 4". */
static void levels_text(const struct status *status, char out[STATUS_TEXT])
{
	size_t levels = 0;
	size_t len;

	while (levels < STATUS_LEVELS && status->levels[levels])
		levels++;
	*out = '\0';
	if (levels < 2)
		return;
	len = (size_t)snprintf(out, STATUS_TEXT, " in %zu levels:", levels);
	for (size_t i = 0; i < levels; i++)
		len += (size_t)snprintf(out + len, STATUS_TEXT - len, "%s %zu",
					i ? " +" : "", status->levels[i]);
}

static void size_line(struct out *out, const struct status *status)
{
	const struct ibsa_topology_info *info = &status->check.info;
	char levels[STATUS_TEXT];

	levels_text(status, levels);
	out_clean_line(out, "fabric     %zu %s, %zu %s, %zu %s%s",
		       status->hosts, plural(status->hosts, "host", "hosts"),
		       info->adapters,
		       plural(info->adapters, "adapter", "adapters"),
		       info->switches,
		       plural(info->switches, "switch", "switches"), levels);
}

/* The kinds of the findings of one severity, and how many there are of each. */
static void findings_line(struct out *out, const struct fabric_check *check,
			  enum ibsa_severity severity, const char *title)
{
#define STATUS_COUNT(kind, name, severity) +1
	size_t counts[0 IBSA_FINDINGS(STATUS_COUNT)] = { 0 };
#undef STATUS_COUNT
	char list[STATUS_TEXT] = "";
	struct ibsa_finding finding;
	size_t all = 0;

	for (size_t i = 0; i < check->count; i++) {
		fabric_check_finding(check, i, &finding);
		if (finding.severity != severity)
			continue;
		counts[finding.kind]++;
		all++;
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const char *name = ibsa_finding_name((enum ibsa_finding_kind)i);

		if (counts[i] == 1)
			status_list_add(list, "%s", name);
		else if (counts[i])
			status_list_add(list, "%zu %s", counts[i], name);
	}
	if (all)
		out_clean_line(out, "%-9s  %zu: %s", title, all, list);
}

static void findings_lines(struct out *out, const struct fabric_check *check)
{
	struct ibsa_finding worst;

	if (!check->count) {
		out_clean_line(out, "findings   none");
		return;
	}
	findings_line(out, check, IBSA_SEVERITY_CRITICAL, "critical");
	findings_line(out, check, IBSA_SEVERITY_WARNING, "warnings");
	fabric_check_worst(check, &worst);
	out_clean_line(out, "%-9s  %s", check->count == 1 ? "" : "such as",
		       worst.what.text);
}

void status_print(struct cli *cli, const struct status *status)
{
	struct out *out = &cli->out;
	char next[STATUS_NEXT];

	if (*status->host)
		out_clean_line(out, "host       %s", status->host);
	for (size_t i = 0; i < STATUS_ROLES; i++)
		role_line(out, (enum port_role)i, &status->roles[i]);
	sm_line(out, status);
	if (status->has_fabric) {
		size_line(out, status);
		out_clean_line(out, "links      %s",
			       *status->rates ? status->rates : "none");
		findings_lines(out, &status->check);
	}
	out_clean_line(out, "next       %s", status_next(cli, status, next));
}
