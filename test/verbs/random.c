/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Four threads call all verbs functions of libibsa at random. At random moments
 * a thread is cancelled or interrupted by a signal, or the process forks. Ends
 * with 0 if no call hung and neither descriptors nor memory were lost.
 *
 * usage: verbs-random WHERE [ROUNDS [SEED]]
 *
 * WHERE is a topology file, unix:PATH of a fabric server, or with a slash in
 * front, as /rxe0, a device of libibverbs. A failure prints the seed and the
 * round.
 */
#include "test/verbs/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <ibsa/fabric.h>

#include "test/support/random.h"

enum {
	THREADS = 4,
	ROUND_S = 60,	   /* longer is a hang */
	WARM_ROUNDS = 200, /* rounds until caches have reached their final
			    * size */
	GENERATION = 50,   /* rounds until the shared context is replaced */
	MEMORY_SLACK = 65536,
};

static struct {
	struct ibsa_fabric *fabric; /* NULL: at a server, or a device */
	struct ibv_device **devices;
	const char *where;
	uint64_t seed;
	unsigned int round;
	struct worker workers[THREADS];
	uint64_t random;
} all;

static unsigned int choose(unsigned int count)
{
	return (unsigned int)(random_next(&all.random) % count);
}

/*
 * Print the failure and end the process. Signal handlers and forked children
 * call it, too, so it calls only functions that are safe there.
 */
static void fail(const char *what)
{
	char text[256];
	const int len = snprintf(text, sizeof(text),
				 "failed: %s; seed %llu, round %u\n", what,
				 (unsigned long long)all.seed, all.round);

	(void)!write(STDERR_FILENO, text, (size_t)len);
	_exit(1);
}

void must(bool is_right, const char *what)
{
	if (!is_right)
		fail(what);
}

static void handler_alarm(int signal_number, siginfo_t *info, void *interrupted)
{
	(void)signal_number;
	(void)info;
	(void)interrupted;
	fail("a call hangs");
}

bool is_device(void)
{
	return all.devices;
}

static struct ibv_context *device_open(void)
{
	for (size_t i = 0; all.devices[i]; i++) {
		if (!strcmp(ibv_get_device_name(all.devices[i]), all.where + 1))
			return ibv_open_device(all.devices[i]);
	}
	return NULL;
}

/* A cancellation in libibverbs' own open would lose descriptors. */
struct ibv_context *context_open(void)
{
	const struct ibsa_options options = {
		.on = all.fabric,
		.fabric = all.fabric ? NULL : all.where,
	};
	struct ibv_context *context = NULL;
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	if (is_device())
		context = device_open();
	else
		must(!ibsa_verbs_open(&options, NULL, &context), "open");
	must(context, "open");
	pthread_setcancelstate(before, &before);
	return context;
}

/* The worker of the thread that a handler has interrupted. */
static __thread struct worker *own_worker;

/*
 * Whether the handler has interrupted a system call that waits. In any other
 * place, the thread may be about to use the context, with libibverbs as with
 * this library.
 */
static bool was_in_wait(const ucontext_t *interrupted)
{
#ifdef __x86_64__
	return interrupted->uc_mcontext.gregs[REG_RAX] == -EINTR;
#else
	(void)interrupted;
	return false;
#endif
}

static void handler_close(int signal_number, siginfo_t *info, void *interrupted)
{
	const int before = errno;
	struct worker *worker = own_worker;
	struct ibv_context *context;
	int cancel;
	int type;

	(void)signal_number;
	(void)info;
	/*
	 * glibc: in a system call that is a cancellation point, the
	 * cancellation type is asynchronous, and so it is in a handler that
	 * interrupts the call.
	 */
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	if (worker && worker->is_waiting && was_in_wait(interrupted)) {
		worker->is_waiting = false;
		context = worker->own;
		worker->own = NULL;
		must(!close_any(context), "close in a handler");
	}
	pthread_setcancelstate(cancel, &cancel);
	pthread_setcanceltype(type, &type);
	errno = before;
}

static void handler_nothing(int signal_number, siginfo_t *info,
			    void *interrupted)
{
	(void)signal_number;
	(void)info;
	(void)interrupted;
}

static void handler_set(int signal_number,
			void (*handler)(int, siginfo_t *, void *), int flags)
{
	const struct sigaction action = { .sa_sigaction = handler,
					  .sa_flags = flags | SA_SIGINFO };

	must(!sigaction(signal_number, &action, NULL), "sigaction");
}

static void worker_end(void *arg)
{
	struct worker *worker = arg;

	own_worker = NULL;
	if (worker->held)
		ibsa_verbs_async_fd_put(worker->held);
	worker->held = NULL;
	if (worker->own)
		must(!close_any(worker->own), "close after a cancel");
	worker->own = NULL;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	own_worker = worker;
	pthread_cleanup_push(worker_end, worker);
	while (!atomic_load(&worker->is_over))
		worker_call(worker, (unsigned int)random_next(&worker->random));
	pthread_cleanup_pop(1);
	return NULL;
}

