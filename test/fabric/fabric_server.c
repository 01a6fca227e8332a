/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric server: its socket, commands, and which clients it accepts. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/fabric.h>
#include <ibsa/records.h>
#include <ibsa/types.h>

#include "remote/protocol.h"
#include "wire/mad.h"
#include "../support/server_rig.h"

static struct ibsa_fabric *parse(const struct ibsa_fabric_options *options)
{
	struct ibsa_fabric *fabric = NULL;

	assert_int_equal(ibsa_fabric_parse(server_pair, strlen(server_pair),
					   options, NULL, &fabric),
			 0);
	return fabric;
}

/* Opening a server at @path fails; check the error and that it has a text. */
static void check_refused(struct ibsa_fabric *fabric, const char *path, int err)
{
	struct ibsa_fabric_server *server = (void *)fabric;
	struct ibsa_error error = { .text = "" };

	assert_int_equal(ibsa_fabric_server_open(fabric, path, NULL, &error,
						 &server),
			 err);
	assert_ptr_equal(server, fabric);
	assert_true(error.text[0]);
	assert_int_equal(ibsa_fabric_server_open(fabric, path, NULL, NULL,
						 &server),
			 err);
}

static void check_opens(struct ibsa_fabric *fabric, const char *path)
{
	struct ibsa_fabric_server *server;

	assert_int_equal(
		ibsa_fabric_server_open(fabric, path, NULL, NULL, &server), 0);
	ibsa_fabric_server_close(server);
}

static void only_the_owner_may_connect(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct stat info;

	(void)state;
	assert_int_equal(lstat(server_path(server), &info), 0);
	assert_true(S_ISSOCK(info.st_mode));
	assert_int_equal(info.st_mode & ALLPERMS, 0600);
	server_end(server);
	assert_int_equal(lstat(server_path(server), &info), -1);
	server_stop(server);
}

static void a_running_server_keeps_its_socket(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_fabric *fabric = parse(NULL);
	struct ibsa_client *client;

	(void)state;
	check_refused(fabric, server_path(server), -EADDRINUSE);
	client = server_client(server, "left");
	assert_int_equal(ibsa_close(client), 0);
	ibsa_fabric_put(fabric);
	server_stop(server);
}

/*
 * Another user's lock on the socket's directory, such as /tmp, does not delay
 * the server.
 */
static void a_lock_on_the_directory_delays_no_server(void **state)
{
	struct server_rig *server = server_start(server_pair);
	char folder[PATH_MAX];
	int fd;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", server_path(server));
	*strrchr(folder, '/') = '\0';
	server_end(server);
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	alarm(60); /* a failure would block forever */
	check_opens(server_fabric(server), server_path(server));
	alarm(0);
	close(fd);
	server_stop(server);
}

/* The server waits a limited time for the lock, and leaves no file. */
static void a_lock_of_another_server_is_waited_for(void **state)
{
	struct server_rig *server = server_start(server_pair);
	char name[PATH_MAX];
	int fd;

	(void)state;
	server_end(server);
	snprintf(name, sizeof(name), "%s.lock", server_path(server));
	fd = open(name, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	alarm(60);
	check_refused(server_fabric(server), server_path(server), -EBUSY);
	alarm(0);
	close(fd);
	check_opens(server_fabric(server), server_path(server));
	assert_int_equal(access(name, F_OK), -1);
	server_stop(server);
}

/*
 * A lock file that is a link or a directory, or that others own or can open, is
 * refused: others could hold the lock.
 */
static void a_lock_file_that_others_can_open_is_refused(void **state)
{
	struct server_rig *server = server_start(server_pair);
	char name[PATH_MAX];

	(void)state;
	server_end(server);
	snprintf(name, sizeof(name), "%s.lock", server_path(server));
	assert_int_equal(symlink("/dev/null", name), 0);
	check_refused(server_fabric(server), server_path(server), -EEXIST);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(mkdir(name, 0700), 0);
	check_refused(server_fabric(server), server_path(server), -EEXIST);
	assert_int_equal(rmdir(name), 0);
	close(open(name, O_RDWR | O_CREAT, 0600));
	assert_int_equal(chmod(name, 0604), 0);
	check_refused(server_fabric(server), server_path(server), -EEXIST);
	assert_int_equal(chmod(name, 0600), 0);
	if (!geteuid()) {
		assert_int_equal(chown(name, 1, 1), 0);
		check_refused(server_fabric(server), server_path(server),
			      -EEXIST);
	}
	assert_int_equal(unlink(name), 0);
	server_stop(server);
}

/*
 * A server that accepts no client, for example a stopped process with a full
 * backlog, keeps its socket.
 */
static void a_server_that_accepts_no_client_keeps_its_socket(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int stopped = socket(AF_UNIX, SOCK_STREAM, 0);
	int waiting;

	(void)state;
	server_end(server);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 server_path(server));
	assert_int_equal(
		bind(stopped, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(stopped, 0), 0);
	waiting = server_connect_unix(server, NULL);
	check_refused(server_fabric(server), server_path(server), -EADDRINUSE);
	close(waiting);
	close(stopped);
	assert_int_equal(unlink(server_path(server)), 0);
	server_stop(server);
}

/* A socket at which no process listens, as after kill -9, is replaced. */
static void a_dead_servers_socket_is_replaced(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	server_end(server);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 server_path(server));
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)),
			 0);
	close(fd);
	server_restart(server);
	assert_int_equal(ibsa_close(server_client(server, NULL)), 0);
	server_stop(server);
}

