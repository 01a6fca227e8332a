/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmarks B8 and B9, for comparison: path queries with libibmad, one at a
 * time.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include "bench.h"
#include "path.h"

static struct ibmad_port *open_port(umad_port_t *info)
{
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_SA_CLASS };
	struct ibmad_port *port = mad_rpc_open_port(NULL, 0, classes, 3);

	if (port && umad_get_port(NULL, 0, info) < 0)
		return NULL;
	return port;
}

static int path_request(struct path_run *run, struct ibmad_port *port,
			const umad_port_t *info)
{
	ib_portid_t sm = { .lid = (int)info->sm_lid,
			   .sl = (uint8_t)info->sm_sl };
	uint64_t target = htobe64(path_run_target(run, run->asked++));
	uint64_t asked_ns = bench_now_ns();
	ibmad_gid_t source, destination;
	uint8_t record[1024];

	memcpy(source, &info->gid_prefix, 8);
	memcpy(source + 8, &info->port_guid, 8);
	memcpy(destination, &info->gid_prefix, 8);
	memcpy(destination + 8, &target, 8);
	if (ib_path_query_via(port, source, destination, &sm, record) <= 0)
		return -1;
	path_run_answered(run, asked_ns);
	return 0;
}

int main(int argc, char **argv)
{
	struct ibmad_port *port;
	struct path_run run;
	umad_port_t info;

	if (path_run_init(&run, argc, argv))
		return EXIT_FAILURE;
	port = open_port(&info);
	if (!port)
		return EXIT_FAILURE;
	run.start_ns = bench_now_ns();
	while (run.answered < run.count)
		if (path_request(&run, port, &info))
			return EXIT_FAILURE;
	path_run_print(&run);
	mad_rpc_close_port(port);
	return EXIT_SUCCESS;
}
