/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A server without a fabric: clients receive what the server's owner provides.
 * The test is the client, and runs the server's loop while it waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibsa/types.h>

#include "base/clock.h"
#include "owner.h"
#include "remote/ring.h"
#include "serve/server.h"

enum { WAIT_MS = 10000 };

struct frame {
	struct remote_head head;
	char body[1024];
	int fds[REMOTE_FDS];
};

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

static int client_connect(const struct owner *owner)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, owner->path);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address,
				 sizeof(address)),
			 0);
	return fd;
}

/*
 * Run the server until the socket has @len bytes. Return: whether it has;
 * false: the server has closed the other end.
 */
static bool bytes_await(struct owner *owner, int fd, size_t len)
{
	const uint64_t end_ns = clock_now_ns() + WAIT_MS * NS_PER_MS;
	static uint8_t bytes[sizeof(struct frame) + sizeof(struct packet) * 8];
	ssize_t got;

	assert_true(len <= sizeof(bytes));
	do {
		assert_int_equal(ibsa__server_wait(owner->server, 10), 0);
		got = recv(fd, bytes, len, MSG_PEEK | MSG_DONTWAIT);
		assert_true(clock_now_ns() < end_ns);
	} while (got < 0 || (got && (size_t)got < len));
	return got;
}

static void fds_take(struct msghdr *message, struct frame *out)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);

	if (head)
		memcpy(out->fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
}

static struct frame frame_receive(struct owner *owner, int fd)
{
	struct frame frame = { .fds = { -1, -1, -1 } };
	struct iovec part = { &frame.head, sizeof(frame.head) };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(frame.fds))];
	} control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	assert_true(bytes_await(owner, fd, sizeof(frame.head)));
	assert_int_equal(recvmsg(fd, &message, 0), sizeof(frame.head));
	fds_take(&message, &frame);
	assert_true(frame.head.length < sizeof(frame.body));
	if (frame.head.length)
		assert_int_equal(recv(fd, frame.body, frame.head.length, 0),
				 frame.head.length);
	return frame;
}

static struct frame request(struct owner *owner, int fd, uint32_t type,
			    const void *body, size_t len)
{
	const struct remote_head head = { .type = type,
					  .length = (uint32_t)len };
	struct frame answer;

	assert_int_equal(send(fd, &head, sizeof(head), 0), sizeof(head));
	if (len)
		assert_int_equal(send(fd, body, len, 0), len);
	answer = frame_receive(owner, fd);
	assert_int_equal(answer.head.type, type);
	return answer;
}

static struct frame hello(struct owner *owner, int fd, const char *device,
			  uint32_t port)
{
	struct remote_hello body = {
		.version = REMOTE_VERSION,
		.port = port,
		.features = REMOTE_HAS_RINGS,
	};

	strcpy(body.node, device);
	return request(owner, fd, REMOTE_HELLO, &body, sizeof(body));
}

/* Connect to port 1 of a device. */
static int client_open(struct owner *owner, const char *device)
{
	const int fd = client_connect(owner);

	assert_int_equal(hello(owner, fd, device, 1).head.err, 0);
	return fd;
}

static void hello_selects_a_port_of_the_owner(void **state)
{
	struct remote_hello chosen;
	struct frame answer;
	struct owner owner;
	int fd;

	(void)state;
	owner_start(&owner, 0, true);
	fd = client_connect(&owner);
	answer = hello(&owner, fd, "two", 0);
	assert_int_equal(answer.head.err, 0);
	memcpy(&chosen, answer.body, sizeof(chosen));
	assert_string_equal(chosen.node, "two");
	assert_int_equal(chosen.port, 1);
	close(fd);
	fd = client_connect(&owner);
	answer = hello(&owner, fd, "three", 0);
	assert_int_equal(answer.head.err, -ENODEV);
	assert_string_equal(answer.body, "no device three");
	close(fd);
	owner_stop(&owner);
}

