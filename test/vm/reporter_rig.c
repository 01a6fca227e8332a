/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program "reporter" as the SA at rxe1, connected by two pipes. */
#include "reporter_rig.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEST_S = 60 };

static const char *path;

bool reporter_is_named(int argc, char **argv)
{
	path = argv[1];
	return argc == 2;
}

static _Noreturn void run(const int in[2], const int out[2])
{
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	close(in[1]);
	close(out[0]);
	execl(path, path, "rxe1", (char *)NULL);
	_exit(127);
}

void reporter_start(struct reporter *reporter)
{
	int in[2];
	int out[2];

	alarm(TEST_S);
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	reporter->pid = fork();
	assert_true(reporter->pid >= 0);
	if (!reporter->pid)
		run(in, out);
	close(in[0]);
	close(out[1]);
	reporter->to = fdopen(in[1], "w");
	reporter->from = fdopen(out[0], "r");
	assert_non_null(reporter->to);
	assert_non_null(reporter->from);
	reporter_await(reporter, "ready");
}

void reporter_stop(struct reporter *reporter)
{
	int status;

	fclose(reporter->to);
	assert_int_equal(waitpid(reporter->pid, &status, 0), reporter->pid);
	assert_int_equal(status, 0);
	fclose(reporter->from);
}

void reporter_write(struct reporter *reporter, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	assert_true(vfprintf(reporter->to, format, args) > 0);
	va_end(args);
	assert_int_equal(fflush(reporter->to), 0);
}

void reporter_report(struct reporter *reporter, unsigned int trap,
		     const char *gid)
{
	reporter_write(reporter, "%u %s\n", trap, gid);
}

/* A line is written at once, so it is never there in part. */
void reporter_line(struct reporter *reporter, char line[REPORTER_LINE])
{
	if (!fgets(line, REPORTER_LINE, reporter->from))
		fail_msg("the reporter has ended");
	line[strcspn(line, "\n")] = '\0';
}

void reporter_await(struct reporter *reporter, const char *what)
{
	char line[REPORTER_LINE];

	do
		reporter_line(reporter, line);
	while (strcmp(line, what) != 0);
}

void vm_shell(const char *command)
{
	assert_int_equal(system(command), 0);
}
