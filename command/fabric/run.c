/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa fabric run, replay, exec: run a fabric server for other processes. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "fabric/options.h"
#include "base/interrupt.h"
#include "fabric/libraries.h"
#include "fabric/sys_mount.h"

enum {
	NOT_FOUND = 127, /* exit statuses of a shell */
	NOT_EXECUTABLE = 126,
	BY_SIGNAL = 128,
};

/*
 * A running fabric server, and the command that ibsa fabric exec runs with it.
 */
struct fabric_run {
	struct cli *cli;
	struct ibsa_fabric_server *server;
	struct sys_mount sysfs;
	struct libraries libraries;
	char path[FABRIC_PATH_MAX];
	char folder[FABRIC_PATH_MAX]; /* of the socket, or "" */
	pid_t child;		      /* 0: no command */
	int child_status;
	atomic_bool has_ended;
};

bool fabric_default_socket(char out[FABRIC_PATH_MAX])
{
	const char *folder = secure_getenv("XDG_RUNTIME_DIR");
	int len;

	if (folder && *folder)
		len = snprintf(out, FABRIC_PATH_MAX, "%s/ibsa-fabric", folder);
	else
		len = snprintf(out, FABRIC_PATH_MAX, "/tmp/ibsa-fabric-%u",
			       (unsigned int)geteuid());
	return len > 0 && len < FABRIC_PATH_MAX;
}

/*
 * Whether @path belongs to this user or root and, if it is a directory, no
 * other user can replace its entries.
 */
static bool is_safe_owner(const char *path, bool is_folder)
{
	const mode_t others = S_IWGRP | S_IWOTH;
	struct stat found;

	if ((is_folder ? stat : lstat)(path, &found) != 0)
		return false;
	if (found.st_uid != geteuid() && found.st_uid != 0)
		return false;
	return !is_folder || !(found.st_mode & others) ||
	       found.st_mode & S_ISVTX;
}

/*
 * Refuse the default path of the socket if it does not exist, or if a user
 * other than this one and root owns it or can replace it.
 */
int fabric_default_check(const char *path)
{
	char folder[FABRIC_PATH_MAX];
	struct stat found;

	if (lstat(path, &found) != 0)
		return fail_device("no fabric server is at %s: start one with "
				   "ibsa fabric run, or name its socket with "
				   "--socket",
				   path);
	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	if (is_safe_owner(path, false) && is_safe_owner(folder, true))
		return CLI_DONE;
	return fail_device("the default socket %s is not used, because it "
			   "belongs to another user, or another user could "
			   "replace it; name the socket with --socket",
			   path);
}

/*
 * Raise the limit of open files, and check that it allows the connections of
 * --connections: see the member connections of struct
 * ibsa_fabric_server_options.
 */
static int file_limit_raise(const struct cli *cli)
{
	enum { FILES_EACH = 3, OTHER_FILES = 64, TCP_FILES = 128 };
	const rlim_t needed = OTHER_FILES +
			      (fabric_own(cli)->listen ? TCP_FILES : 0) +
			      (rlim_t)FILES_EACH * fabric_own(cli)->connections;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return CLI_DONE;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (!fabric_own(cli)->connections || limit.rlim_max >= needed)
		return CLI_DONE;
	return fail_device("--connections %u needs %ju open files, and the "
			   "limit is %ju; raise the limit with ulimit -Hn, or "
			   "give a smaller number",
			   fabric_own(cli)->connections, (uintmax_t)needed,
			   (uintmax_t)limit.rlim_max);
}

/*
 * Fix the size above which glibc allocates memory by mmap(2): otherwise glibc
 * raises this size when mapped memory is freed. A growing table would then be
 * copied within the heap, which takes milliseconds, and the heap would not
 * shrink after the table is freed.
 */
