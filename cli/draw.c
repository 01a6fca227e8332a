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

#include "draw.h"
#include "progress.h"

extern char **environ;

static int cannot(const char *what, const char *path, int err)
{
	complain("%s: cannot write '%s': %s", what, path, strerror(err));
	return CLI_DEVICE;
}

/*
 * Write the whole text to a file. Return: false if that fails; errno has the
 * reason.
 */
static bool put_file(int fd, const char *text, size_t len)
{
	while (len > 0) {
		const ssize_t put = write(fd, text, len);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		text += put;
		len -= (size_t)put;
	}
	return true;
}

static int write_dot(struct cli *cli, const char *text, size_t len)
{
	bool done;
	int fd;

	if (strcmp(cli->picture.dot, "-") == 0) {
		out_line(&cli->out, "%.*s", (int)len - 1, text);
		return CLI_DONE;
	}
	fd = open(cli->picture.dot, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
		  0666);
	if (fd < 0)
		return cannot("--dot", cli->picture.dot, errno);
	done = put_file(fd, text, len);
	if (close(fd) != 0 || !done)
		return cannot("--dot", cli->picture.dot, errno);
	return CLI_DONE;
}

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
					 "--dot at once");
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
	int pipe_fds[2];
	int ended;
	pid_t dot;
	int err;

	if (pipe2(pipe_fds, O_CLOEXEC) != 0) {
		complain("--svg: cannot create a pipe to dot: %s",
			 strerror(errno));
		return CLI_DEVICE;
	}
	err = start_dot(pipe_fds[0], to, &dot);
	close(pipe_fds[0]);
	if (!err && !put_file(pipe_fds[1], text, len))
		complain("--svg: cannot write to dot: %s", strerror(errno));
	close(pipe_fds[1]);
	if (err) {
		complain("--svg: cannot run dot: %s; install Graphviz, or "
			 "write its input with --dot",
			 strerror(err));
		return CLI_DEVICE;
	}
	ended = await_dot(dot);
	/* A closed pipe is not a failure. */
	if (ended == 0 || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGPIPE))
		return CLI_DONE;
	complain("--svg: dot failed; to see why, write its input with --dot, "
		 "and run dot on it");
	return CLI_DEVICE;
}

static int write_svg(struct cli *cli, const char *text, size_t len)
{
	const bool is_out = strcmp(cli->picture.svg, "-") == 0;
	void (*before)(int);
	int status;
	int fd;

	fd = is_out ? fileno(cli->out.file)
		    : open(cli->picture.svg,
			   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cannot("--svg", cli->picture.svg, errno);
	out_flush(&cli->out);
	/*
	 * SIGPIPE is ignored: if dot has ended, writing to it must fail with
	 * EPIPE and a message, not end this process.
	 */
	before = signal(SIGPIPE, SIG_IGN);
	status = run_dot(fd, text, len);
	signal(SIGPIPE, before);
	if (!is_out && close(fd) != 0 && status == CLI_DONE)
		status = cannot("--svg", cli->picture.svg, errno);
	return status;
}

bool draw_is_output(const struct cli *cli)
{
	return (cli->picture.dot && strcmp(cli->picture.dot, "-") == 0) ||
	       (cli->picture.svg && strcmp(cli->picture.svg, "-") == 0);
}

int draw_check(const struct cli *cli)
{
	const char *command = cli->args[0];

	if (cli->all && !cli->picture.dot && !cli->picture.svg) {
		complain("%s: --all needs --dot or --svg; it draws every "
			 "node",
			 command);
		return CLI_USAGE;
	}
	if (draw_is_output(cli) &&
	    (out_is_data(&cli->out) ||
	     (cli->picture.dot && cli->picture.svg &&
	      strcmp(cli->picture.dot, cli->picture.svg) == 0))) {
		complain("%s: only one of rows (--json, --ndjson, --csv, "
			 "--fields), --dot and --svg can write to standard "
			 "output; name a file for the drawing",
			 command);
		return CLI_USAGE;
	}
	return CLI_DONE;
}

int draw(struct cli *cli, const struct topology_view *view)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = open_memstream(&text, &len);
	int status = CLI_DONE;
	int err = memory ? topology_dot(memory, view, cli->all) : -ENOMEM;

	if (memory && fclose(memory) != 0)
		err = -ENOMEM;
	if (err) {
		complain("out of memory");
		status = CLI_DEVICE;
	}
	if (status == CLI_DONE && cli->picture.dot)
		status = write_dot(cli, text, len);
	if (status == CLI_DONE && cli->picture.svg)
		status = write_svg(cli, text, len);
	free(text);
	return status;
}
