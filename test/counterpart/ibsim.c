/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks that a client copes with the errors of ibsim's preload library. Run by
 * ibsim.sh on "host-r3 mlx5_0", without umtap. The argument names one test,
 * since after some tests the library is not usable any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/ibsa.h>
#include <ibsa/types.h>

#define CHECK(condition) \
	((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

enum {
	FILES = 8,	    /* that ibsim opens at a time */
	FIRST = 1024,	    /* number of the first of them */
	DEADLINE_MS = 1200, /* of requests without an answer */
	INTERVAL_MS = 300,
	LONG_MS = 30000,
	NOBODY_LID = 99,
};

/* Result of a query. */
struct seen {
	int calls;
	int err;
	uint16_t status;
	unsigned int tries;
};

static _Noreturn void fail(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	exit(1);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static struct ibsa_client *client_open(const struct ibsa_address *sa)
{
	const struct ibsa_options options = { .access.sa = sa };
	struct ibsa_client *client;
	struct ibsa_error error;

	if (ibsa_open(&options, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		exit(1);
	}
	return client;
}

static void note(const struct ibsa_reply *reply, void *arg)
{
	struct seen *seen = arg;

	seen->calls++;
	seen->err = reply->err;
	seen->status = reply->status;
	seen->tries = reply->tries;
}

static void query_start(struct ibsa_client *client,
			const struct ibsa_query *query, struct seen *seen)
{
	*seen = (struct seen){ 0 };
	CHECK(!ibsa_query_start(client, query, note, seen, NULL));
	while (!seen->calls)
		CHECK(!ibsa_wait(client, -1));
	CHECK(seen->calls == 1);
}

static void is_answered(struct ibsa_client *client)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct seen seen;

	query_start(client, &query, &seen);
	CHECK(!seen.err && !seen.status);
}

static void is_active(struct ibsa_client *client)
{
	struct ibsa_port_state port;

	CHECK(!ibsa_port_get(client, true, &port));
	CHECK(port.port_state == IBSA_PORT_ACTIVE && port.lid && port.sm_lid);
}

/* Use up the descriptors up to the number @last. */
static void use_up(int last)
{
	struct rlimit limit;
	int fd;

	CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
	limit.rlim_cur = limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	do
		fd = fcntl(STDIN_FILENO, F_DUPFD, 0);
	while (fd >= 0 && fd < last);
	CHECK(fd >= 0);
}

/*
 * ibsim's open() of the ninth file fails without an errno, until one file is
 * closed.
 */
static void files_run_out(void)
{
	struct ibsa_client *clients[FILES];
	struct ibsa_client *another;
	struct ibsa_error error;

	for (int i = 0; i < FILES; i++)
		clients[i] = client_open(NULL);
	CHECK(ibsa_open(NULL, &error, &another) == -EMFILE);
	CHECK(strstr(error.text, "umad0 cannot be opened"));
	is_answered(clients[FILES - 1]);
	CHECK(!ibsa_close(clients[0]));
	clients[0] = client_open(NULL);
	is_answered(clients[0]);
	for (int i = 0; i < FILES; i++)
		CHECK(!ibsa_close(clients[i]));
}

/*
 * ibsim's preload library neither reads nor closes the system's descriptors
 * above 1024. Of two clients, only the later client receives answers, because
 * the library has one receiver for each class.
 */
static void numbers_are_shared(int last)
{
	struct ibsa_client *first = client_open(NULL);
	struct ibsa_client *second;

	CHECK(ibsa_fd(first) == FIRST);
	use_up(last);
	is_active(first);
	is_answered(first);
	second = client_open(NULL);
	CHECK(ibsa_fd(second) == FIRST + 1);
	is_active(second);
	is_answered(second);
	CHECK(!ibsa_close(first));
	CHECK(!ibsa_close(second));
	/* The program's own descriptors are still open. */
	CHECK(fcntl(last, F_GETFD) >= 0);
}

static void first_number_is_taken(void)
{
	numbers_are_shared(FIRST - 1);
}

static void numbers_of_others_are_taken(void)
{
	numbers_are_shared(FIRST + 500);
}

static void numbers_beyond_its_table_are_taken(void)
{
	numbers_are_shared(3 * FIRST);
}

static void count_changes(unsigned int changes,
			  const struct ibsa_port_state *now, void *arg)
{
	(void)changes;
	(void)now;
	++*(int *)arg;
}

/*
 * ibsim's preload library finds its copy of sysfs only in one working
 * directory. In another directory, the client keeps the state of its port.
 */
static void folder_is_changed(void)
{
	struct ibsa_client *client = client_open(NULL);
	struct ibsa_port_watch *watch;
	char before[4096];
	int changes = 0;

	CHECK(getcwd(before, sizeof(before)));
	CHECK(!ibsa_port_watch_start(client, 1, count_changes, &changes,
				     &watch));
	CHECK(!chdir("/"));
	is_active(client);
	is_answered(client);
	CHECK(!changes);
	CHECK(!chdir(before));
	CHECK(!ibsa_close(client));
}

/* The query ends at its deadline, after more than one try. */
static void ends_in_time(struct ibsa_client *client,
			 const struct ibsa_query *query)
{
	const uint64_t start_ms = now_ms();
	struct seen seen;

	query_start(client, query, &seen);
	CHECK(seen.err == -ETIMEDOUT);
	CHECK(seen.tries > 1);
	CHECK(now_ms() - start_ms >= DEADLINE_MS);
	CHECK(now_ms() - start_ms < LONG_MS);
}

/* ibsim has no timeouts: it never reports that no reply came. */
static void timeout_is_not_reported(void)
{
	struct ibsa_client *client = client_open(NULL);
	const struct ibsa_query unknown = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_SET,
		.deadline_ms = DEADLINE_MS,
		.first_interval_ms = INTERVAL_MS,
	};

	/* OpenSM does not answer a Set of an attribute that cannot be set. */
	ends_in_time(client, &unknown);
	is_answered(client);
	CHECK(!ibsa_close(client));
}

/*
 * A request without a receiver is returned at once, like after a timeout. The
 * client must neither give up nor retry without delay.
 */
static void requests_come_back_at_once(void)
{
	const struct ibsa_address nobody = { .lid = NOBODY_LID,
					     .qpn = IBSA_QPN_GSI };
	struct ibsa_client *client = client_open(&nobody);
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
		.deadline_ms = DEADLINE_MS,
		.first_interval_ms = INTERVAL_MS,
	};
	struct ibsa_stats stats;

	ends_in_time(client, &query);
	ibsa_stats_get(client, &stats);
	CHECK(stats.sent <= 1 + DEADLINE_MS / INTERVAL_MS);
	CHECK(!ibsa_close(client));
}

static void *wake(void *client)
{
	ibsa_wake(client);
	return NULL;
}

/*
 * The poll() of ibsim's preload library checks no other file, so it does not
 * return at a wake-up. ibsa_wait() nevertheless ends soon after one.
 */
static void wait_is_ended_from_outside(void)
{
	struct ibsa_client *client = client_open(NULL);

	for (int i = 0; i < 20; i++) {
		const uint64_t start_ms = now_ms();
		pthread_t thread;

		CHECK(!pthread_create(&thread, NULL, wake, client));
		CHECK(!ibsa_wait(client, LONG_MS));
		CHECK(now_ms() - start_ms < LONG_MS / 10);
		CHECK(!pthread_join(thread, NULL));
	}
	CHECK(!ibsa_close(client));
}

/* A program's own loop may poll the descriptor for reading. */
static void number_can_be_polled(void)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct ibsa_client *client = client_open(NULL);
	struct seen seen = { 0 };

	CHECK(!ibsa_query_start(client, &query, note, &seen, NULL));
	while (!seen.calls) {
		struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };

		CHECK(poll(&fd, 1, ibsa_timeout_ms(client)) >= 0);
		CHECK(!ibsa_dispatch(client));
	}
	CHECK(!seen.err);
	CHECK(!ibsa_close(client));
}

