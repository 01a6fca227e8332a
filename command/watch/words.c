/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The words of the command line of ibsa watch: kinds of events, options. */
#include <string.h>

#include "watch/watch.h"

/* Words for the kinds of events, and for sets of kinds, on the command line. */
/* clang-format off */
static const struct {
	const char *text;
	unsigned int kinds;
	const char *help;
} words[] = {
	{ "gid-in", IBSA_EVENT_GID_IN, "a port entered the subnet" },
	{ "gid-out", IBSA_EVENT_GID_OUT, "a port left the subnet" },
	{ "gid", IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT, "both" },
	{ "group-created", IBSA_EVENT_GROUP_CREATED,
	  "a multicast group got its first member" },
	{ "group-deleted", IBSA_EVENT_GROUP_DELETED,
	  "a multicast group lost its last member" },
	{ "group", IBSA_EVENT_GROUP_CREATED | IBSA_EVENT_GROUP_DELETED,
	  "both" },
	{ "sm", IBSA_EVENT_OF_SM, "the four above" },
	{ "link-state", IBSA_EVENT_LINK_STATE,
	  "a link of a switch came up or went down" },
	{ "local-changes", IBSA_EVENT_LOCAL_CHANGES,
	  "capabilities, settings or name of a node changed" },
	{ "system-image", IBSA_EVENT_SYSTEM_IMAGE,
	  "the system image GUID of a node changed" },
	{ "other", IBSA_EVENT_OTHER, "any other event, shown with its trap number" },
	{ "all", IBSA_EVENT_ALL, "all of these" },
};
/* clang-format on */

enum { WORDS = sizeof(words) / sizeof(words[0]) };

void watch_details(struct cli *cli)
{
	out_line(&cli->out, "EVENT is one or more of these (default: sm):\n");
	for (size_t i = 0; i < WORDS; i++)
		out_line(&cli->out, "  %-13s  %s", words[i].text,
			 words[i].help);
	out_line(&cli->out, "%s", "");
}

unsigned int watch_kinds_of(const char *word)
{
	for (size_t i = 0; i < WORDS; i++)
		if (strcmp(words[i].text, word) == 0)
			return words[i].kinds;
	return 0;
}

/* clang-format off */
static const struct option_row rows[] = {
	{ 0, "audit-nodes", NULL,
	  "also find changes whose Report was lost",
	  OPTION_AT(struct watch_options, audit_nodes) },
	{ 0, "journal", NULL, "write events to the systemd journal",
	  OPTION_AT(struct watch_options, journal) },
	{ 0, "links", NULL,
	  "also find the port, width and speed of link-state",
	  OPTION_AT(struct watch_options, links) },
};
/* clang-format on */

const struct option_table watch_table = OPTION_TABLE(rows,
						     struct watch_options);