static void allocator_set(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

static void event_note(const char *text, void *arg)
{
	const struct cli *cli = arg;

	if (cli->output.verbose)
		complain("%s", text);
}

static int fabric_serve_processes(struct fabric_run *run)
{
	struct cli *cli = run->cli;
	const struct ibsa_fabric_server_options options = {
		.report = event_note,
		.arg = cli,
		.connections = fabric_own(cli)->connections,
		.memory_mb = fabric_own(cli)->memory_mb,
		.listen = fabric_own(cli)->listen,
		.token = fabric_own(cli)->token,
		.control_token = fabric_own(cli)->control_token,
	};
	struct ibsa_error error = { .text = "" };
	int err = file_limit_raise(cli);

	if (err)
		return err;
	allocator_set();
	err = ibsa_fabric_server_open(cli->loaded, run->path, &options, &error,
				      &run->server);
	return err ? error_explain(err, &error) : CLI_DONE;
}

static void unserve(struct fabric_run *run)
{
	sys_mount_close(&run->sysfs);
	ibsa_fabric_server_close(run->server);
	if (run->folder[0])
		rmdir(run->folder);
}

static void server_wake(void *arg)
{
	ibsa_fabric_server_wake(arg);
}

/*
 * Run the server until a signal arrives. With a command: pass the signal on to
 * it, and run the server until the command has ended.
 */
static int server_run(struct fabric_run *run, struct interrupt *interrupt)
{
	bool is_told = false;
	int err = 0;

	interrupt_calls(interrupt, server_wake, run->server);
	while (!atomic_load(&run->has_ended) && (!err || err == -EINTR)) {
		if (interrupt_seen(interrupt) && !run->child)
			break;
		if (interrupt_seen(interrupt) && !is_told) {
			kill(run->child, atomic_load(&interrupt->number));
			is_told = true;
		}
		err = ibsa_fabric_server_wait(run->server,
					      sys_mount_update(&run->sysfs));
	}
	interrupt_calls(interrupt, NULL, NULL);
	if (!err || err == -EINTR)
		return CLI_DONE;
	return fail_device("the fabric server stops because of an error: %s",
			   strerror(-err));
}

static int begin(struct cli *cli, struct fabric_run *run)
{
	*run = (struct fabric_run){ .cli = cli };
	atomic_init(&run->has_ended, false);
	if (!fabric_own(cli)->socket && !fabric_default_socket(run->path))
		return fail_usage("the default path of the socket is too long; "
				  "name a shorter one with --socket");
	if (fabric_own(cli)->socket)
		strcpy(run->path, fabric_own(cli)->socket);
	return fabric_load(cli);
}

/* The address of --listen, with the port that the server has. */
struct listen_text {
	char text[80];
};

static struct listen_text listen_text(const struct fabric_run *run)
{
	const char *given = fabric_own(run->cli)->listen;
	struct listen_text out = { "" };
	const char *port;

	if (!given)
		return out;
	port = strrchr(given, ':') + 1;
	snprintf(out.text, sizeof(out.text), "%.*s%s%d", (int)(port - given),
		 given, port - given == (int)strlen("tcp:") ? "127.0.0.1:" : "",
		 ibsa_fabric_server_port(run->server));
	return out;
}

static void ready_row(struct out *out, size_t index, void *arg)
{
	const struct fabric_run *run = arg;
	const struct listen_text listen = listen_text(run);
	struct ibsa_fabric_info info;
	char fabric[FABRIC_PATH_MAX + sizeof("unix:")];

	(void)index;
	ibsa_fabric_info_get(run->cli->loaded, &info);
	snprintf(fabric, sizeof(fabric), "unix:%s", run->path);
	out_text(out, "event", "ready");
	out_text(out, "fabric", fabric);
	out_text_if_any(out, "listen", listen.text);
	out_text(out, "file", run->cli->args[2]);
	out_count(out, "adapters", info.adapters);
	out_count(out, "switches", info.switches);
	out_count(out, "links", info.links);
}

/* Print the line which says that clients can connect. */
static void ready_print(struct fabric_run *run)
{
	const struct listen_text listen = listen_text(run);
	struct out *out = &run->cli->out;
	struct ibsa_fabric_info info;

	if (out_is_data(out)) {
		out_event(out, ready_row, run);
		return;
	}
	ibsa_fabric_info_get(run->cli->loaded, &info);
	out_clean_line(out, "unix:%s%s%s serves %s: %zu %s, %zu %s, %zu %s",
		       run->path, listen.text[0] ? " and " : "", listen.text,
		       run->cli->args[2], info.adapters,
		       info.adapters == 1 ? "adapter" : "adapters",
		       info.switches,
		       info.switches == 1 ? "switch" : "switches", info.links,
		       info.links == 1 ? "link" : "links");
	out_flush(out);
}

int fabric_run(struct cli *cli)
{
	struct fabric_run run;
	struct interrupt interrupt;
	int status = begin(cli, &run);

	if (status == CLI_DONE)
		status = fabric_serve_processes(&run);
	if (status == CLI_DONE)
		status = interrupt_start(&interrupt, "ended at once: the "
						     "socket stays");
	if (status == CLI_DONE) {
		ready_print(&run);
		status = server_run(&run, &interrupt);
		interrupt_stop(&interrupt);
	}
	unserve(&run);
	return status;
}

/*
 * Run a server that replays a capture; refuse a file that is not a capture,
 * for which fabric_run() would serve a topology.
 */
int fabric_replay(struct cli *cli)
{
	struct ibsa_error error = { .text = "" };
	struct ibsa_transport *transport;
	const int err = ibsa_replay_open(cli->args[2], &error, &transport);

	if (err)
		return error_explain(err, &error);
	transport->ops->close(transport);
	return fabric_run(cli);
}

/*
 * Without --socket, create a directory for the socket that other users cannot
 * access.
 */
static int socket_folder_make(struct fabric_run *run)
{
	const char *folder = secure_getenv("TMPDIR");
	int len;
	int err = 0;

	if (fabric_own(run->cli)->socket)
		return CLI_DONE;
	if (!folder || !*folder)
		folder = "/tmp";
	len = snprintf(run->folder, sizeof(run->folder), "%s/ibsa-XXXXXX",
		       folder);
	if (len >= (int)sizeof(run->folder) - (int)sizeof("/fabric"))
		err = ENAMETOOLONG;
	else if (!mkdtemp(run->folder))
		err = errno;
	if (err) {
		complain("cannot create a directory for the socket in %s: %s; "
			 "name a path with --socket",
			 folder, strerror(err));
		run->folder[0] = '\0';
		return CLI_DEVICE;
	}
	snprintf(run->path, sizeof(run->path), "%.*s/fabric",
		 (int)(sizeof(run->path) - sizeof("/fabric")), run->folder);
	return CLI_DONE;
}

/*
 * Set IBSA_SEED in the command's environment, so that the transaction IDs of
 * its clients are reproducible, too.
 */
static bool seed_export(const struct cli *cli)
{
	char seed[32];

	if (!fabric_own(cli)->has_seed)
		return true;
	snprintf(seed, sizeof(seed), "%" PRIu64, fabric_own(cli)->seed);
	return setenv("IBSA_SEED", seed, 1) == 0;
}

/* In the child: execute the command. */
static void command_exec(const struct fabric_run *run)
{
	char **command = run->cli->args + 3;
	char fabric[FABRIC_PATH_MAX + sizeof("unix:")];
	int err;

	snprintf(fabric, sizeof(fabric), "unix:%s", run->path);
	if (setenv("IBSA_FABRIC", fabric, 1) != 0 || !seed_export(run->cli) ||
	    !libraries_export(&run->libraries, command[0])) {
		complain("out of memory");
		_exit(NOT_EXECUTABLE);
	}
	sys_mount_enter(&run->sysfs);
	execvp(command[0], command);
	err = errno;
	complain("cannot run '%s': %s%s", command[0], strerror(err),
		 err == ENOENT && !strchr(command[0], '/')
			 ? " in PATH; install it, or give its path"
			 : "");
	_exit(err == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

/* Thread: wait until the command ends, and wake the server. */
static void *child_await(void *arg)
{
	struct fabric_run *run = arg;

	while (waitpid(run->child, &run->child_status, 0) < 0 && errno == EINTR)
		;
	atomic_store(&run->has_ended, true);
	ibsa_fabric_server_wake(run->server);
	return NULL;
}

/*
 * Print which signal has ended the command, as a shell does; except SIGINT,
 * SIGTERM, SIGHUP and SIGPIPE, which are expected.
 */
static void signal_complain(const struct fabric_run *run, int number)
{
	if (number != SIGINT && number != SIGTERM && number != SIGHUP &&
	    number != SIGPIPE)
		complain("'%s' was ended by a signal: %s", run->cli->args[3],
			 strsignal(number));
}

static int exit_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : CLI_DEVICE;
}

static int serve_child(struct fabric_run *run)
{
	struct interrupt interrupt;
	pthread_t thread;
	int status = interrupt_start_beside(&interrupt,
					    "ended at once: the command may go "
					    "on, the socket stays");
	int err = 0;

	if (status == CLI_DONE)
		err = pthread_create(&thread, NULL, child_await, run);
	if (err)
		status = fail_device("cannot wait for the command: %s",
				     strerror(err));
	if (status != CLI_DONE) {
		kill(run->child, SIGTERM);
		return status;
	}
	status = server_run(run, &interrupt);
	if (status != CLI_DONE)
		kill(run->child, SIGTERM);
	pthread_join(thread, NULL);
	interrupt_stop(&interrupt);
	if (status == CLI_DONE && WIFSIGNALED(run->child_status))
		signal_complain(run, WTERMSIG(run->child_status));
	return status == CLI_DONE ? exit_status(run->child_status) : status;
}

/*
 * Start the command. Signals are blocked before that, because one may arrive
 * as soon as the command runs.
 */
static int start_child(struct fabric_run *run)
{
	sigset_t before;

	fflush(NULL);
	interrupt_hold(&before);
	run->child = fork();
	if (run->child == 0) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		command_exec(run);
	}
	if (run->child > 0)
		return CLI_DONE;
	return fail_device("cannot start the command: %s", strerror(errno));
}

int fabric_exec(struct cli *cli)
{
	struct fabric_run run;
	int status = begin(cli, &run);

	if (status == CLI_DONE)
		status = libraries_find(&run.libraries, fabric_own(cli)->verbs);
	if (status == CLI_DONE)
		status = socket_folder_make(&run);
	if (status == CLI_DONE)
		status = fabric_serve_processes(&run);
	if (status == CLI_DONE && fabric_own(cli)->sysfs)
		status = sys_mount_open(&run.sysfs, run.server);
	if (status == CLI_DONE)
		status = start_child(&run);
	if (status == CLI_DONE)
		status = serve_child(&run);
	unserve(&run);
	return status;
}
