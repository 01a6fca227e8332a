/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: fabric-many IBSA SECONDS [SEED [SAQUERY]]
 *
 * Fifty processes query one fabric server all the time. They use libibsa; if
 * SAQUERY is given, ten of them run it instead. Meanwhile links, nodes and the
 * SM are lost and restored, faults drop or change MADs, and processes are
 * killed. All replies are compared with the topology and with the log of
 * changes. A missing reply must be explained by the log, or by the server's
 * count of faults. The server's memory must not grow, and it must keep nothing
 * of clients that have gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "change.h"
#include "judge.h"
#include "remote/ring.h"
#include "test/support/random.h"

enum {
	SAQUERY_EVERY = 5, /* every so many workers */
	CHANGE_MS = 40,
	KILL_MS = 150,
	SAMPLES = 20, /* of the server's memory, in a run */
	GONE_MS = 30000,
	/* Limit of the time until all workers are clients. */
	START_MS = 60000,
	ANSWERED_MIN = 1000,
	BUSY_FACTOR = 6, /* of the time of the run, on a busy machine */
	/* Memory pools grow to the highest use so far, which varies. */
	GROWTH_KB = 2048,
	/* Pages of a client's rings are used when they are first written. */
	RINGS_KB = sizeof(struct ring_memory) / 1024,
	/* Clients that come or go while the memory is sampled, at most. */
	CLIENTS_MORE = 10,
};

struct driver {
	struct many_server server;
	struct many_history history;
	struct many_changes changes;
	struct many_verdict verdict;
	char folder[64];
	const char *self;
	const char *saquery; /* or NULL */
	uint64_t seed;
	uint64_t random;
	uint64_t start_ns;
	uint64_t end_ns;
	pid_t pids[WORKERS];
	uint64_t killed;
	/* Number of workers that ended by themselves, which is an error. */
	uint64_t died;
	int from; /* pipe with their reports */
	int to;
	long own_kb[SAMPLES + 1];
	bool has_rings_left; /* the server has more rings than clients */
	int sampled;
};

static uint64_t ms(uint64_t count)
{
	return count * 1000000;
}

static bool is_saquery(const struct driver *driver, unsigned int worker)
{
	return driver->saquery && worker % SAQUERY_EVERY == 0;
}

/* In a new process: become a worker, which inherits only the pipe @to. */
static void worker_exec(const struct driver *driver, unsigned int worker,
			uint64_t seed)
{
	char numbers[4][32];
	char net[96];

	snprintf(numbers[0], sizeof(numbers[0]), "%u", worker);
	snprintf(numbers[1], sizeof(numbers[1]), "%" PRIu64, seed);
	snprintf(numbers[2], sizeof(numbers[2]), "%d", driver->to);
	snprintf(numbers[3], sizeof(numbers[3]), "%d", driver->server.pid);
	snprintf(net, sizeof(net), "%s/net", driver->folder);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setpgid(0, 0) || setenv("IBSA_FABRIC", driver->server.fabric, 1) ||
	    fcntl(driver->to, F_SETFD, 0))
		_exit(126);
	execl(driver->self, driver->self, "--work", net, numbers[0], numbers[1],
	      numbers[2], numbers[3],
	      is_saquery(driver, worker) ? driver->saquery : (char *)NULL,
	      (char *)NULL);
	_exit(127);
}

static void worker_spawn(struct driver *driver, unsigned int worker)
{
	const uint64_t seed = random_next(&driver->random);
	const pid_t pid = fork();

	if (pid == 0)
		worker_exec(driver, worker, seed);
	driver->pids[worker] = pid;
}

static void kill_worker(struct driver *driver, unsigned int worker)
{
	int status;

	if (driver->pids[worker] <= 0)
		return;
	kill(driver->pids[worker], SIGKILL);
	waitpid(driver->pids[worker], &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		fprintf(stderr, "worker %u ended by itself: 0x%x\n", worker,
			(unsigned int)status);
		driver->died++;
	}
	driver->pids[worker] = 0;
}

/* Check the workers' reports; wait at most @timeout_ms for the first. */
static void reports_read(struct driver *driver, int timeout_ms)
{
	struct many_report reports[REPORTS_MAX];
	struct pollfd fd = { .fd = driver->from, .events = POLLIN };

	while (poll(&fd, 1, timeout_ms) > 0) {
		const ssize_t got = read(driver->from, reports,
					 sizeof(reports));

		for (size_t i = 0;
		     got > 0 && i < (size_t)got / sizeof(*reports); i++)
			many_judge(&driver->history, &reports[i],
				   &driver->verdict);
		timeout_ms = 0;
	}
}

