/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa fabric info: what is in a topology file. */
#include <stdio.h>

#include "fabric.h"

void fabric_info_details(struct out *out)
{
	out_line(out, "FILE is a topology as ibnetdiscover writes and ibsim "
		      "reads.\n");
}

/* One line: so many of a kind. */
struct fact {
	const char *what;
	const char *kind;
	size_t count;
};

static void fact_row(struct out *out, size_t index, void *arg)
{
	const struct fact *fact = (const struct fact *)arg + index;
	char count[24];

	snprintf(count, sizeof(count), "%zu", fact->count);
	out_text(out, "what", fact->what);
	out_text(out, "kind", fact->kind);
	out_number(out, "count", fact->count, count);
}

static void show(struct out *out, struct ibsa_fabric *fabric)
{
	struct ibsa_fabric_info info;

	ibsa_fabric_info_get(fabric, &info);
	out_rows(out, 3, fact_row,
		 (struct fact[]){
			 { "node", "adapter", info.adapters },
			 { "node", "switch", info.switches },
			 { "link", "all", info.links },
		 });
}

int fabric_info(struct cli *cli)
{
	struct ibsa_fabric *fabric;
	int status = fabric_load(cli, NULL, &fabric);

	if (status != CLI_DONE)
		return status;
	show(&cli->out, fabric);
	ibsa_fabric_put(fabric);
	return CLI_DONE;
}