/*
 * A child that does not run the library's destructor does not disturb the
 * parent.
 */
static void child_leaves_the_parent_be(void)
{
	struct ibsa_client *client = client_open(NULL);
	pid_t child = fork();
	int status;

	if (!child)
		_exit(0);
	CHECK(waitpid(child, &status, 0) == child && !status);
	is_active(client);
	is_answered(client);
	CHECK(!ibsa_close(client));
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "files-run-out", files_run_out },
	{ "first-number-is-taken", first_number_is_taken },
	{ "numbers-of-others-are-taken", numbers_of_others_are_taken },
	{ "numbers-beyond-its-table-are-taken",
	  numbers_beyond_its_table_are_taken },
	{ "folder-is-changed", folder_is_changed },
	{ "timeout-is-not-reported", timeout_is_not_reported },
	{ "requests-come-back-at-once", requests_come_back_at_once },
	{ "wait-is-ended-from-outside", wait_is_ended_from_outside },
	{ "number-can-be-polled", number_can_be_polled },
	{ "child-leaves-the-parent-be", child_leaves_the_parent_be },
};

/* Without an argument, print the names of all tests. */
int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (argc == 1) {
			puts(tests[i].name);
		} else if (!strcmp(argv[1], tests[i].name)) {
			tests[i].run();
			return 0;
		}
	}
	return argc == 1 ? 0 : 2;
}
