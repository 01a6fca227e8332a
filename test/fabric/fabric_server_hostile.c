/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Clients of a fabric server that exit, stall, or send invalid data. Each test
 * ends with another client that is served as usual.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "remote/file.h"
#include "../support/server_rig.h"
#include "wire/mad.h"

enum { NODE_RECORD = 0x0011 };

static void check_server_works(struct server_rig *server)
{
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct ibsa_client *client = server_client(server, "right");

	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* The server closes the connection. */
static void check_ended(int fd)
{
	char byte;

	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
}

static void frame_send(int fd, uint32_t type, const void *body, uint32_t length)
{
	const struct remote_head head = { .length = length, .type = type };

	assert_int_equal(send(fd, &head, sizeof(head), MSG_NOSIGNAL),
			 sizeof(head));
	if (length)
		assert_int_equal(send(fd, body, length, MSG_NOSIGNAL), length);
}

static int32_t answer_receive(int fd)
{
	struct remote_head head;
	char body[REMOTE_BODY_MAX];

	assert_int_equal(recv(fd, &head, sizeof(head), MSG_WAITALL),
			 sizeof(head));
	assert_true(head.length <= sizeof(body));
	if (head.length)
		assert_int_equal(recv(fd, body, head.length, MSG_WAITALL),
				 head.length);
	return head.err;
}

static void invalid_frame_ends_only_its_own_connection(void **state)
{
	static const struct remote_head wrong[] = {
		{ .type = REMOTE_TYPES },
		{ .type = REMOTE_EVENT },
		{ .type = REMOTE_FILE, .length = REMOTE_BODY_MAX + 1 },
		{ .type = UINT32_MAX, .length = UINT32_MAX },
		{ .type = REMOTE_WATCH, .err = -EIO },
	};
	struct server_rig *server = server_start(server_pair);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const int fd = server_connect(server, "left");

		send(fd, &wrong[i], sizeof(wrong[i]), MSG_NOSIGNAL);
		check_ended(fd);
		assert_true(server_has_noted(server, "invalid frame"));
	}
	check_server_works(server);
	server_stop(server);
}

static void client_without_a_hello_is_disconnected(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_hello hello = { .version = REMOTE_VERSION_FIRST - 1 };
	int fd = server_connect(server, NULL);

	(void)state;
	frame_send(fd, REMOTE_WATCH, NULL, 0);
	assert_int_equal(answer_receive(fd), -EPROTO);
	check_ended(fd);
	fd = server_connect(server, NULL);
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), -EPROTO);
	check_ended(fd);
	hello.version = REMOTE_VERSION;
	memset(hello.node, 'x', sizeof(hello.node));
	fd = server_connect(server, NULL);
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), -EPROTO);
	check_ended(fd);
	fd = server_connect(server, "left");
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), -EPROTO);
	check_ended(fd);
	check_server_works(server);
	server_stop(server);
}

/*
 * A client that names an unknown node or port may be a valid one: it receives
 * an error, and may try another node.
 */
static void an_unknown_node_is_refused(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_hello hello = { .version = REMOTE_VERSION,
				      .node = "nobody" };
	const int fd = server_connect(server, NULL);

	(void)state;
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), -ENODEV);
	strcpy(hello.node, "right");
	hello.port = 7;
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), -ENXIO);
	hello.port = 1;
	frame_send(fd, REMOTE_HELLO, &hello, sizeof(hello));
	assert_int_equal(answer_receive(fd), 0);
	close(fd);
	server_stop(server);
}

static void requests_of_a_wrong_size_are_refused(void **state)
{
	static const uint32_t types[] = { REMOTE_REGISTER, REMOTE_UNREGISTER,
					  REMOTE_ISSM,	   REMOTE_ATTACH,
					  REMOTE_DETACH,   REMOTE_WATCH };
	struct server_rig *server = server_start(server_pair);

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const int fd = server_connect(server, "left");

		frame_send(fd, types[i], "123", 3);
		assert_int_equal(answer_receive(fd), -EPROTO);
		check_ended(fd);
	}
	check_server_works(server);
	server_stop(server);
}

