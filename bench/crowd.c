/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The storm of storm.c with processes: PROCESSES clients of the fabric server
 * in IBSA_FABRIC, one at each host, that start QUERIES path queries each at
 * once. Prints the same columns as storm.c, which it is to be compared with; the
 * time by the SA's own limit is that of the SM profiles "busy", "slow" and
 * "full". Jain's index is that of the answers while all processes have work:
 * from the time that the last one has started its queries until half of all
 * queries are answered, or one process has no queries left.
 *
 * usage: bench-crowd PROCESSES QUERIES
 * The hosts have the names Hca1, Hca2, ...
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibsa/ibsa.h>

#include "bench.h"

enum { PROCESSES_MAX = 4096, PER_MS = 16, HOSTS = 648, DEADLINE_MS = 30000 };

/* What the processes share. */
struct crowd {
	atomic_uint ended; /* queries */
	atomic_uint answered;
	atomic_ullong sent;
	atomic_uint started; /* processes that have started their queries */
	atomic_flag is_measured;
	unsigned int processes;
	unsigned int queries;	       /* of each process */
	atomic_uint of[PROCESSES_MAX]; /* answered, of each process */
	unsigned int of_first[PROCESSES_MAX];
	unsigned int of_half[PROCESSES_MAX];
};

struct client {
	struct crowd *crowd;
	unsigned int process;
	unsigned int ended;
};

static void must(bool condition, const char *what)
{
	if (condition)
		return;
	perror(what);
	exit(EXIT_FAILURE);
}

static void answers_note(struct crowd *crowd, unsigned int *out)
{
	for (unsigned int i = 0; i < crowd->processes; i++)
		out[i] = atomic_load(&crowd->of[i]);
}

static void path_ended(const struct ibsa_reply *reply, void *arg)
{
	struct client *client = arg;
	struct crowd *crowd = client->crowd;

	client->ended++;
	atomic_fetch_add(&crowd->ended, 1);
	if (reply->err || reply->status)
		return;
	atomic_fetch_add(&crowd->of[client->process], 1);
	if ((atomic_fetch_add(&crowd->answered, 1) + 1 >=
		     crowd->processes * crowd->queries / 2 ||
	     client->ended == crowd->queries) &&
	    !atomic_flag_test_and_set(&crowd->is_measured))
		answers_note(crowd, crowd->of_half);
}

static void path_submit(struct ibsa_client *client, struct client *arg,
			unsigned int number)
{
	const struct ibsa_path want = {
		.slid = (uint16_t)(1 + arg->process),
		.dlid = (uint16_t)(1 + number % HOSTS),
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid),
		.deadline_ms = DEADLINE_MS,
		.no_sharing = true,
	};

	must(!ibsa_query_start(client, &query, path_ended, arg, NULL), "query");
}

static void process_run(struct crowd *crowd, unsigned int process, int ready,
			int go)
{
	struct client arg = { .crowd = crowd, .process = process };
	struct ibsa_client *client;
	struct ibsa_stats stats;
	struct ibsa_error error;
	char node[16];
	char byte = 0;

	snprintf(node, sizeof(node), "Hca%u", 1 + process);
	must(!setenv("IBSA_NODE", node, 1), "setenv");
	if (ibsa_open(NULL, &error, &client)) {
		fprintf(stderr, "%s: %s\n", node, error.text);
		exit(EXIT_FAILURE);
	}
	must(write(ready, &byte, 1) == 1, "write");
	(void)!read(go, &byte, 1);
	for (unsigned int i = 0; i < crowd->queries; i++)
		path_submit(client, &arg, i);
	if (atomic_fetch_add(&crowd->started, 1) + 1 == crowd->processes)
		answers_note(crowd, crowd->of_first);
	while (arg.ended < crowd->queries)
		must(!ibsa_wait(client, -1), "ibsa_wait");
	ibsa_stats_get(client, &stats);
	atomic_fetch_add(&crowd->sent, stats.sent);
	ibsa_close(client);
	exit(EXIT_SUCCESS);
}

static double fairness(const struct crowd *crowd)
{
	double sum = 0, squares = 0;

	for (unsigned int i = 0; i < crowd->processes; i++) {
		const double x = crowd->of_half[i] - crowd->of_first[i];

		sum += x;
		squares += x * x;
	}
	return squares > 0 ? sum * sum / (crowd->processes * squares) : 0;
}

static void crowd_start(struct crowd *crowd, int *out_go)
{
	int ready[2], go[2];
	char byte;

	must(!pipe(ready) && !pipe(go), "pipe");
	fflush(stdout);
	for (unsigned int i = 0; i < crowd->processes; i++) {
		const pid_t pid = fork();

		must(pid >= 0, "fork");
		if (pid)
			continue;
		close(go[1]);
		process_run(crowd, i, ready[1], go[0]);
	}
	close(ready[1]);
	for (unsigned int i = 0; i < crowd->processes; i++)
		must(read(ready[0], &byte, 1) == 1, "a process did not start");
	*out_go = go[1];
}

int main(int argc, char **argv)
{
	const unsigned long processes = argc == 3 ? strtoul(argv[1], NULL, 10)
						  : 0;
	const unsigned long queries = argc == 3 ? strtoul(argv[2], NULL, 10)
						: 0;
	const unsigned long all = processes * queries;
	struct crowd *crowd;
	uint64_t start_ns;
	double ms;
	int go;

	if (!all || processes > HOSTS) {
		fputs("usage: bench-crowd PROCESSES QUERIES\n", stderr);
		return EXIT_FAILURE;
	}
	crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(crowd != MAP_FAILED, "mmap");
	crowd->processes = (unsigned int)processes;
	crowd->queries = (unsigned int)queries;
	crowd_start(crowd, &go);
	start_ns = bench_now_ns();
	close(go);
	while (atomic_load(&crowd->ended) < all && usleep(1000) == 0)
		;
	ms = (double)(bench_now_ns() - start_ns) / 1e6;
	while (wait(NULL) > 0)
		;
	printf("%.0f ms %.2f times %.2f requests %lu unanswered %.3f "
	       "fairness\n",
	       ms, ms * PER_MS / (double)all,
	       (double)crowd->sent / (double)crowd->answered,
	       all - crowd->answered, fairness(crowd));
	return EXIT_SUCCESS;
}