static void messages_have_the_title_of_the_owner(void **state)
{
	const struct remote_hello old = { .version = REMOTE_VERSION - 1 };
	struct server *second = NULL;
	struct ibsa_error error;
	struct frame answer;
	struct owner owner;
	int fd;

	(void)state;
	owner_start(&owner, 0, true);
	fd = client_connect(&owner);
	answer = request(&owner, fd, REMOTE_HELLO, &old, sizeof(old));
	assert_int_equal(answer.head.err, -EPROTO);
	assert_non_null(strstr(answer.body, "the test server uses another"));
	assert_int_equal(owner_open_server(&owner, 0, true, &error, &second),
			 -EADDRINUSE);
	assert_non_null(strstr(error.text, "a test server is already running"));
	close(fd);
	owner_stop(&owner);
}

static void device_files_and_commands_are_the_owners(void **state)
{
	struct frame answer;
	struct owner owner;
	int fd;

	(void)state;
	owner_start(&owner, 0, true);
	fd = client_open(&owner, "two");
	answer = request(&owner, fd, REMOTE_FILE, "a/b", 3);
	assert_string_equal(answer.body, "two has a/b");
	answer = request(&owner, fd, REMOTE_FILE, "none", 4);
	assert_int_equal(answer.head.err, -ENOENT);
	answer = request(&owner, fd, REMOTE_FOLDER, "a", 1);
	assert_string_equal(answer.body, "two lists a");
	answer = request(&owner, fd, REMOTE_CONTROL, "lid 4", 5);
	assert_string_equal(answer.body, "done");
	answer = request(&owner, fd, REMOTE_CONTROL, "dance", 5);
	assert_int_equal(answer.head.err, -EINVAL);
	assert_string_equal(answer.body, "cannot do 'dance'");
	close(fd);
	owner_stop(&owner);
}

/* A client's umad file, with an agent. @rings.memory NULL: without rings. */
struct client_file {
	struct owner *owner;
	int connection;
	int fds[REMOTE_FDS];
	struct rings rings;
};

static void file_open(struct owner *owner, const char *device,
		      struct client_file *out)
{
	struct umad_agent_request2 agent = { .mgmt_class = 0x04, .qpn = 1 };
	struct frame answer;

	*out = (struct client_file){ .owner = owner };
	out->connection = client_open(owner, device);
	answer = request(owner, out->connection, REMOTE_ATTACH, NULL, 0);
	assert_int_equal(answer.head.err, 0);
	memcpy(out->fds, answer.fds, sizeof(out->fds));
	if (out->fds[REMOTE_FD_MEMORY] >= 0)
		assert_int_equal(ibsa__rings_open(&out->rings,
						  out->fds[REMOTE_FD_MEMORY]),
				 0);
	answer = request(owner, out->connection, REMOTE_REGISTER, &agent,
			 sizeof(agent));
	assert_int_equal(answer.head.err, -EINVAL);
	assert_non_null(strstr(
		answer.body, "already receives MADs of this class and method"));
	agent.mgmt_class = IBSA_CLASS_SA;
	answer = request(owner, out->connection, REMOTE_REGISTER, &agent,
			 sizeof(agent));
	assert_int_equal(answer.head.err, 0);
	memcpy(&agent, answer.body, sizeof(agent));
	assert_int_equal(agent.id, OWNER_AGENT);
}

static void file_close(struct client_file *file)
{
	ibsa__rings_close(&file->rings);
	close(file->connection);
	for (int i = 0; i < REMOTE_FDS; i++)
		if (file->fds[i] >= 0)
			close(file->fds[i]);
}

static void bell_ring(const struct client_file *file)
{
	const uint64_t one = 1;

	assert_int_equal(write(file->fds[REMOTE_FD_BELL], &one, sizeof(one)),
			 sizeof(one));
}

static void mads_send(struct client_file *file, const uint16_t *attributes,
		      size_t count)
{
	struct packet packets[4] = { 0 };
	const size_t len = count * sizeof(*packets);

	assert_true(count <= 4);
	for (size_t i = 0; i < count; i++) {
		packets[i].header.length = sizeof(*packets);
		ibsa_put_be16(packets[i].mad + MAD_ATTRIBUTE, attributes[i]);
	}
	if (!file->rings.memory) {
		assert_int_equal(send(file->fds[0], packets, len, 0), len);
		return;
	}
	assert_int_equal(ibsa__ring_write(&file->rings.out, packets, len), len);
	(void)!ibsa__ring_publish(&file->rings.out);
	bell_ring(file);
}