/* The server does not wait for the rest of the frame. */
static void incomplete_frame_delays_no_other_client(void **state)
{
	const struct remote_head head = { .length = 100, .type = REMOTE_FILE };
	struct server_rig *server = server_start(server_pair);
	const int one = server_connect(server, "left");
	const int other = server_connect(server, NULL);

	(void)state;
	assert_int_equal(send(one, &head, sizeof(head), MSG_NOSIGNAL),
			 sizeof(head));
	assert_int_equal(send(one, "class", 5, MSG_NOSIGNAL), 5);
	assert_int_equal(send(other, &head, 1, MSG_NOSIGNAL), 1);
	check_server_works(server);
	close(one);
	close(other);
	check_server_works(server);
	server_stop(server);
}

/*
 * A client that sends requests but does not read the answers is disconnected
 * and delays no other client.
 */
static void client_that_does_not_read_answers_is_disconnected(void **state)
{
	static const char path[] = "class/infiniband/ibsa0/ports/1/gids";
	struct server_rig *server = server_start(server_pair);
	const int fd = server_connect(server, "left");
	const struct remote_head head = { .length = strlen(path),
					  .type = REMOTE_FOLDER };

	(void)state;
	while (send(fd, &head, sizeof(head), MSG_NOSIGNAL) > 0 &&
	       send(fd, path, strlen(path), MSG_NOSIGNAL) > 0)
		;
	assert_true(server_has_noted(server, "does not read its answers"));
	close(fd);
	check_server_works(server);
	server_stop(server);
}

/*
 * Descriptors that a client has not received count against a limit of the
 * server's user, and other clients could receive none.
 */
static void unread_descriptors_are_limited(void **state)
{
	static const struct remote_head heads[] = {
		{ .type = REMOTE_ATTACH },
		{ .type = REMOTE_DETACH },
		{ .type = REMOTE_ATTACH },
	};
	struct server_rig *server = server_start(server_pair);
	const int fd = server_connect(server, "left");
	struct ibsa_fabric_server *paused = server_pause(server);

	(void)state;
	assert_int_equal(send(fd, heads, sizeof(heads), MSG_NOSIGNAL),
			 sizeof(heads));
	assert_int_equal(ibsa_fabric_server_wait(paused, 0), 0);
	server_resume(server);
	assert_int_equal(answer_receive(fd), 0);
	assert_int_equal(answer_receive(fd), 0);
	assert_int_equal(answer_receive(fd), -EBUSY);
	frame_send(fd, REMOTE_ATTACH, NULL, 0);
	assert_int_equal(answer_receive(fd), 0);
	close(fd);
	check_server_works(server);
	server_stop(server);
}

/*
 * A client that is killed with requests in flight was not disconnected by the
 * server.
 */
static void client_that_ends_early_is_not_counted_as_disconnected(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const int fd = server_connect(server, "left");
	char stats[8192];
	char byte;

	(void)state;
	assert_int_equal(shutdown(fd, SHUT_RD), 0);
	frame_send(fd, REMOTE_WATCH, NULL, 0);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	check_server_works(server);
	assert_int_equal(ibsa_server_command(server_address(server), "stats",
					     stats, sizeof(stats), NULL),
			 0);
	assert_non_null(strstr(stats, "disconnected 0\n"));
	server_stop(server);
}

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

