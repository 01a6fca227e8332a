/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions about the client's own port: whether records contain it, and its
 * GID for "self" in an argument.
 */
#include <inttypes.h>
#include <string.h>

#include "output/fields.h"
#include "session/multi_path.h"
#include "session/own_port.h"
#include "session/query_wait.h"

/* The port that a table must contain; if @is_any is set, any one port. */
struct own_port {
	uint64_t guid;
	uint32_t lid;
	bool is_any;
};

static bool own_port_init(const struct cli *cli, struct ibsa_client *client,
			  struct own_port *out, struct ibsa_error *why)
{
	struct ibsa_port_state state;
	const int err = ibsa_port_get(client, false, &state);

	if (err) {
		snprintf(why->text, sizeof(why->text),
			 "cannot read the port: %s; check it with ibsa devices",
			 strerror(-err));
		return false;
	}
	*out = (struct own_port){
		.guid = fields_gid_guid(&state.gid),
		.lid = state.lid,
		.is_any = cli->open.access.sa != NULL,
	};
	return true;
}

/*
 * Whether a port with this GUID or LID is the client's port. The GUID of a
 * virtual function may differ from that in the table, but its LID is that of
 * its adapter.
 */
static bool own_port_is(const struct own_port *own, uint64_t guid, uint32_t lid)
{
	return own->is_any || guid == own->guid || (lid && lid == own->lid);
}

static bool own_port_miss(const struct own_port *own, struct ibsa_error *why)
{
	if (own->is_any)
		snprintf(why->text, sizeof(why->text),
			 "the SA answered without any NodeRecord, so the "
			 "fabric is unknown; check the address of --sa");
	else
		snprintf(why->text, sizeof(why->text),
			 "the SA answered without a NodeRecord of this port "
			 "(GUID 0x%016" PRIx64 ", LID %" PRIu32
			 "), so the fabric is unknown; try again, and check "
			 "the subnet manager if this happens again",
			 own->guid, own->lid);
	return false;
}

bool own_port_in_nodes(const struct cli *cli, struct ibsa_client *client,
		       const struct ibsa_node *nodes, size_t count,
		       struct ibsa_error *why)
{
	struct own_port own;

	if (!own_port_init(cli, client, &own, why))
		return false;
	for (size_t i = 0; i < count; i++)
		if (own_port_is(&own, nodes[i].port_guid, nodes[i].lid))
			return true;
	return own_port_miss(&own, why);
}

bool own_port_in_topology(const struct cli *cli, struct ibsa_client *client,
			  const struct ibsa_topology *topology,
			  struct ibsa_error *why)
{
	struct ibsa_topology_node node;
	struct ibsa_topology_port port;
	struct own_port own;

	if (!own_port_init(cli, client, &own, why))
		return false;
	for (size_t i = 0; !ibsa_topology_node_at(topology, i, &node); i++)
		for (unsigned int number = 0; number <= node.port_count;
		     number++)
			if (!ibsa_topology_port_at(topology, i, number,
						   &port) &&
			    own_port_is(&own, port.guid, port.lid))
				return true;
	return own_port_miss(&own, why);
}

int self_replace(struct cli *cli, const struct ibsa_record *record,
		 const char *text, char room[ARGUMENT_ROOM], const char **out)
{
	const size_t len = fields_name_len(text);
	unsigned int index;
	const struct ibsa_field *field = fields_find(record, text, &index);
	const bool is_end = record == &ibsa_multi_path_record &&
			    multi_path_is_end(text);
	char gid_text[IBSA_GID_TEXT];
	struct ibsa_gid gid;
	int status;

	*out = text;
	if (strcmp(text + len, "=self") != 0 ||
	    !(is_end || (field && field->show == IBSA_SHOW_gid)))
		return CLI_DONE;
	status = own_gid_get(cli, &gid);
	if (status != CLI_DONE)
		return status;
	(void)ibsa_gid_format(&gid, gid_text, sizeof(gid_text));
	snprintf(room, ARGUMENT_ROOM, "%.*s=%s", (int)len, text, gid_text);
	*out = room;
	return CLI_DONE;
}