static void bytes_receive(struct client_file *file, void *to, size_t len)
{
	const uint64_t end_ns = clock_now_ns() + WAIT_MS * NS_PER_MS;

	if (!file->rings.memory) {
		assert_true(bytes_await(file->owner, file->fds[0], len));
		assert_int_equal(recv(file->fds[0], to, len, 0), len);
		return;
	}
	while (ibsa__ring_peek(&file->rings.in, 0, to, len) < (ssize_t)len) {
		assert_true(clock_now_ns() < end_ns);
		assert_int_equal(ibsa__server_wait(file->owner->server, 10), 0);
	}
	assert_int_equal(ibsa__ring_read(&file->rings.in, to, len), len);
}

/* Receive a MAD, which must have this attribute. */
static void mad_receive(struct client_file *file, uint16_t attribute)
{
	struct packet packet;

	bytes_receive(file, &packet, sizeof(packet));
	assert_int_equal(packet.header.status, 0);
	assert_int_equal(ibsa_be16(packet.mad + MAD_ATTRIBUTE), attribute);
}

static void check_packets(bool has_rings)
{
	static const uint16_t sent[] = { 1, OWNER_REFUSED, 2 };
	struct umad_header refused;
	struct server_stats stats;
	struct client_file file;
	struct owner owner;

	owner_start(&owner, 0, has_rings);
	file_open(&owner, "one", &file);
	assert_int_equal(file.rings.memory != NULL, has_rings);
	mads_send(&file, sent, 3);
	mad_receive(&file, 1);
	bytes_receive(&file, &refused, sizeof(refused));
	assert_int_equal(refused.status, EIO);
	mad_receive(&file, 2);
	stats = ibsa__server_stats(owner.server);
	assert_int_equal(stats.packets_in, 3);
	assert_int_equal(stats.packets_out, 3);
	assert_int_equal(stats.packets_refused, 1);
	file_close(&file);
	owner_stop(&owner);
}

static void packets_pass_through_the_owners_file(void **state)
{
	(void)state;
	check_packets(false);
	check_packets(true);
}

/* While the file of a client has work, no packets of the client are read. */
static void work_comes_before_later_packets(void **state)
{
	static const uint16_t sent[] = { 1, OWNER_SLOW, 2 };
	struct client_file file;
	struct owner owner;

	(void)state;
	owner_start(&owner, 0, true);
	file_open(&owner, "one", &file);
	mads_send(&file, sent, 3);
	mad_receive(&file, 1);
	mad_receive(&file, OWNER_SLOW);
	mad_receive(&file, 2);
	assert_int_equal(owner.turns, OWNER_WORK);
	assert_int_equal(owner.dropped, 0);
	file_close(&file);
	owner_stop(&owner);
}

/* A client with work does not delay another one, and its end ends the work. */
static void work_of_a_client_that_ends_is_dropped(void **state)
{
	static const uint16_t endless = OWNER_ENDLESS;
	static const uint16_t quick = 1;
	struct client_file busy;
	struct client_file other;
	struct owner owner;

	(void)state;
	owner_start(&owner, 0, true);
	file_open(&owner, "one", &busy);
	file_open(&owner, "two", &other);
	mads_send(&busy, &endless, 1);
	assert_int_equal(ibsa__server_wait(owner.server, 10), 0);
	mads_send(&other, &quick, 1);
	mad_receive(&other, quick);
	assert_true(owner.turns > 0);
	file_close(&busy);
	while (ibsa__server_stats(owner.server).clients > 1)
		assert_int_equal(ibsa__server_wait(owner.server, 10), 0);
	assert_int_equal(owner.dropped, 1);
	assert_int_equal(owner.files_open, 1);
	file_close(&other);
	owner_stop(&owner);
}

static struct remote_state state_get(const struct frame *frame)
{
	struct remote_state head;

	memcpy(&head, frame->body, sizeof(head));
	return head;
}

