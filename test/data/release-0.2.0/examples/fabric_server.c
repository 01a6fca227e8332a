/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a program on an embedded fabric, with and without one of the cables: a
 * small test of how the program behaves when the cable is cut.
 *
 *	cc fabric_server.c $(pkg-config --cflags --libs ibsa) -o fabric_server
 *	./fabric_server two-hosts.net node2/1 ibsa path self node2
 *
 * The program uses libibsa; or it uses libibumad, and LD_LIBRARY_PATH contains
 * the directory ibsa-umad of ibsa's libraries.
 */
#include <ibsa/server.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int error_print(const char *what, int err,
		       const struct ibsa_error *error)
{
	fprintf(stderr, "%s: %s\n", what,
		error && error->text[0] ? error->text : strerror(-err));
	return err;
}

/* Serve the fabric, which is a device to the program, until the program ends. */
static int server_run(struct ibsa_fabric_server *server, int program)
{
	struct pollfd fds[] = {
		{ .fd = program, .events = POLLIN },
		{ .fd = ibsa_fabric_server_fd(server), .events = POLLIN },
	};
	int err = 0;

	while (err == 0 && !fds[0].revents) {
		if (poll(fds, 2, -1) < 0)
			return -errno;
		if (fds[1].revents)
			err = ibsa_fabric_server_wait(server, 0);
	}
	return err;
}

static int program_run(struct ibsa_fabric_server *server, const char *what,
		       char **argv)
{
	int status = 0;
	pid_t child;
	int program;
	int err;

	child = fork();
	if (child == 0) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	program = child < 0 ? -1 : pidfd_open(child, 0);
	if (program < 0)
		return error_print(argv[0], -errno, NULL);
	err = server_run(server, program);
	close(program);
	if (err)
		return error_print("server", err, NULL);
	waitpid(child, &status, 0);
	printf("%s: exit status %d\n", what,
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}

static int program_run_twice(struct ibsa_fabric_server *server,
			     const char *port, char **argv)
{
	struct ibsa_error error = { .text = "" };
	char line[256];
	int err = program_run(server, "with the cable", argv);

	if (err)
		return err;
	snprintf(line, sizeof(line), "link down %s", port);
	err = ibsa_fabric_server_command(server, line, NULL, 0, &error);
	if (err)
		return error_print(line, err, &error);
	return program_run(server, "without", argv);
}

/* The socket is in a directory that only this user can access. */
static int server_open(struct ibsa_fabric *fabric, char *folder,
		       struct ibsa_fabric_server **out)
{
	struct ibsa_error error = { .text = "" };
	char name[128];
	int err;

	if (!mkdtemp(folder))
		return error_print(folder, -errno, NULL);
	snprintf(name, sizeof(name), "unix:%s/fabric", folder);
	if (setenv("IBSA_FABRIC", name, 1) != 0)
		return error_print("IBSA_FABRIC", -errno, NULL);
	err = ibsa_fabric_server_open(fabric, name + strlen("unix:"), NULL,
				      &error, out);
	return err ? error_print("server", err, &error) : 0;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/fabric-XXXXXX";
	struct ibsa_error error = { .text = "" };
	struct ibsa_fabric_server *server = NULL;
	struct ibsa_fabric *fabric;
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: %s FILE NODE/PORT PROGRAM [ARG...]\n",
			argv[0]);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = ibsa_fabric_load(argv[1], NULL, &error, &fabric);
	if (err) {
		error_print("fabric", err, &error);
		return 1;
	}
	err = server_open(fabric, folder, &server);
	if (!err)
		err = program_run_twice(server, argv[2], argv + 3);
	ibsa_fabric_server_close(server);
	ibsa_fabric_put(fabric);
	rmdir(folder);
	return err ? 1 : 0;
}
