/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B36: processes that each open the PORTS ports of a host of a fabric
 * server, or those of PORTS hosts that have one port each. The processes start
 * at once; the time ends when the last port is open. The program then waits for
 * the end of its input, so that the server's memory can be read.
 *
 * usage: bench-attach PROCESSES HOST [DEVICE]
 * The hosts have the name HOST and a number from 1 on; their ports are those of
 * devices with the name DEVICE and a number from 0 on.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibsa/ibsa.h>

#include "bench.h"

enum { PORTS = 8, NAME_BYTES = 32 };

/* @device: NULL: each host has one port */
struct start {
	const char *host;
	const char *device;
	int go[2];
	int open[2];
};

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void port_open(const struct start *start, unsigned int process,
		      unsigned int port)
{
	struct ibsa_options options = { .device = NULL };
	struct ibsa_client *client;
	struct ibsa_error error;
	char node[NAME_BYTES];
	char device[NAME_BYTES];

	snprintf(node, sizeof(node), "%s%u", start->host,
		 1 + (start->device ? process : process * PORTS + port));
	if (start->device) {
		snprintf(device, sizeof(device), "%s%u", start->device, port);
		options.device = device;
	}
	must(!setenv("IBSA_NODE", node, 1), "setenv");
	if (ibsa_open(&options, &error, &client)) {
		fprintf(stderr, "%s: %s\n", node, error.text);
		exit(EXIT_FAILURE);
	}
}

static void process_run(const struct start *start, unsigned int process)
{
	char byte = 0;

	close(start->go[1]);
	close(start->open[0]);
	(void)!read(start->go[0], &byte, 1);
	for (unsigned int i = 0; i < PORTS; i++)
		port_open(start, process, i);
	must(write(start->open[1], &byte, 1) == 1, "write");
	(void)!read(STDIN_FILENO, &byte, 1);
	exit(EXIT_SUCCESS);
}

static void processes_start(struct start *start, unsigned int count)
{
	must(!pipe(start->go) && !pipe(start->open), "pipe");
	for (unsigned int i = 0; i < count; i++) {
		const pid_t pid = fork();

		must(pid >= 0, "fork");
		if (pid == 0)
			process_run(start, i);
	}
	close(start->go[0]);
	close(start->open[1]);
}

int main(int argc, char **argv)
{
	const int count = argc < 2 ? 0 : atoi(argv[1]);
	struct start start = { .host = NULL };
	uint64_t start_ns;
	char byte;

	if (count < 1 || argc < 3 || argc > 4) {
		fputs("usage: bench-attach PROCESSES HOST [DEVICE]\n", stderr);
		return EXIT_FAILURE;
	}
	start.host = argv[2];
	start.device = argv[3];
	processes_start(&start, (unsigned int)count);
	start_ns = bench_now_ns();
	close(start.go[1]);
	for (int i = 0; i < count; i++)
		if (read(start.open[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	printf("seconds %.6f\n", (double)(bench_now_ns() - start_ns) / 1e9);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return EXIT_SUCCESS;
}