static void worker_start(struct worker *worker, struct ibv_context *shared)
{
	memset(worker, 0, sizeof(*worker));
	worker->shared = shared;
	worker->random = random_next(&all.random);
	must(!pthread_create(&worker->thread, NULL, work, worker), "thread");
}

static void worker_cancel(struct worker *worker)
{
	must(!pthread_cancel(worker->thread), "cancel");
	must(!pthread_join(worker->thread, NULL), "join");
}

static void child_run(struct ibv_context *inherited)
{
	struct worker worker = { .random = all.random };

	alarm(ROUND_S / 2);
	/* The fabric is the parent's; the child loads its own. */
	all.fabric = NULL;
	worker.shared = context_open();
	for (unsigned int i = 0; i < 10; i++)
		worker_call_at_once(&worker,
				    (unsigned int)random_next(&worker.random));
	must(!close_any(worker.shared), "close in a child");
	if (is_device())
		must(!close_any(inherited), "close of a parent's");
	else
		must(close_any(inherited), "close of a parent's");
	_exit(0);
}

static void child(struct ibv_context *shared)
{
	const pid_t pid = fork();
	int status;

	must(pid >= 0, "fork");
	if (!pid)
		child_run(shared);
	must(waitpid(pid, &status, 0) == pid && !status, "a child");
}

static void plug(void)
{
	const struct ibsa_fabric_port_change change = {
		.mask = IBSA_CHANGE_LINK,
		.link_up = choose(2),
	};

	if (all.fabric)
		must(!ibsa_fabric_port_set(all.fabric, "node2", 1, &change),
		     "plug");
}

static void disturb(struct ibv_context *shared)
{
	struct worker *worker = &all.workers[choose(THREADS)];

	switch (choose(8)) {
	case 0:
	case 1:
		worker_cancel(worker);
		worker_start(worker, shared);
		break;
	case 2:
		pthread_kill(worker->thread, SIGUSR1);
		break;
	case 3:
		pthread_kill(worker->thread, SIGUSR2);
		break;
	case 4:
		kill(getpid(), choose(2) ? SIGUSR1 : SIGUSR2);
		break;
	case 5:
		child(shared);
		break;
	default:
		plug();
	}
}

/* Open a context, and run rounds on it until it is closed. */
static void generation(unsigned int rounds)
{
	struct ibv_context *shared = context_open();

	for (int i = 0; i < THREADS; i++)
		worker_start(&all.workers[i], shared);
	for (unsigned int i = 0; i < rounds; i++) {
		all.round++;
		alarm(ROUND_S);
		disturb(shared);
		for (unsigned int j = choose(30); j; j--)
			sched_yield();
	}
	for (int i = 0; i < THREADS; i++) {
		atomic_store(&all.workers[i].is_over, true);
		worker_cancel(&all.workers[i]);
	}
	must(!close_any(shared), "close");
}

static int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	must(folder, "/proc/self/fd");
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/*
 * Wait until only @wanted descriptors are open: a device whose last put is in
 * its own thread is closed a moment later.
 */
static void descriptors_await(int wanted)
{
	const struct timespec moment = { .tv_nsec = 10000000 };

	for (int i = 0; i < 500 && descriptors() > wanted; i++)
		nanosleep(&moment, NULL);
}

static void rounds_run(unsigned int count)
{
	for (unsigned int done = 0; done < count; done += GENERATION)
		generation(count - done < GENERATION ? count - done
						     : GENERATION);
}

static void where_open(void)
{
	if (all.where[0] == '/' && strchr(all.where + 1, '/') == NULL) {
		all.devices = ibv_get_device_list(NULL);
		must(all.devices, "devices");
	} else if (strncmp(all.where, "unix:", 5) != 0) {
		must(!ibsa_fabric_load(all.where, NULL, NULL, &all.fabric),
		     "fabric");
	}
}

int main(int argc, char **argv)
{
	const unsigned int rounds =
		argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : 1000;
	size_t memory;
	int files;

	if (argc < 2)
		return 2;
	all.where = argv[1];
	all.seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	all.random = all.seed;
	handler_set(SIGALRM, handler_alarm, 0);
	handler_set(SIGUSR1, handler_close, SA_RESTART);
	handler_set(SIGUSR2, handler_nothing, 0);
	where_open();
	rounds_run(WARM_ROUNDS);
	files = descriptors();
	memory = mallinfo2().uordblks;
	rounds_run(rounds);
	descriptors_await(files);
	printf("%u rounds, seed %llu: descriptors %+d, memory %+ld bytes\n",
	       rounds, (unsigned long long)all.seed, descriptors() - files,
	       (long)(mallinfo2().uordblks - memory));
	fflush(stdout);
	must(descriptors() <= files, "descriptors are lost");
	must(mallinfo2().uordblks < memory + MEMORY_SLACK, "memory is lost");
	ibsa_fabric_put(all.fabric);
	return 0;
}