static void memory_sample(struct driver *driver)
{
	const uint64_t now_ns = many_now_ns();
	const struct many_memory memory = many_memory_get(&driver->server);
	const uint64_t clients = many_stat(&driver->server, "clients");

	driver->own_kb[driver->sampled++] = memory.own_kb;
	driver->has_rings_left |= memory.rings_kb < 0 ||
				  (uint64_t)memory.rings_kb >
					  (clients + CLIENTS_MORE) * RINGS_KB;
	printf("%6.1f s: %6ld kB, %3d files, %" PRIu64 " clients, %" PRIu64
	       " answered, %" PRIu64 " changes, %" PRIu64 " killed\n",
	       (double)(now_ns - driver->start_ns) / 1e9,
	       memory.own_kb + memory.rings_kb,
	       many_open_files(&driver->server), clients,
	       driver->verdict.answered, driver->changes.made, driver->killed);
	fflush(stdout);
}

/*
 * Wait until all workers that use libibsa are clients: only then the memory of
 * the server is compared. Then the time of the run begins.
 */
static void workers_await(struct driver *driver)
{
	const uint64_t limit_ns = driver->start_ns + ms(START_MS);
	const uint64_t run_ns = driver->end_ns - driver->start_ns;

	while (many_now_ns() < limit_ns &&
	       many_stat(&driver->server, "clients") <
		       WORKERS - WORKERS / SAQUERY_EVERY)
		reports_read(driver, 20);
	driver->start_ns = many_now_ns();
	driver->end_ns = driver->start_ns + run_ns;
}

/* Whether the run is over: its time, and enough was answered. */
static bool run_is_over(const struct driver *driver, uint64_t now_ns)
{
	const uint64_t run_ns = driver->end_ns - driver->start_ns;

	if (now_ns < driver->end_ns)
		return false;
	return (driver->verdict.answered > ANSWERED_MIN &&
		driver->verdict.none) ||
	       now_ns > driver->start_ns + BUSY_FACTOR * run_ns;
}

static void run_changes(struct driver *driver)
{
	const uint64_t sample_ns = (driver->end_ns - driver->start_ns) /
				   SAMPLES;
	uint64_t change_ns = driver->start_ns;
	uint64_t kill_ns = driver->start_ns;
	uint64_t now_ns;

	while (!run_is_over(driver, now_ns = many_now_ns())) {
		reports_read(driver, 5);
		if (now_ns >= change_ns) {
			many_change(&driver->changes);
			change_ns = now_ns + random_next(&driver->random) %
						     ms(2 * CHANGE_MS);
		}
		if (now_ns >= kill_ns) {
			const unsigned int worker =
				(unsigned int)(random_next(&driver->random) %
					       WORKERS);

			kill_worker(driver, worker);
			worker_spawn(driver, worker);
			driver->killed++;
			kill_ns = now_ns + random_next(&driver->random) %
						   ms(2 * KILL_MS);
		}
		if (driver->sampled <= SAMPLES &&
		    now_ns >= driver->start_ns +
				      (uint64_t)driver->sampled * sample_ns)
			memory_sample(driver);
	}
}

static bool claim_check(bool is_so, const char *what)
{
	if (!is_so)
		fprintf(stderr, "FAILED: %s\n", what);
	return is_so;
}

/* Whether all clients are gone, and their descriptors in the server, too. */
static bool is_empty(struct driver *driver, int files)
{
	const uint64_t end_ns = many_now_ns() + ms(GONE_MS);

	/* The command that reads the number of clients is a client, too. */
	while (many_stat(&driver->server, "clients") > 1 ||
	       many_open_files(&driver->server) > files) {
		if (many_now_ns() > end_ns)
			return false;
		poll(NULL, 0, 20);
	}
	return true;
}

/*
 * Whether the counts of faults explain what only faults can: lost tries, by the
 * MADs that were dropped, corrupted or answered BUSY; wrong replies, by those
 * that were corrupted.
 */
static bool is_balanced(struct driver *driver)
{
	static const char *const strikes[] = { "faults_lose", "faults_busy",
					       "faults_corrupt" };
	const uint64_t corrupted = many_stat(&driver->server, "faults_corrupt");
	uint64_t struck = 0;
	bool good;

	for (size_t i = 0; i < sizeof(strikes) / sizeof(strikes[0]); i++)
		struck += many_stat(&driver->server, strikes[i]);
	printf("%" PRIu64 " tries lost, %" PRIu64 " or late, %" PRIu64
	       " by faults, of which %" PRIu64 " were; %" PRIu64
	       " answers wrong by %" PRIu64 " faults\n",
	       driver->verdict.tries_lost, driver->verdict.late,
	       driver->verdict.struck, struck, driver->verdict.corrupted,
	       corrupted);
	good = claim_check(driver->verdict.struck <= struck,
			   "more lost than struck");
	return claim_check(driver->verdict.corrupted <= corrupted,
			   "more wrong than corrupted") &&
	       good;
}

