/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B36: processes that each open the PORTS ports of a host of a fabric
 * server, or those of PORTS hosts that have one port each. The processes start
 * at once; the time ends when the last port is open. The program then waits for
 * the end of its input, so that the server's memory can be read.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibsa/ibsa.h>

#include "bench.h"

enum { PROCESSES = 16, PORTS = 8, NAME_BYTES = 16 };

struct start {
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

static void port_open(unsigned int process, unsigned int port, bool is_host)
{
	struct ibsa_options options = { .device = NULL };
	struct ibsa_client *client;
	struct ibsa_error error;
	char node[NAME_BYTES];
	char device[NAME_BYTES];

	snprintf(node, sizeof(node), "%c%u", is_host ? 'h' : 's',
		 is_host ? process : process * PORTS + port);
	snprintf(device, sizeof(device), "mlx5_%u", port);
	if (is_host)
		options.device = device;
	must(!setenv("IBSA_NODE", node, 1), "setenv");
	if (ibsa_open(&options, &error, &client)) {
		fprintf(stderr, "%s: %s\n", node, error.text);
		exit(EXIT_FAILURE);
	}
}

static void process_run(const struct start *start, unsigned int process,
			bool is_host)
{
	char byte = 0;

	close(start->go[1]);
	close(start->open[0]);
	(void)!read(start->go[0], &byte, 1);
	for (unsigned int i = 0; i < PORTS; i++)
		port_open(process, i, is_host);
	must(write(start->open[1], &byte, 1) == 1, "write");
	(void)!read(STDIN_FILENO, &byte, 1);
	exit(EXIT_SUCCESS);
}

static void processes_start(struct start *start, bool is_host)
{
	must(!pipe(start->go) && !pipe(start->open), "pipe");
	for (unsigned int i = 0; i < PROCESSES; i++) {
		const pid_t pid = fork();

		must(pid >= 0, "fork");
		if (pid == 0)
			process_run(start, i, is_host);
	}
	close(start->go[0]);
	close(start->open[1]);
}

int main(int argc, char **argv)
{
	struct start start;
	uint64_t start_ns;
	char byte;

	if (argc != 2) {
		fputs("usage: bench-attach hosts|single\n", stderr);
		return EXIT_FAILURE;
	}
	processes_start(&start, strcmp(argv[1], "hosts") == 0);
	start_ns = bench_now_ns();
	close(start.go[1]);
	for (unsigned int i = 0; i < PROCESSES; i++)
		if (read(start.open[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	printf("seconds %.6f\n", (double)(bench_now_ns() - start_ns) / 1e9);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	return EXIT_SUCCESS;
}
