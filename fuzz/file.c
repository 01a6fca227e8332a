/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes arbitrary packets to two umad files of a small fabric, while links
 * and faults change. Each input runs twice: on a fabric whose ports the
 * embedded SM has configured, and on a fabric without an SM. A read must
 * return a whole packet with an agent id in range.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/types.h>

#include "umad/header.h"
#include "fabric/fabric/fabric.h"
#include "fabric/file/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	STEP_BYTES = 8,
	PACKETS_MAX = 64, /* steps of one input */
	MAD_BYTES_MAX = 700,
};

static const char topology[] = "Switch 18 \"s\"\n"
			       "[1] \"a\"[1]\n"
			       "[17] \"b\"[1]\n"
			       "[2] \"t\"[1]\n"
			       "Switch 2 \"t\"\n"
			       "[2] \"c\"[1]\n"
			       "Ca 1 \"a\"\n"
			       "Ca 2 \"b\"\n"
			       "Ca 1 \"c\"\n";

struct rig {
	struct ibsa_fabric *fabric;
	struct port_file *files[2];
	const uint8_t *data;
	size_t size;
};

static void take(struct rig *rig, void *out, size_t len)
{
	const size_t have = len < rig->size ? len : rig->size;

	memset(out, 0, len);
	memcpy(out, rig->data, have);
	rig->data += have;
	rig->size -= have;
}

static void drain(struct port_file *file)
{
	struct umad_header header;
	const uint8_t *packet;
	size_t len = 0;

	ibsa__port_file_settle(file);
	while ((packet = ibsa__port_file_head(file, &len))) {
		memcpy(&header, packet, sizeof(header));
		if (len < UMAD_HEADER_BYTES + 24 || header.length != len ||
		    header.id >= AGENTS_MAX)
			abort();
		ibsa__port_file_take(file);
	}
}

/*
 * Write a packet. The input selects the values of its header, from values that
 * programs use, and its length.
 */
static void write_packet(struct rig *rig, struct port_file *file,
			 const uint8_t *step)
{
	struct {
		struct umad_header header;
		uint8_t mad[MAD_BYTES_MAX];
	} packet = {
		.header.id = step[2] % 4,
		.header.timeout_ms = step[3] % 4 * 10u,
		.header.retries = step[3] / 4 % 4,
		.header.grh_present = step[3] >> 7,
		.header.pkey_index = step[7] / 4,
	};
	size_t len = step[6] & 1 ? MAD_BYTES_MAX : 256;

	ibsa_put_be16((uint8_t *)&packet.header.lid, ibsa_be16(step + 4));
	ibsa_put_be32((uint8_t *)&packet.header.qpn, step[7] & 3);
	take(rig, packet.mad, len);
	len = step[6] & 2 ? 64 : len;
	(void)!ibsa__port_file_write(file, (const uint8_t *)&packet,
				     sizeof(packet.header) + len);
}

static void register_agent(struct port_file *file, const uint8_t *step)
{
	struct agent_request request = {
		.method_mask = { step[3], step[4] },
		.flags = step[5] & 1,
		.oui = step[6],
		.qpn = step[5] >> 1 & 1,
		.mgmt_class = step[2],
		.class_version = step[5] >> 2 & 3,
		.rmpp_version = step[5] >> 4 & 1,
	};

	(void)!ibsa__port_file_register(file, &request);
}

static void disturb(struct rig *rig, const uint8_t *step)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = step[2] & 1,
	};
	const struct ibsa_fault fault = {
		.kind = step[3] % IBSA_FAULT_KINDS,
		.percent = step[4] % 101,
		.count = step[5],
		.delay_ms = step[6],
	};

	if (ibsa_fabric_port_set(rig->fabric, step[2] & 2 ? "b" : "t",
				 step[2] & 4 ? 1 : 2, &change) == -EINVAL ||
	    ibsa_fabric_fault(rig->fabric, &fault))
		return;
}

static void go(struct rig *rig)
{
	uint8_t step[STEP_BYTES];
	struct port_file *file;

	take(rig, step, sizeof(step));
	file = rig->files[step[1] & 1];
	switch (step[0] % 8) {
	case 0:
		register_agent(file, step);
		break;
	case 1:
		(void)!ibsa__port_file_unregister(file, step[2]);
		break;
	case 2:
		(void)!ibsa__port_file_issm(file, step[2] & 1);
		break;
	case 3:
		disturb(rig, step);
		break;
	case 4:
		if (ibsa_fabric_advance(rig->fabric,
					step[2] * UINT64_C(10000000)))
			abort();
		drain(file);
		break;
	default:
		write_packet(rig, file, step);
	}
}

static void run(const struct ibsa_fabric_options *options, const uint8_t *data,
		size_t size)
{
	static const char *const names[] = { "a", "b" };
	struct agent_request smi = { .mgmt_class = 0x81, .class_version = 1 };
	struct agent_request any = { .qpn = 1 };
	struct rig rig = { .data = data, .size = size };

	if (ibsa_fabric_parse(topology, strlen(topology), options, NULL,
			      &rig.fabric))
		abort();
	for (int i = 0; i < 2; i++) {
		const uint32_t port = ibsa__fabric_find_port(
			rig.fabric,
			ibsa__fabric_find_node(rig.fabric, names[i]), 1);

		if (ibsa__port_file_open(&rig.fabric->first.files, port, NULL,
					 NULL, &rig.files[i]) ||
		    ibsa__port_file_register(rig.files[i], &smi) ||
		    ibsa__port_file_register(rig.files[i], &any))
			abort();
	}
	for (int i = 0; i < PACKETS_MAX && rig.size; i++)
		go(&rig);
	for (int i = 0; i < 2; i++) {
		drain(rig.files[i]);
		ibsa__port_file_close(rig.files[i]);
	}
	ibsa_fabric_put(rig.fabric);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ibsa_fabric_options set_up = { .virtual_clock = true };
	const struct ibsa_fabric_options bare = {
		.virtual_clock = true,
		.no_sa = true,
	};

	run(&set_up, data, size);
	run(&bare, data, size);
	return 0;
}