/*
 * Whether the most memory in the second half of the run is at most GROWTH_KB
 * above the most in the first half.
 */
static bool is_flat(const struct driver *driver)
{
	long first = 0;
	long second = 0;

	for (int i = 1; i < driver->sampled; i++) {
		long *half = i < driver->sampled / 2 ? &first : &second;

		if (driver->own_kb[i] > *half)
			*half = driver->own_kb[i];
	}
	printf("memory: at most %ld kB, then %ld kB\n", first, second);
	return second <= first + GROWTH_KB;
}

static bool run_conclude(struct driver *driver, int files)
{
	const struct many_verdict *verdict = &driver->verdict;
	bool good = true;

	many_mend(&driver->changes);
	for (unsigned int i = 0; i < WORKERS; i++)
		kill_worker(driver, i);
	reports_read(driver, 0);
	printf("%" PRIu64 " answered, %" PRIu64 " times none\n",
	       verdict->answered, verdict->none);
	good &= claim_check(!verdict->unexplained,
			    "there are unexplained answers");
	good &= claim_check(!driver->died, "a process ended by itself");
	good &= claim_check(!driver->changes.has_failed,
			    "a command was refused");
	good &= claim_check(verdict->answered > ANSWERED_MIN && verdict->none,
			    "hardly anything was asked");
	good &= claim_check(is_empty(driver, files), "clients are left");
	good &= claim_check(is_flat(driver), "the server grows");
	good &= claim_check(!driver->has_rings_left,
			    "the server keeps rings of clients that have gone");
	good &= claim_check(!many_stat(&driver->server, "disconnected"),
			    "clients were sent away");
	good &= is_balanced(driver);
	good &= claim_check(many_server_stop(&driver->server),
			    "the server's end");
	return good;
}

static bool run_drive(struct driver *driver, const char *ibsa)
{
	int files;
	bool good;

	if (!many_server_start(&driver->server, ibsa, driver->folder,
			       driver->seed)) {
		fprintf(stderr, "there is no server\n");
		return false;
	}
	files = many_open_files(&driver->server);
	for (unsigned int i = 0; i < WORKERS; i++)
		worker_spawn(driver, i);
	workers_await(driver);
	run_changes(driver);
	good = run_conclude(driver, files);
	many_history_done(&driver->history);
	return good;
}

static int worker_run(char **args)
{
	struct many_host hosts[HOSTS] = { { .lid = 0 } };

	if (!many_hosts_read(args[0], hosts))
		return 1;
	return many_work(hosts, (unsigned int)atoi(args[1]),
			 strtoull(args[2], NULL, 10), atoi(args[3]),
			 atoi(args[4]), args[5]);
}

static bool run_prepare(struct driver *driver)
{
	char net[96];
	int ends[2];

	strcpy(driver->folder, "/tmp/ibsa-many-XXXXXX");
	if (!mkdtemp(driver->folder) || pipe2(ends, O_CLOEXEC))
		return false;
	driver->from = ends[0];
	driver->to = ends[1];
	snprintf(net, sizeof(net), "%s/net", driver->folder);
	return many_topology_write(net);
}

/* Print the server's messages about rejected clients. */
static void log_show(const struct driver *driver)
{
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "%s/log", driver->folder);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		fprintf(stderr, "server: %s", line);
	if (file)
		fclose(file);
}

static void folder_remove(const struct driver *driver)
{
	static const char *const names[] = { "net", "log", "s" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[96];

		snprintf(path, sizeof(path), "%s/%s", driver->folder, names[i]);
		unlink(path);
	}
	rmdir(driver->folder);
}

int main(int argc, char **argv)
{
	struct driver driver = { .self = "/proc/self/exe" };
	bool good;

	if (argc >= 7 && !strcmp(argv[1], "--work"))
		return worker_run(argv + 2);
	if (argc < 3) {
		fprintf(stderr, "usage: %s IBSA SECONDS [SEED [SAQUERY]]\n",
			argv[0]);
		return 2;
	}
	driver.seed = argc > 3 ? strtoull(argv[3], NULL, 10)
			       : (uint64_t)time(NULL);
	driver.saquery = argc > 4 ? argv[4] : NULL;
	driver.random = driver.seed;
	driver.changes = (struct many_changes){ &driver.server, &driver.history,
						&driver.random, 0, false };
	driver.start_ns = many_now_ns();
	driver.end_ns = driver.start_ns + ms(1000) * (uint64_t)atoi(argv[2]);
	printf("seed %" PRIu64 "\n", driver.seed);
	fflush(stdout);
	good = run_prepare(&driver) && run_drive(&driver, argv[1]);
	if (!good)
		log_show(&driver);
	folder_remove(&driver);
	return good ? 0 : 1;
}