static void changes_of_a_port_are_events(void **state)
{
	struct frame frame;
	struct owner owner;
	uint16_t pkey;
	int fd;

	(void)state;
	owner_start(&owner, 0, true);
	owner.lid = 5;
	fd = client_open(&owner, "two");
	frame = request(&owner, fd, REMOTE_WATCH, NULL, 0);
	assert_int_equal(state_get(&frame).port.lid, 5);
	assert_int_equal(state_get(&frame).gid_count, 2);
	assert_int_equal(frame.body[sizeof(struct remote_state) + 31], 2);
	memcpy(&pkey, frame.body + sizeof(struct remote_state) + 32,
	       sizeof(pkey));
	assert_int_equal(pkey, OWNER_PKEY);

	owner.lid = 6;
	ibsa__server_changed(owner.server);
	frame = frame_receive(&owner, fd);
	assert_int_equal(frame.head.type, REMOTE_EVENT);
	assert_int_equal(state_get(&frame).port.lid, 6);

	ibsa__server_changes_soon(owner.server);
	owner.lid = 7;
	frame = frame_receive(&owner, fd);
	assert_int_equal(state_get(&frame).port.lid, 7);
	close(fd);
	owner_stop(&owner);
}

static void issm_await(struct owner *owner, unsigned int port, bool on)
{
	const uint64_t end_ns = clock_now_ns() + WAIT_MS * NS_PER_MS;

	while (owner->is_sm[port] != on) {
		assert_true(clock_now_ns() < end_ns);
		assert_int_equal(ibsa__server_wait(owner->server, 10), 0);
	}
}

/* The next server finds the port of a FIFO that is still open by its name. */
static void issm_file_sets_the_bit_of_its_port(void **state)
{
	const uint32_t number = 2;
	struct frame answer;
	struct owner owner;
	int fifo;
	int fd;

	(void)state;
	owner_start(&owner, 0, true);
	fd = client_open(&owner, "two");
	answer = request(&owner, fd, REMOTE_ISSM, &number, sizeof(number));
	assert_int_equal(answer.head.err, 0);
	fifo = open(answer.body, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fifo >= 0);
	issm_await(&owner, 3, true);

	ibsa__server_close(owner.server);
	owner.is_sm[3] = false;
	assert_int_equal(
		owner_open_server(&owner, 0, true, NULL, &owner.server), 0);
	assert_true(owner.is_sm[3]);
	close(fifo);
	issm_await(&owner, 3, false);
	close(fd);
	owner_stop(&owner);
}

static void fullest_queue_ends_when_memory_is_exhausted(void **state)
{
	static const uint16_t large = OWNER_LARGE;
	static const uint16_t quick = 1;
	struct client_file greedy;
	struct client_file other;
	struct owner owner;

	(void)state;
	owner_start(&owner, 1, true);
	file_open(&owner, "one", &greedy);
	file_open(&owner, "two", &other);
	assert_int_equal(owner.memory, 2 * OWNER_QUEUED);
	mads_send(&greedy, &large, 1);
	assert_false(bytes_await(&owner, greedy.connection, 1));
	assert_int_equal(owner.memory, OWNER_QUEUED);
	mads_send(&other, &quick, 1);
	mad_receive(&other, quick);
	file_close(&greedy);
	file_close(&other);
	owner_stop(&owner);
}

/* With one descriptor left, the lock file is opened, but not found again. */
static void no_descriptors_are_not_another_process(void **state)
{
	struct rlimit limit, low;
	struct owner owner;
	char path[sizeof(owner.folder) + sizeof("/other.lock")];
	int fd;

	(void)state;
	owner_start(&owner, 1, true);
	snprintf(path, sizeof(path), "%s/other", owner.folder);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_int_equal(close(fd), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = (struct rlimit){ (rlim_t)fd + 1, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	fd = ibsa__server_lock(path, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(fd, -EMFILE);
	strcat(path, ".lock");
	assert_int_equal(unlink(path), 0);
	owner_stop(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_selects_a_port_of_the_owner),
		cmocka_unit_test(messages_have_the_title_of_the_owner),
		cmocka_unit_test(device_files_and_commands_are_the_owners),
		cmocka_unit_test(packets_pass_through_the_owners_file),
		cmocka_unit_test(work_comes_before_later_packets),
		cmocka_unit_test(work_of_a_client_that_ends_is_dropped),
		cmocka_unit_test(changes_of_a_port_are_events),
		cmocka_unit_test(issm_file_sets_the_bit_of_its_port),
		cmocka_unit_test(fullest_queue_ends_when_memory_is_exhausted),
		cmocka_unit_test(no_descriptors_are_not_another_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