/* Return: a GetTable request to the SA for all records of a kind. */
static struct packet table_request(uint32_t id, uint16_t attribute)
{
	struct packet packet = {
		.header = { .id = id, .timeout_ms = 1000 },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	packet.mad[MAD_BASE_VERSION] = 1;
	packet.mad[MAD_CLASS] = IBSA_CLASS_SA;
	packet.mad[MAD_CLASS_VERSION] = IBSA_CLASS_VERSION;
	packet.mad[MAD_METHOD] = IBSA_METHOD_GET_TABLE;
	packet.mad[MAD_TID + 7] = 1;
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	return packet;
}

static void wait_for_packet(const struct remote_file *file)
{
	struct pollfd fd = { .fd = file->shared->data.fd, .events = POLLIN };

	assert_int_equal(poll(&fd, 1, 10000), 1);
}

static void invalid_packet_closes_the_file(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;
	struct umad_header header = { .length = 5 };
	uint8_t bytes[1024];

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	server_send_bytes(&file, &header, sizeof(header));
	assert_true(server_has_noted(server, "invalid packet"));
	wait_for_packet(&file);
	assert_int_equal(ibsa__remote_file_read(&file, bytes, sizeof(bytes)),
			 -EIO);
	ibsa__remote_file_close(&file);
	check_server_works(server);
	server_stop(server);
}

/* The header has a length that never arrives in full. */
static void incomplete_packet_delays_no_other_client(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct umad_header header = { .length = REMOTE_PACKET_MAX };
	struct remote_file file;
	char bytes[100000] = { 0 };

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	server_send_bytes(&file, &header, sizeof(header));
	server_send_bytes(&file, bytes, sizeof(bytes));
	check_server_works(server);
	ibsa__remote_file_close(&file);
	check_server_works(server);
	server_stop(server);
}

/*
 * If no agent is registered, the kernel's write() fails; here, the client reads
 * the header of its MAD back, with the status EIO.
 */
static void a_packet_of_no_agent_comes_back(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct packet packet = table_request(31, NODE_RECORD);
	struct packet back;
	struct remote_file file;

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	assert_int_equal(
		ibsa__remote_file_write(&file, &packet, sizeof(packet)), 0);
	wait_for_packet(&file);
	assert_int_equal(ibsa__remote_file_read(&file, &back, sizeof(back)),
			 UMAD_HEADER_BYTES + 24);
	assert_int_equal(back.header.status, EIO);
	assert_memory_equal(back.mad, packet.mad, 24);
	assert_int_equal(ibsa__remote_file_write(&file, &packet, 99), -EINVAL);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

static void a_small_buffer_gets_the_first_segment(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;
	struct packet packet;
	struct packet first;
	uint8_t whole[4096];

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	packet = table_request(server_agent_register(&file), NODE_RECORD);
	assert_int_equal(ibsa__remote_file_read(&file, whole, sizeof(whole)),
			 -EAGAIN);
	assert_int_equal(
		ibsa__remote_file_write(&file, &packet, sizeof(packet)), 0);
	wait_for_packet(&file);
	assert_int_equal(ibsa__remote_file_read(&file, &first, 100), -EINVAL);
	assert_int_equal(ibsa__remote_file_read(&file, &first, sizeof(first)),
			 -ENOSPC);
	assert_int_equal(first.header.length, UMAD_HEADER_BYTES + 56 + 3 * 112);
	assert_int_equal(ibsa__remote_file_read(&file, whole, sizeof(whole)),
			 first.header.length);
	assert_memory_equal(whole, &first, sizeof(first));
	assert_int_equal(ibsa__remote_file_read(&file, whole, sizeof(whole)),
			 -EAGAIN);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/*
 * The queue of a client that does not read fills up, and delays no other
 * client.
 */
static void client_that_does_not_read_packets_delays_no_other(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;
	struct packet packet;

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	packet = table_request(server_agent_register(&file), NODE_RECORD);
	for (uint32_t i = 0; i < 5000; i++) {
		ibsa_put_be32(packet.mad + MAD_TID_LOW, i + 1);
		assert_int_equal(ibsa__remote_file_write(&file, &packet,
							 sizeof(packet)),
				 0);
	}
	check_server_works(server);
	ibsa__remote_file_close(&file);
	check_server_works(server);
	server_stop(server);
}

static void one_connection_has_one_file(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const struct umad_agent_request2 request = { .qpn = 1 };
	const uint32_t id = 0;
	const int fd = server_connect(server, "left");
	struct remote_file file;

	(void)state;
	frame_send(fd, REMOTE_REGISTER, &request, sizeof(request));
	assert_int_equal(answer_receive(fd), -EBADF);
	frame_send(fd, REMOTE_UNREGISTER, &id, sizeof(id));
	assert_int_equal(answer_receive(fd), -EBADF);
	close(fd);
	assert_int_equal(server_file_open(server, "left", &file), 0);
	assert_int_equal(fcntl(file.connection.fd, F_SETFL, 0), 0);
	frame_send(file.connection.fd, REMOTE_ATTACH, NULL, 0);
	assert_int_equal(answer_receive(file.connection.fd), -EBUSY);
	assert_int_equal(file.base.ops->unregister_agent(&file.base, id),
			 -EINVAL);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/* The refused packet comes after the packet in transit, not inside it. */
static void a_refused_packet_follows_a_large_packet(void **state)
{
	enum { LARGE = 1 << 20 };
	const struct umad_agent_request2 takes_tables = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.method_mask = { 1 << IBSA_METHOD_GET_TABLE },
		.rmpp_version = 1,
	};
	struct umad_agent_request2 request = takes_tables;
	struct server_rig *server = server_start(server_pair);
	uint8_t *bytes = calloc(1, LARGE);
	struct remote_file left, right;
	struct packet packet;

	(void)state;
	assert_non_null(bytes);
	assert_int_equal(server_file_open(server, "left", &left), 0);
	assert_int_equal(server_file_open(server, "right", &right), 0);
	assert_int_equal(right.base.ops->register_agent2(&right.base, &request),
			 0);
	packet = table_request(server_agent_register(&left), NODE_RECORD);
	ibsa_put_be16((uint8_t *)&packet.header.lid, 2);
	assert_int_equal(
		ibsa__remote_file_write(&left, &packet, sizeof(packet)), 0);
	wait_for_packet(&right);
	assert_int_equal(ibsa__remote_file_read(&right, bytes, sizeof(packet)),
			 sizeof(packet));
	bytes[UMAD_HEADER_BYTES + 3] = IBSA_METHOD_GET_TABLE_RESP;
	bytes[UMAD_HEADER_BYTES + 24] = 1;
	bytes[UMAD_HEADER_BYTES + 26] = IBSA_RMPP_ACTIVE;
	assert_int_equal(ibsa__remote_file_write(&right, bytes, LARGE), 0);
	wait_for_packet(&left);
	packet.header.id = 31;
	assert_int_equal(
		ibsa__remote_file_write(&left, &packet, sizeof(packet)), 0);
	check_server_works(server);
	assert_int_equal(ibsa__remote_file_read(&left, bytes, LARGE), LARGE);
	wait_for_packet(&left);
	assert_int_equal(ibsa__remote_file_read(&left, bytes, LARGE),
			 UMAD_HEADER_BYTES + 24);
	memcpy(&packet.header, bytes, sizeof(packet.header));
	assert_int_equal(packet.header.status, EIO);
	ibsa__remote_file_close(&left);
	ibsa__remote_file_close(&right);
	server_stop(server);
	free(bytes);
}

/*
 * The server accepts connections again when there are descriptors, even if no
 * client of the server has freed them.
 */
static void server_accepts_again_when_descriptors_are_free(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = 10 };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct rlimit all, none;
	const int next = dup(fd);

	(void)state;
	close(next);
	strcpy(address.sun_path, server_path(server));
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit,
				    sizeof(limit)),
			 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = all;
	none.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(
		connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_true(server_has_noted(server, "out of file descriptors"));
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	frame_send(fd, REMOTE_WATCH, NULL, 0);
	assert_int_equal(answer_receive(fd), -EPROTO);
	close(fd);
	check_server_works(server);
	server_stop(server);
}

/* A directory that others may write to is not used for FIFOs. */
static void a_directory_of_others_is_not_used_for_fifos(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const uint32_t issm = 0;
	char path[128];
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s.issm", server_path(server));
	assert_int_equal(symlink("/tmp", path), 0);
	fd = server_connect(server, "left");
	frame_send(fd, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(fd), -EEXIST);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0770), 0);
	frame_send(fd, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(fd), -EEXIST);
	assert_int_equal(chmod(path, 0700), 0);
	frame_send(fd, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(fd), 0);
	close(fd);
	server_stop(server);
}

