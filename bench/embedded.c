/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B7: the embedded SA answers a PathRecord Get, without a transport.
 */
#include <stdio.h>
#include <stdlib.h>

#include <ibsa/types.h>
#include <ibsa/fabric.h>

#include "fabric/fabric/fabric.h"
#include "wire/request.h"

#include "bench.h"
#include "lookup.h"

enum { COUNT = 200 * 1000, ROOM = 4096 };

static struct ibsa_fabric *fabric;
static uint64_t hosts;
static uint8_t request[IBSA_MAD_BYTES];
static uint8_t room[ROOM];

static uint8_t *field(size_t bit_offset)
{
	return request + IBSA_SA_HEADER_BYTES + bit_offset / 8;
}

static const struct ibsa_address sa = { .qpn = IBSA_QPN_GSI };

static void run_answer(uint64_t count)
{
	uint8_t *guid = field(offsetof(struct ibsa__path_bits, dgid)) + 8;

	for (uint64_t i = 0; i < count; i++) {
		struct sa_reply reply = { .bytes = room, .room = sizeof(room) };
		const struct sa_request asked = { .to = &sa, .mad = request };
		uint64_t host = (i * 2654435761u >> 8) % hosts;

		ibsa_put_be64(guid, 0x0002c90300100001 + 16 * host);
		if (!ibsa__sa_answer(&fabric->first.sa, &asked, &reply, NULL) ||
		    IBSA_GET(sa_header, status, reply.bytes))
			abort();
		ibsa__sa_reply_done(&reply);
	}
}

static void run_floor(uint64_t count)
{
	uint8_t *guid = field(offsetof(struct ibsa__path_bits, dgid)) + 8;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t host = (i * 2654435761u >> 8) % hosts;

		ibsa_put_be64(guid, 0x0002c90300100001 + 16 * host);
		lookup_answer(request, room);
		BENCH_USE(room);
	}
}

static int prepare(const char *path)
{
	struct ibsa_path want = { .reversible = 1, .numb_path = 1 };
	const struct ibsa__request get = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			IBSA_PATH_CM(numb_path),
		.transaction_id = 1,
		.method = IBSA_METHOD_GET,
	};
	struct ibsa_fabric_info info;
	struct ibsa_fabric_port port;
	struct ibsa_error error;

	if (ibsa_fabric_load(path, NULL, &error, &fabric)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	ibsa_fabric_info_get(fabric, &info);
	hosts = info.adapters;
	for (size_t i = 0; !ibsa_fabric_port_at(fabric, i, &port); i++)
		lookup_add(port.guid, (uint16_t)port.state.lid);
	if (ibsa_fabric_port_at(fabric, 0, &port))
		return -1;
	want.sgid = want.dgid = port.state.gid;
	return ibsa__request_encode(&get, request);
}

static const struct bench_case cases[] = {
	{ "embedded-path", run_answer, COUNT },
	{ "embedded-floor", run_floor, COUNT },
};

/*
 * The program's first argument is the topology file; the others are those of
 * bench_main().
 */
int main(int argc, char **argv)
{
	if (argc < 2 || prepare(argv[1]))
		return EXIT_FAILURE;
	argv[1] = argv[0];
	return bench_main(argc - 1, argv + 1, cases,
			  sizeof(cases) / sizeof(cases[0]));
}
