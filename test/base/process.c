/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Search for processes that have a file open: a child of the test, and
 * processes in a /proc made by the test. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/process.h"

static char folder[32];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/ibsa-process.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* A path in the test's directory. */
struct at {
	char text[128];
};

static struct at at(const char *name)
{
	struct at at;

	snprintf(at.text, sizeof(at.text), "%s/%s", folder, name);
	return at;
}

/* Fork a child that has @path open until the test ends. */
static void child_hold(const char *path, int ready)
{
	if (prctl(PR_SET_NAME, "holds\x1b(it)") ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) || open(path, O_RDONLY) < 0 ||
	    write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t child_start(const char *path)
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child_hold(path, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* The child is found in /proc; this process, which has the file open, too, is
 * not. */
static void other_process_is_found(void **state)
{
	const struct at file = at("device");
	const int fd = open(file.text, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	struct process_text text, expected;
	struct processes found;
	pid_t child;

	(void)state;
	assert_true(fd >= 0);
	ibsa__processes_find(PROCESS_FOLDER, file.text, &found);
	assert_int_equal(found.count, 0);

	child = child_start(file.text);
	ibsa__processes_find(PROCESS_FOLDER, file.text, &found);
	ibsa__process_text(PROCESS_FOLDER, child, &text);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(fd);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.pids[0], child);
	snprintf(expected.text, sizeof(expected.text),
		 "pid %ld (holds\x1b(it))", (long)child);
	assert_string_equal(text.text, expected.text);

	ibsa__process_text(PROCESS_FOLDER, child, &text);
	snprintf(expected.text, sizeof(expected.text), "pid %ld", (long)child);
	assert_string_equal(text.text, expected.text);
}

/*
 * Create the files of a process in the test's /proc. The process has two file
 * descriptors: 0 is /dev/null, and 7 is @file.
 */
static void process_make(const char *pid, const char *file)
{
	const struct at process = at(pid);
	struct at inside = process;
	const size_t len = strlen(inside.text);

	assert_int_equal(mkdir(process.text, 0700), 0);
	strcpy(inside.text + len, "/fd");
	assert_int_equal(mkdir(inside.text, 0700), 0);
	strcpy(inside.text + len, "/fd/0");
	assert_int_equal(symlink("/dev/null", inside.text), 0);
	strcpy(inside.text + len, "/fd/7");
	assert_int_equal(symlink(file, inside.text), 0);
}

/* All processes are counted, although not all are stored; the whole path is
 * compared. */
static void all_processes_are_counted(void **state)
{
	const char *const file = "/dev/infiniband/umad1";
	struct processes found;

	(void)state;
	process_make("12", file);
	process_make("400", file);
	process_make("77", file);
	process_make("13", "/dev/infiniband/umad10");
	process_make("14", "/dev/infiniband/umad");
	process_make("self", file);
	process_make("99999999999999999999", file);
	ibsa__processes_find(folder, file, &found);
	assert_int_equal(found.count, 3);
	for (size_t i = 0; i < PROCESSES_MAX; i++)
		assert_true(found.pids[i] == 12 || found.pids[i] == 77 ||
			    found.pids[i] == 400);
	assert_int_not_equal(found.pids[0], found.pids[1]);
}

static void without_proc_none_is_found(void **state)
{
	struct processes found = { .count = 1 };

	(void)state;
	ibsa__processes_find(at("none").text, "/dev/null", &found);
	assert_int_equal(found.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_process_is_found, setup,
						teardown),
		cmocka_unit_test_setup_teardown(all_processes_are_counted,
						setup, teardown),
		cmocka_unit_test_setup_teardown(without_proc_none_is_found,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
