/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes the topology of SA records: the first byte of each part of the input
 * selects the record type, its bytes on the wire follow. Checked: links lead
 * to ports that exist, and all GUIDs and LIDs are found again.
 */
#include <stdlib.h>

#include <ibsa/records.h>
#include <ibsa/topology.h>

enum { HOST_BYTES = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool so)
{
	if (!so)
		abort();
}

static void records_add(struct ibsa_topology *topology, const uint8_t *data,
			size_t size)
{
	static const struct ibsa_record *const records[] = {
		&ibsa_node_record,
		&ibsa_port_info_record,
		&ibsa_link_record,
		&ibsa_switch_info_record,
	};
	_Alignas(8) uint8_t host[HOST_BYTES];

	while (size) {
		const struct ibsa_record *record = records[*data++ % 4];

		if (ibsa_record_decode(record, data, --size, host,
				       record->host_size))
			return;
		must(!ibsa_topology_add(topology, record, host,
					record->host_size));
		data += record->size;
		size -= record->size;
	}
}

static void port_walk(const struct ibsa_topology *topology, size_t node,
		      unsigned int number)
{
	struct ibsa_topology_port port;
	struct ibsa_topology_port far;
	unsigned int found_port;
	size_t found;

	if (ibsa_topology_port_at(topology, node, number, &port))
		return;
	must(port.number == number);
	if (port.lid)
		must(!ibsa_topology_lid_find(topology, port.lid, &found,
					     &found_port));
	if (!port.has_link)
		return;
	must(!ibsa_topology_port_at(topology, port.far_node, port.far_port,
				    &far));
	must(far.has_link);
	if (!port.is_one_end)
		must(far.far_node == node && far.far_port == number);
}

static void topology_walk(const struct ibsa_topology *topology)
{
	struct ibsa_topology_info info;
	struct ibsa_topology_node node;
	size_t found;

	ibsa_topology_info_get(topology, &info);
	for (size_t i = 0; !ibsa_topology_node_at(topology, i, &node); i++) {
		must(!ibsa_topology_node_find(topology, node.guid, &found) &&
		     found <= i);
		must(node.island < info.islands && node.level <= info.levels);
		for (unsigned int number = 0; number < 256; number++)
			port_walk(topology, i, number);
	}
}

/* Compare the topology with itself: no link of it is slower than expected. */
static void findings_walk(struct ibsa_topology *topology)
{
	struct ibsa_finding finding;

	must(!ibsa_topology_check(topology, topology));
	for (size_t i = 0; !ibsa_topology_finding_at(topology, i, &finding);
	     i++) {
		must(finding.what.text[0] && finding.name[0]);
		must(finding.kind != IBSA_FINDING_SLOWER);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibsa_topology *topology;

	if (ibsa_topology_new(&topology))
		abort();
	records_add(topology, data, size);
	must(!ibsa_topology_finish(topology));
	topology_walk(topology);
	findings_walk(topology);
	ibsa_topology_free(topology);
	return 0;
}
