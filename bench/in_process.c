/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B31: one path query at a time, by a client in the same process as
 * the embedded fabric, timed from the query to its callback.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ibsa/ibsa.h>
#include <ibsa/fabric.h>

#include "bench.h"
#include "count_alloc.h"
#include "lookup.h"

enum { COUNT = 100 * 1000 };

/* The fabric, the client that queries, and the GIDs that it queries. */
static struct ibsa_fabric *fabric;
static struct ibsa_client *client;
static struct ibsa_gid *gids;
static uint64_t gid_count;
static uint64_t asked, answered;

static void path_answered(const struct ibsa_reply *reply, void *arg)
{
	struct ibsa_path path;

	(void)arg;
	if (reply->err || reply->status ||
	    ibsa_reply_decode(reply, 0, &path, sizeof(path)))
		abort();
	BENCH_USE(&path);
	answered++;
}

static void path_query(void)
{
	const struct ibsa_path want = {
		.sgid = gids[0],
		.dgid = gids[asked++ % gid_count],
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(dgid) | IBSA_PATH_CM(sgid) |
			IBSA_PATH_CM(numb_path),
	};

	if (ibsa_query_start(client, &query, path_answered, NULL, NULL))
		abort();
}

static void run_paths(uint64_t count)
{
	while (count--) {
		path_query();
		while (answered < asked)
			if (ibsa_wait(client, -1))
				abort();
	}
}

/*
 * The lower bound: write the GID into a prepared request, get the answer from
 * an SA that only looks up the two ports, and decode the record.
 */
static void run_floor(uint64_t count)
{
	static uint8_t request[IBSA_MAD_BYTES];
	uint8_t *wire = request + IBSA_SA_HEADER_BYTES;
	uint8_t sent[IBSA_MAD_BYTES], answer[IBSA_MAD_BYTES];
	struct ibsa_path path;

	memcpy(IBSA_GET_GID(path, sgid, wire), gids[0].raw, sizeof(gids->raw));
	for (uint64_t i = 0; i < count; i++) {
		memcpy(IBSA_GET_GID(path, dgid, wire), gids[i % gid_count].raw,
		       sizeof(gids->raw));
		memcpy(sent, request, sizeof(sent));
		BENCH_USE(sent);
		lookup_answer(sent, answer);
		ibsa_path_record.decode(answer + IBSA_SA_HEADER_BYTES, &path);
		BENCH_USE(&path);
	}
}

static void run_syscall(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static int gids_read(void)
{
	struct ibsa_fabric_info info;
	struct ibsa_fabric_port port;

	ibsa_fabric_info_get(fabric, &info);
	gids = calloc(info.lids, sizeof(*gids));
	for (size_t i = 0; gids && gid_count < info.lids; i++) {
		if (ibsa_fabric_port_at(fabric, i, &port))
			break;
		if (!port.state.lid)
			continue;
		gids[gid_count++] = port.state.gid;
		lookup_add(ibsa_be64(port.state.gid.raw + 8),
			   (uint16_t)port.state.lid);
	}
	return gid_count ? 0 : -1;
}

static int prepare(const char *path)
{
	struct ibsa_options options = { .port = 1 };
	struct ibsa_fabric_port first;
	struct ibsa_error error;

	if (ibsa_fabric_load(path, NULL, &error, &fabric)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	if (gids_read() || ibsa_fabric_port_at(fabric, 0, &first))
		return -1;
	options.on = fabric;
	options.device = first.node;
	if (ibsa_open(&options, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return 0;
}

static const struct bench_case cases[] = {
	{ "path", run_paths, COUNT },
	{ "syscall", run_syscall, COUNT },
	{ "floor", run_floor, COUNT },
};

/*
 * The program's first argument is the topology file; the others are those of
 * bench_main().
 */
int main(int argc, char **argv)
{
	const bool counts = argc > 2 && !strcmp(argv[2], "-c");
	int status;

	if (argc < 2 || prepare(argv[1]))
		return EXIT_FAILURE;
	argv[1] = argv[0];
	status = bench_main(argc - 1, argv + 1, cases,
			    sizeof(cases) / sizeof(cases[0]));
	if (!status && !counts)
		alloc_print("allocations", run_paths, COUNT);
	ibsa_close(client);
	ibsa_fabric_put(fabric);
	free(gids);
	return status;
}