/* Return: the number of files in the directory of FIFOs. */
static unsigned int fifo_count(const struct server_rig *server)
{
	char path[128];
	unsigned int count = 0;
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "%s.issm", server_path(server));
	folder = opendir(path);
	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

/* A FIFO is removed some time after the last client at its node has gone. */
static void an_unused_fifo_is_removed(void **state)
{
	static const struct ibsa_fabric_server_options impatient = {
		.patience_ms = 100,
	};
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct server_rig *server = server_start_with(server_pair, &impatient);
	const int fd = server_connect(server, "left");
	const uint32_t issm = 0;

	(void)state;
	frame_send(fd, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(fd), 0);
	for (int i = 0; i < 30; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(fifo_count(server), 1);
	close(fd);
	for (int i = 0; i < 1000 && fifo_count(server); i++)
		nanosleep(&pause, NULL);
	assert_int_equal(fifo_count(server), 0);
	server_stop(server);
}

/* No FIFO remains if the server has no descriptor for it. */
static void a_fifo_that_cannot_be_opened_is_removed(void **state)
{
	struct server_rig *server = server_start(server_pair);
	const int fd = server_connect(server, "left");
	const int other = server_connect(server, "right");
	const uint32_t issm = 0;
	struct rlimit before, few;
	int free_fd;

	(void)state;
	frame_send(fd, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(fd), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	free_fd = dup(fd);
	close(free_fd);
	few = before;
	few.rlim_cur = (rlim_t)free_fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	frame_send(other, REMOTE_ISSM, &issm, sizeof(issm));
	assert_int_equal(answer_receive(other), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fifo_count(server), 1);
	close(other);
	close(fd);
	server_stop(server);
}

static void unknown_flags_are_answered_with_the_known(void **state)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.flags = UMAD_RMPP_BY_USER | 6,
	};
	struct server_rig *server = server_start(server_pair);
	struct remote_file file;

	(void)state;
	assert_int_equal(server_file_open(server, "left", &file), 0);
	assert_int_equal(file.base.ops->register_agent2(&file.base, &request),
			 -EINVAL);
	assert_int_equal(request.flags, UMAD_RMPP_BY_USER);
	ibsa__remote_file_close(&file);
	server_stop(server);
}

