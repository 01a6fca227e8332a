/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmarks B8 and B9, as the lower limit: path queries with libibumad alone,
 * without deadlines, retries or other features.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "bench.h"
#include "path.h"

enum {
	MAD_BYTES = 256,
	PATH_DGID = 8, /* offsets in a PathRecord */
	PATH_SGID = 24,
	PATH_NUMB_PATH = 49,
	DGID_SGID_NUMB_PATH = 1 << 2 | 1 << 3 | 1 << 12,
	REVERSIBLE_ONE = 0x81,
	WAIT_MS = 5000,
	SLOT_BITS = 16,
};

struct asker {
	struct path_run run;
	int port;
	int agent;
	umad_port_t info;
	void *request;
	void *reply;
	uint64_t *asked_ns; /* of each slot */
};

static void fill(struct asker *asker, unsigned int slot)
{
	struct umad_sa_packet *packet = umad_get_mad(asker->request);
	uint64_t target =
		htobe64(path_run_target(&asker->run, asker->run.asked));

	memset(packet, 0, sizeof(*packet));
	packet->mad_hdr.base_version = 1;
	packet->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	packet->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	packet->mad_hdr.method = UMAD_METHOD_GET;
	packet->mad_hdr.tid = htobe64((asker->run.asked + 1) << SLOT_BITS |
				      slot);
	packet->mad_hdr.attr_id = htobe16(UMAD_SA_ATTR_PATH_REC);
	packet->comp_mask = htobe64(DGID_SGID_NUMB_PATH);
	memcpy(packet->data + PATH_DGID, &asker->info.gid_prefix, 8);
	memcpy(packet->data + PATH_DGID + 8, &target, 8);
	memcpy(packet->data + PATH_SGID, &asker->info.gid_prefix, 8);
	memcpy(packet->data + PATH_SGID + 8, &asker->info.port_guid, 8);
	packet->data[PATH_NUMB_PATH] = REVERSIBLE_ONE;
}

static int path_request(struct asker *asker, unsigned int slot)
{
	fill(asker, slot);
	umad_set_addr(asker->request, (int)asker->info.sm_lid, 1,
		      (int)asker->info.sm_sl, UMAD_QKEY);
	asker->run.asked++;
	asker->asked_ns[slot] = bench_now_ns();
	return umad_send(asker->port, asker->agent, asker->request, MAD_BYTES,
			 1000, 0);
}

static int answer(struct asker *asker)
{
	const struct umad_sa_packet *packet = umad_get_mad(asker->reply);
	int len = MAD_BYTES;
	unsigned int slot;

	if (umad_recv(asker->port, asker->reply, &len, WAIT_MS) < 0 ||
	    umad_status(asker->reply) || packet->mad_hdr.status)
		return -1;
	slot = be64toh(packet->mad_hdr.tid) & ((1 << SLOT_BITS) - 1);
	if (slot >= asker->run.window)
		return -1;
	path_run_answered(&asker->run, asker->asked_ns[slot]);
	if (asker->run.asked < asker->run.count)
		return path_request(asker, slot);
	return 0;
}

static int open_port(struct asker *asker)
{
	if (umad_init() < 0)
		return -1;
	asker->port = umad_open_port(NULL, 0);
	if (asker->port < 0 || umad_get_port(NULL, 0, &asker->info) < 0)
		return -1;
	asker->agent = umad_register(asker->port, UMAD_CLASS_SUBN_ADM,
				     UMAD_SA_CLASS_VERSION, 1, NULL);
	asker->request = umad_alloc(1, umad_size() + MAD_BYTES);
	asker->reply = umad_alloc(1, umad_size() + MAD_BYTES);
	asker->asked_ns = calloc(asker->run.window, sizeof(uint64_t));
	return asker->agent < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct asker asker = { 0 };

	if (path_run_init(&asker.run, argc, argv) || open_port(&asker)) {
		fprintf(stderr, "%s: cannot open the port\n", argv[0]);
		return EXIT_FAILURE;
	}
	asker.run.start_ns = bench_now_ns();
	for (unsigned int i = 0; i < asker.run.window; i++)
		if (asker.run.asked < asker.run.count &&
		    path_request(&asker, i) < 0)
			return EXIT_FAILURE;
	while (asker.run.answered < asker.run.count)
		if (answer(&asker) < 0)
			return EXIT_FAILURE;
	path_run_print(&asker.run);
	umad_close_port(asker.port);
	return EXIT_SUCCESS;
}
