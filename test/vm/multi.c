/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Queries an SA for paths between several ports at once, by GetMulti. The kernel
 * uses RMPP for the request and for the reply. As a program for libibumad, it
 * leaves the rest of the RMPP header to the kernel.
 *
 * usage: vm-multi DEVICE SA-GID SOURCE-GID SOURCE-GID TARGET-GID TARGET-GID
 *
 * Prints how many bytes of paths it received.
 */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

enum {
	SOURCES = 2,
	TARGETS = 2,
	GID_BYTES = 16,
	AT_NUMB_PATH = 5,
	AT_SGID_COUNT = 15,
	AT_DGID_COUNT = 16,
	AT_GIDS = 24,
	GET_MULTI = 0x14,
	GET_MULTI_RESP = 0x94,
	MULTI_PATH = 0x003a,
	PATH = 0x0035,
	MASK = 1 << 6 | 1 << 19 | 1 << 20, /* NumbPath and the counts */
	HEADER_BYTES = offsetof(struct umad_sa_packet, data),
	DATA_BYTES = AT_GIDS + (SOURCES + TARGETS) * GID_BYTES,
	ANSWER_BYTES = 4096,
	TRY_MS = 2000,
	TRIES = 5,
};

static int failed(const char *what)
{
	fprintf(stderr, "multi: %s\n", what);
	return 1;
}

static void fill(struct umad_sa_packet *packet, char **gids)
{
	packet->mad_hdr.base_version = 1;
	packet->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	packet->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	packet->mad_hdr.method = GET_MULTI;
	packet->mad_hdr.tid = htobe64(7);
	packet->mad_hdr.attr_id = htobe16(MULTI_PATH);
	packet->rmpp_hdr.rmpp_version = 1;
	packet->rmpp_hdr.rmpp_type = 1;
	packet->rmpp_hdr.rmpp_rtime_flags = 1;
	packet->comp_mask = htobe64(MASK);
	packet->data[AT_NUMB_PATH] = 0x80 | SOURCES * TARGETS;
	packet->data[AT_SGID_COUNT] = SOURCES;
	packet->data[AT_DGID_COUNT] = TARGETS;
	for (int i = 0; i < SOURCES + TARGETS; i++)
		inet_pton(AF_INET6, gids[i],
			  packet->data + AT_GIDS + i * GID_BYTES);
}

static int multi_path_query(int port, int agent, void *umad, char **argv)
{
	struct ib_user_mad *header = umad;
	struct umad_sa_packet *packet = umad_get_mad(umad);
	int len = ANSWER_BYTES;

	fill(packet, argv + 3);
	umad_set_addr(umad, 0, 1, 0, UMAD_QKEY);
	header->addr.grh_present = 1;
	header->addr.hop_limit = 64;
	inet_pton(AF_INET6, argv[2], header->addr.gid);
	if (umad_send(port, agent, umad, HEADER_BYTES + DATA_BYTES, TRY_MS,
		      TRIES))
		return failed("the request is refused");
	if (umad_recv(port, umad, &len, TRIES * TRY_MS) != agent ||
	    umad_status(umad))
		return failed("no answer");
	if (packet->mad_hdr.method != GET_MULTI_RESP ||
	    be16toh(packet->mad_hdr.attr_id) != PATH || packet->mad_hdr.status)
		return failed("not paths");
	printf("%d\n", len - HEADER_BYTES);
	return 0;
}

int main(int argc, char **argv)
{
	static uint64_t umad[(sizeof(struct ib_user_mad) + ANSWER_BYTES) / 8];
	int agent, port;

	if (argc != 3 + SOURCES + TARGETS)
		return 2;
	umad_init();
	port = umad_open_port(argv[1], 1);
	if (port < 0)
		return failed("the port cannot be opened");
	agent = umad_register(port, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION,
			      1, NULL);
	if (agent < 0)
		return failed("no agent");
	return multi_path_query(port, agent, umad, argv);
}