/*
 * After a failed connection, the client uses its descriptor no more: another
 * file may have got the number.
 */
static void a_failed_connection_has_no_descriptor(void **state)
{
	struct server_rig *server = server_start(server_pair);
	struct remote_connection connection = { .fd = -1 };
	struct remote_address address;

	(void)state;
	assert_int_equal(ibsa__remote_address_find(server_address(server),
						   "nobody", NULL, 0, NULL,
						   &address),
			 0);
	assert_int_equal(ibsa__remote_connect(&connection, &address, NULL),
			 -ENODEV);
	assert_int_equal(connection.fd, -1);
	server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_frame_ends_only_its_own_connection),
		cmocka_unit_test(client_without_a_hello_is_disconnected),
		cmocka_unit_test(an_unknown_node_is_refused),
		cmocka_unit_test(requests_of_a_wrong_size_are_refused),
		cmocka_unit_test(incomplete_frame_delays_no_other_client),
		cmocka_unit_test(
			client_that_does_not_read_answers_is_disconnected),
		cmocka_unit_test(unread_descriptors_are_limited),
		cmocka_unit_test(
			client_that_ends_early_is_not_counted_as_disconnected),
		cmocka_unit_test(invalid_packet_closes_the_file),
		cmocka_unit_test(incomplete_packet_delays_no_other_client),
		cmocka_unit_test(a_packet_of_no_agent_comes_back),
		cmocka_unit_test(a_small_buffer_gets_the_first_segment),
		cmocka_unit_test(
			client_that_does_not_read_packets_delays_no_other),
		cmocka_unit_test(one_connection_has_one_file),
		cmocka_unit_test(a_refused_packet_follows_a_large_packet),
		cmocka_unit_test(
			server_accepts_again_when_descriptors_are_free),
		cmocka_unit_test(a_directory_of_others_is_not_used_for_fifos),
		cmocka_unit_test(an_unused_fifo_is_removed),
		cmocka_unit_test(a_fifo_that_cannot_be_opened_is_removed),
		cmocka_unit_test(unknown_flags_are_answered_with_the_known),
		cmocka_unit_test(a_failed_connection_has_no_descriptor),
	};

	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
