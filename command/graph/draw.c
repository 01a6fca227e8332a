/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes drawings of a fabric. The program dot of Graphviz runs as a separate
 * process: its layout may take long, and it parses names that come from
 * outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph/draw.h"
#include "base/file_write.h"
#include "base/progress.h"

extern char **environ;

/*
 * Start the program dot, which reads from @from and writes to @to. Return: 0
 * or errno.
 */
static int start_dot(int from, int to, pid_t *out)
{
	char *const args[] = { (char[]){ "dot" }, (char[]){ "-Tsvg" }, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawnattr_init(&attributes);
	if (err) {
		posix_spawn_file_actions_destroy(&actions);
		return err;
	}
	/*
	 * dot gets the default action of SIGPIPE: if the reader of its output
	 * has closed the pipe, dot ends without a message of its own.
	 */
	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	err = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, to,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawnp(out, args[0], &actions, &attributes, args,
				   environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

/*
 * Wait until the program dot ends; on a terminal, print progress, because a
 * layout may take minutes. Return: its wait status.
 */
static int await_dot(pid_t dot)
{
	struct pollfd fd = { .fd = pidfd_open(dot, 0), .events = POLLIN };
	struct progress progress;
	int ended = 0;

	progress_start(&progress);
	while (fd.fd >= 0 && poll(&fd, 1, progress_pause_ms(&progress)) == 0)
		progress_text(&progress, "dot is drawing; its input comes with "
					 "--format dot at once");
	progress_end();
	if (fd.fd >= 0)
		close(fd.fd);
	while (waitpid(dot, &ended, 0) < 0 && errno == EINTR)
		;
	return ended;
}

/*
 * Write @text to the program dot and wait for its end. Return: the exit
 * status.
 */
static int run_dot(int to, const char *text, size_t len)
{
	void (*before)(int);
	int pipe_fds[2];
	int ended;
	pid_t dot;
	int err, put;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0)
		return fail_device("--format svg: cannot create a pipe to dot: "
				   "%s",
				   strerror(errno));
	err = start_dot(pipe_fds[0], to, &dot);
	close(pipe_fds[0]);
	/*
	 * SIGPIPE is ignored: if dot has ended, writing to it must fail with
	 * EPIPE and a message, not end this process.
	 */
	before = signal(SIGPIPE, SIG_IGN);
	put = err ? 0 : text_write(pipe_fds[1], text, len);
	signal(SIGPIPE, before);
	if (put)
		complain("--format svg: cannot write to dot: %s",
			 strerror(-put));
	close(pipe_fds[1]);
	if (err)
		return fail_device("--format svg: cannot run dot: %s; install "
				   "Graphviz, or write its input with --format "
				   "dot",
				   strerror(err));
	ended = await_dot(dot);
	/* A closed pipe is not a failure. */
	if (ended == 0 || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGPIPE))
		return CLI_DONE;
	return fail_device(
		"--format svg: dot failed; to see why, write its input with "
		"--format dot, and run dot on it");
}

int draw_check(const struct cli *cli, bool all)
{
	if (!all || draw_is_output(cli))
		return CLI_DONE;
	return fail_usage("%s: --all needs --format dot or --format svg; it "
			  "draws every node",
			  cli->args[0]);
}

int draw(struct cli *cli, bool each, const struct topology_view *view)
{
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		memory.has_failed |= topology_dot(memory.file, view, each) != 0;
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE && cli->out.shape == OUT_DOT)
		out_line(&cli->out, "%.*s", (int)memory.len - 1, memory.text);
	else if (status == CLI_DONE)
		status = run_dot(fileno(cli->out.file), memory.text,
				 memory.len);
	free(memory.text);
	return status;
}