static void another_kind_of_file_stays(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct stat info;
	int fd;

	(void)state;
	server_end(server);
	fd = open(server_path(server), O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	close(fd);
	check_refused(server_fabric(server), server_path(server), -EEXIST);
	assert_int_equal(lstat(server_path(server), &info), 0);
	assert_int_equal(unlink(server_path(server)), 0);
	server_stop(server);
}

/* A server that ends does not remove the socket of another server. */
static void another_servers_socket_stays(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct ibsa_fabric *fabric = parse(NULL);
	struct ibsa_fabric_server *other = NULL;
	struct stat info;

	(void)state;
	assert_int_equal(unlink(server_path(server)), 0);
	assert_int_equal(ibsa_fabric_server_open(fabric, server_path(server),
						 NULL, NULL, &other),
			 0);
	server_end(server);
	assert_int_equal(lstat(server_path(server), &info), 0);
	ibsa_fabric_server_close(other);
	assert_int_equal(lstat(server_path(server), &info), -1);
	ibsa_fabric_put(fabric);
	server_stop(server);
}

/* A server that ends does not remove the FIFO of another server. */
static void another_servers_fifo_stays(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const struct {
		struct remote_head head;
		uint32_t issm;
	} request = {
		.head = { .length = sizeof(request.issm), .type = REMOTE_ISSM },
	};
	struct remote_head head;
	char folder[128], path[256] = "";
	int fd = server_connect_unix(server, "left");

	(void)state;
	assert_int_equal(send(fd, &request, sizeof(request), MSG_NOSIGNAL),
			 sizeof(request));
	assert_int_equal(recv(fd, &head, sizeof(head), MSG_WAITALL),
			 sizeof(head));
	assert_true(head.length < sizeof(path));
	assert_int_equal(recv(fd, path, head.length, MSG_WAITALL), head.length);
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	server_end(server);
	assert_int_equal(unlink(path), 0);
	snprintf(folder, sizeof(folder), "%s.issm", server_path(server));
	assert_int_equal(rmdir(folder), 0);
	server_stop(server);
}

static void wrong_socket_paths_are_refused(void **state)
{
	const struct ibsa_fabric_options options = { .virtual_clock = true };
	struct ibsa_fabric *fabric = parse(NULL);
	struct ibsa_fabric *still = parse(&options);
	char longest[200];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	check_refused(fabric, NULL, -EINVAL);
	check_refused(fabric, "", -EINVAL);
	check_refused(fabric, longest, -ENAMETOOLONG);
	check_refused(fabric, "/nowhere/at/all", -ENOENT);
	check_refused(fabric, "/dev/null/at/all", -ENOTDIR);
	check_refused(fabric, "/proc/ibsa", -EOPNOTSUPP);
	check_refused(still, "/tmp/ibsa-never", -EINVAL);
	ibsa_fabric_put(fabric);
	ibsa_fabric_put(still);
	ibsa_fabric_server_close(NULL);
}

static int command(struct server_rig *server, const char *line, char *out,
		   size_t room)
{
	struct ibsa_error error = { .text = "" };
	int err = ibsa_server_command(server_address(server), line, out, room,
				      &error);

	assert_true(!err || error.text[0]);
	return err;
}

static struct ibsa_port_state state_of(struct server_rig *server, size_t index)
{
	struct ibsa_fabric_port port;

	assert_int_equal(
		ibsa_fabric_port_at(server_fabric(server), index, &port), 0);
	return port.state;
}

static void commands_change_the_fabric(void **state)
{
	struct server_rig *server = server_start(server_pair);
	char out[4096];

	(void)state;
	assert_int_equal(command(server, "link down right/1", NULL, 0), 0);
	assert_int_equal(state_of(server, 1).port_state, 1);
	assert_int_equal(command(server, "link up right/1", NULL, 0), 0);
	assert_int_equal(state_of(server, 1).port_state, 4);
	assert_int_equal(command(server, "node remove left", NULL, 0), 0);
	assert_int_equal(state_of(server, 0).port_state, 1);
	assert_int_equal(command(server, "node add left", NULL, 0), 0);
	assert_int_equal(command(server, "sm move right", NULL, 0), 0);
	assert_int_equal(state_of(server, 0).sm_lid, 2);
	assert_int_equal(command(server, "sm stop", NULL, 0), 0);
	assert_int_equal(state_of(server, 0).sm_lid, 0);
	assert_int_equal(command(server, "sm start", NULL, 0), 0);
	assert_int_equal(command(server, "fault lose=10,3", NULL, 0), 0);
	assert_int_equal(command(server, "fault delay=1.5%,0,20", NULL, 0), 0);
	assert_int_equal(command(server, "fault none", NULL, 0), 0);
	assert_int_equal(command(server, "stats", out, sizeof(out)), 0);
	assert_non_null(strstr(out, "\nrequests 0\n"));
	assert_int_equal(command(server, "stats", out, 10), 0);
	assert_int_equal(strlen(out), 9);
	server_stop(server);
}

static void wrong_commands_are_refused(void **state)
{
	static const struct {
		const char *line;
		int err;
	} wrong[] = {
		{ "", -EINVAL },
		{ "links", -EINVAL },
		{ "link", -EINVAL },
		{ "link sideways left/1", -EINVAL },
		{ "link down left", -EINVAL },
		{ "link down left/", -EINVAL },
		{ "link down left/1x", -EINVAL },
		{ "link down left/999", -EINVAL },
		{ "link down left/0", -EINVAL },
		{ "link down node9/1", -ENODEV },
		{ "link down left/2", -ENXIO },
		{ "node add", -EINVAL },
		{ "node add node9", -ENODEV },
		{ "sm", -EINVAL },
		{ "sm move", -EINVAL },
		{ "sm move node9", -ENODEV },
		{ "sm stop now", -EINVAL },
		{ "fault", -EINVAL },
		{ "fault lose", -EINVAL },
		{ "fault lose=", -EINVAL },
		{ "fault lose=101", -EINVAL },
		{ "fault lose=1,", -EINVAL },
		{ "fault lose=1,2,3,4", -EINVAL },
		{ "fault woes=1", -EINVAL },
		{ "stats all", -EINVAL },
	};
	struct server_rig *server = server_start(server_pair);
	char longest[600];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(command(server, wrong[i].line, NULL, 0),
				 wrong[i].err);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(command(server, longest, NULL, 0), -ENAMETOOLONG);
	server_stop(server);
}

/* Whether the server has something to do: a program's loop polls its fd. */
static bool is_ready(const struct ibsa_fabric_server *server)
{
	struct pollfd fd = { .fd = ibsa_fabric_server_fd(server),
			     .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

/* The program that runs the server changes the fabric between two waits. */
static void a_command_of_the_program_makes_the_fd_readable(void **state)
{
	struct server_rig *rig = server_start(server_pair);
	struct ibsa_fabric_server *server = server_pause(rig);

	(void)state;
	while (is_ready(server))
		assert_int_equal(ibsa_fabric_server_wait(server, 0), 0);
	assert_int_equal(ibsa_fabric_server_command(server, "link down left/1",
						    NULL, 0, NULL),
			 0);
	assert_true(is_ready(server));
	assert_int_equal(ibsa_fabric_server_wait(server, 0), 0);
	assert_false(is_ready(server));
	server_resume(rig);
	server_stop(rig);
}

static void a_command_needs_a_server(void **state)
{
	struct ibsa_error error = { .text = "" };

	(void)state;
	assert_int_equal(ibsa_server_command("a.net", "stats", NULL, 0, &error),
			 -EINVAL);
	assert_int_equal(ibsa_server_command(NULL, "stats", NULL, 0, NULL),
			 -EINVAL);
	assert_int_equal(ibsa_server_command("unix:/nowhere", "stats", NULL, 0,
					     &error),
			 -ENODEV);
	assert_non_null(strstr(error.text, "ibsa fabric run"));
}

/* One switch with many hosts: the table of all paths takes many turns. */
static struct server_rig *many_hosts_start(void)
{
	enum { HOSTS = 250 };
	struct server_rig *rig;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "Switch %d \"S\"\n", HOSTS);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(out, "[%d] \"H%d\"[1]\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(out, "Ca 1 \"H%d\"\n", i);
	assert_int_equal(fclose(out), 0);
	rig = server_start(text);
	free(text);
	return rig;
}

/* Store the method of the SA's first answer; a MAD follows LRH, BTH and DETH. */
static void answer_note(const struct ibsa_packet *packet, void *arg)
{
	const uint8_t *mad = packet->bytes + 28;
	uint8_t *first = arg;

	if (!*first && mad[MAD_CLASS] == IBSA_CLASS_SA &&
	    mad[MAD_METHOD] & METHOD_RESPONSE)
		*first = mad[MAD_METHOD];
}

static void reply_count(const struct ibsa_reply *reply, void *arg)
{
	unsigned int *count = arg;

	assert_int_equal(reply->err, 0);
	++*count;
}

static void query_start(struct ibsa_client *client,
			const struct ibsa_record *record, uint8_t method,
			unsigned int *count)
{
	const struct ibsa_query query = {
		.record = record,
		.method = method,
		.deadline_ms = 60000,
		.first_interval_ms = 60000,
	};

	assert_int_equal(
		ibsa_query_start(client, &query, reply_count, count, NULL), 0);
}

/*
 * While a table is built for a client, others get their answers: also after
 * another server of the same fabric was closed.
 */
static void a_table_delays_no_other_client(void **state)
{
	struct server_rig *rig = many_hosts_start();
	struct ibsa_client *slow = server_client(rig, "H2");
	struct ibsa_client *quick = server_client(rig, "H3");
	struct ibsa_fabric_server *server = server_pause(rig);
	unsigned int replies = 0;
	uint8_t first = 0;
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s.2", server_path(rig));
	check_opens(server_fabric(rig), path);
	assert_int_equal(
		ibsa_fabric_tap(server_fabric(rig), answer_note, &first), 0);
	query_start(slow, &ibsa_path_record, IBSA_METHOD_GET_TABLE, &replies);
	query_start(quick, &ibsa_class_port_info_record, IBSA_METHOD_GET,
		    &replies);
	while (replies < 2) {
		assert_int_equal(ibsa_fabric_server_wait(server, 10), 0);
		assert_int_equal(ibsa_wait(quick, 0), 0);
		assert_int_equal(ibsa_wait(slow, 0), 0);
	}
	assert_int_equal(first, IBSA_METHOD_GET_RESP);
	assert_int_equal(ibsa_fabric_tap(server_fabric(rig), NULL, NULL), 0);
	server_resume(rig);
	assert_int_equal(ibsa_close(quick), 0);
	assert_int_equal(ibsa_close(slow), 0);
	server_stop(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_owner_may_connect),
		cmocka_unit_test(a_running_server_keeps_its_socket),
		cmocka_unit_test(
			a_server_that_accepts_no_client_keeps_its_socket),
		cmocka_unit_test(a_dead_servers_socket_is_replaced),
		cmocka_unit_test(a_lock_on_the_directory_delays_no_server),
		cmocka_unit_test(a_lock_of_another_server_is_waited_for),
		cmocka_unit_test(a_lock_file_that_others_can_open_is_refused),
		cmocka_unit_test(another_kind_of_file_stays),
		cmocka_unit_test(another_servers_socket_stays),
		cmocka_unit_test(another_servers_fifo_stays),
		cmocka_unit_test(wrong_socket_paths_are_refused),
		cmocka_unit_test(commands_change_the_fabric),
		cmocka_unit_test(wrong_commands_are_refused),
		cmocka_unit_test(
			a_command_of_the_program_makes_the_fd_readable),
		cmocka_unit_test(a_command_needs_a_server),
		cmocka_unit_test(a_table_delays_no_other_client),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
