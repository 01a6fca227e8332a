/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a client does about what ibsim's preload library does wrong. Run by
 * ibsim.sh on "host-r3 mlx5_0", without umtap; the argument names one test,
 * since the library has to be started anew after some.
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
#include <ibsa/sa.h>

#define CHECK(condition) \
	((condition) ? (void)0 : fail(__FILE__, __LINE__, #condition))

enum {
	FILES = 8,	    /* that ibsim opens at a time */
	FIRST = 1024,	    /* number of the first of them */
	DEADLINE_MS = 1200, /* of what is not answered */
	INTERVAL_MS = 300,
	LONG_MS = 30000,
	NOBODY_LID = 99,
};

/* What has become of a query. */
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

static void ask(struct ibsa_client *client, const struct ibsa_query *query,
		struct seen *seen)
{
	*seen = (struct seen){ 0 };
	CHECK(!ibsa_query(client, query, note, seen, NULL));
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

	ask(client, &query, &seen);
	CHECK(!seen.err && !seen.status);
}

static void is_active(struct ibsa_client *client)
{
	struct ibsa_port_state port;

	CHECK(!ibsa_port_get(client, true, &port));
	CHECK(port.port_state == IBSA_PORT_ACTIVE && port.lid && port.sm_lid);
}

/* Until the next descriptor is above @last. */
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

/* The ninth fails without a reason, until one is closed. */
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
 * Those of the system above 1024 are neither read nor closed by its names. Of
 * two clients only the later one is answered: the library has one place for
 * each class.
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
	/* The program's own are still there. */
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

/* Its copy of sysfs is found from one folder only. */
static void folder_is_changed(void)
{
	struct ibsa_client *client = client_open(NULL);
	struct ibsa_port_watch *watch;
	char before[4096];
	int changes = 0;

	CHECK(getcwd(before, sizeof(before)));
	CHECK(!ibsa_port_watch(client, 1, count_changes, &changes, &watch));
	CHECK(!chdir("/"));
	is_active(client);
	is_answered(client);
	CHECK(!changes);
	CHECK(!chdir(before));
	CHECK(!ibsa_close(client));
}

/* It ends by its deadline, after more than one try. */
static void ends_in_time(struct ibsa_client *client,
			 const struct ibsa_query *query)
{
	const uint64_t start_ms = now_ms();
	struct seen seen;

	ask(client, query, &seen);
	CHECK(seen.err == -ETIMEDOUT);
	CHECK(seen.tries > 1);
	CHECK(now_ms() - start_ms >= DEADLINE_MS);
	CHECK(now_ms() - start_ms < LONG_MS);
}

/* ibsim keeps no time: it never says that nobody has answered. */
static void nobody_tells_of_silence(void)
{
	struct ibsa_client *client = client_open(NULL);
	const struct ibsa_query unknown = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_SET,
		.deadline_ms = DEADLINE_MS,
		.first_interval_ms = INTERVAL_MS,
	};

	/* OpenSM does not answer a Set of what cannot be set. */
	ends_in_time(client, &unknown);
	is_answered(client);
	CHECK(!ibsa_close(client));
}

/* A request without a receiver comes back at once, as if its time were over:
 * which is no reason to give up, nor to send without end. */
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

/* Its poll looks at no other file, so that nothing can end it early. */
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

/* A program's own loop may poll the number that it is given, for reading. */
static void number_can_be_polled(void)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct ibsa_client *client = client_open(NULL);
	struct seen seen = { 0 };

	CHECK(!ibsa_query(client, &query, note, &seen, NULL));
	while (!seen.calls) {
		struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };

		CHECK(poll(&fd, 1, ibsa_timeout_ms(client)) >= 0);
		CHECK(!ibsa_dispatch(client));
	}
	CHECK(!seen.err);
	CHECK(!ibsa_close(client));
}

/* A child that does not run the library's end leaves the parent be. */
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
	{ "nobody-tells-of-silence", nobody_tells_of_silence },
	{ "requests-come-back-at-once", requests_come_back_at_once },
	{ "wait-is-ended-from-outside", wait_is_ended_from_outside },
	{ "number-can-be-polled", number_can_be_polled },
	{ "child-leaves-the-parent-be", child_leaves_the_parent_be },
};

/* Without an argument, the names of all. */
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
