/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports at a fabric server that are closed during a call: by a cancelled
 * thread, by a second close, or by the program with close(2).
 */
#include "../support/child.h"
#include "../support/descriptors.h"
#include "../support/device_tree.h"
#include "rig.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's signal for pthread_cancel(). */
enum { CANCEL_SIGNAL = 32 };

static pthread_barrier_t barrier;

/*
 * Hooks of the next system calls of this thread. Calls of the server's threads
 * are not hooked.
 */
static _Thread_local bool recv_is_hooked, recvmsg_is_hooked;
static _Thread_local int portid_number = -1; /* of the next portid */
static _Thread_local int asked_fd;	     /* of the last recvmsg(2) */

static int opened_number = -1; /* of a device file */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_epoll_create1(int flags);
int __wrap_epoll_create1(int flags);
int __wrap_ioctl(int fd, unsigned long command, void *argument);
ssize_t __real_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

/*
 * Block or unblock the signal by which the C library cancels a thread, with the
 * system call: pthread_sigmask() does not change this signal.
 */
static void cancel_signal_mask(int how)
{
	const uint64_t mask = UINT64_C(1) << (CANCEL_SIGNAL - 1);

	assert_int_equal(
		syscall(SYS_rt_sigprocmask, how, &mask, NULL, sizeof(mask)), 0);
}

/*
 * Replaces recv(): a cancellation that was sent to the calling thread before
 * takes effect in it.
 */
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags)
{
	if (recv_is_hooked)
		cancel_signal_mask(SIG_UNBLOCK);
	recv_is_hooked = false;
	return __real_recv(fd, data, len, flags);
}

/* Replaces epoll_create1(): the portid that is opened next gets this number. */
int __wrap_epoll_create1(int flags)
{
	const int number = portid_number;
	const int fd = __real_epoll_create1(flags);

	if (number < 0)
		return fd;
	assert_int_equal(dup2(fd, number), number);
	close(fd);
	portid_number = -1;
	return number;
}

/* Replaces recvmsg(): the test waits until the thread is about to receive. */
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	if (recvmsg_is_hooked)
		pthread_barrier_wait(&barrier);
	recvmsg_is_hooked = false;
	asked_fd = fd;
	return __real_recvmsg(fd, message, flags);
}

/*
 * The cancellation type is asynchronous, as in a handler that interrupts
 * read(2).
 */
static void *thread_receive(void *arg)
{
	const int *portid = arg;
	struct umad_packet packet;
	int length = MAD_BYTES;
	int type;

	cancel_signal_mask(SIG_BLOCK);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	recv_is_hooked = true;
	(void)umad_recv(*portid, packet.bytes, &length, 0);
	cancel_signal_mask(SIG_UNBLOCK);
	return NULL;
}

static void a_cancel_that_was_sent_earlier_leaves_no_lock(void **state)
{
	struct umad_packet packet;
	int length = MAD_BYTES;
	pthread_t thread;
	void *result;
	int agent;
	int portid = port_open(&agent);

	(void)state;
	pthread_barrier_init(&barrier, NULL, 2);
	assert_int_equal(pthread_create(&thread, NULL, thread_receive, &portid),
			 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_cancel(thread), 0);
	pthread_barrier_wait(&barrier);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	pthread_barrier_destroy(&barrier);
	assert_int_equal(umad_recv(portid, packet.bytes, &length, 0),
			 -EWOULDBLOCK);
	port_close(portid);
}

static void *thread_register(void *arg)
{
	int *portid = arg;

	recvmsg_is_hooked = true;
	*portid = umad_register(*portid, IBSA_CLASS_SA, 2, 1, NULL);
	return NULL;
}

/* A second close of a portid does not end a call of another thread. */
static void a_second_close_does_not_end_a_call(void **state)
{
	struct server_rig *server = *state;
	const int portid = umad_open_port(NULL, 0);
	int agent = portid;
	pthread_t thread;

	assert_true(portid >= 0);
	pthread_barrier_init(&barrier, NULL, 2);
	(void)server_pause(server);
	assert_int_equal(pthread_create(&thread, NULL, thread_register, &agent),
			 0);
	pthread_barrier_wait(&barrier);
	port_close(portid);
	port_close(portid);
	server_resume(server);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(agent >= 0);
	pthread_barrier_destroy(&barrier);
}

/*
 * The program closes all descriptors, as a daemon does. The portid is then
 * another port, and the old port's connection is another file. Both numbers
 * stay in use: otherwise, the server in this program could get one of them.
 */
static void a_portid_that_was_closed_is_another_ports(void **state)
{
	const int portid = umad_open_port(NULL, 0);
	const int connection = asked_fd;
	int agent;

	(void)state;
	assert_true(portid >= 0);
	assert_int_equal(dup2(STDIN_FILENO, connection), connection);
	assert_int_equal(dup2(STDIN_FILENO, portid), portid);
	portid_number = portid;
	assert_int_equal(port_open(&agent), portid);
	port_close(portid);
	close(connection);
}

/*
 * After a program has closed a portid with close(2), the next umad_open_port()
 * closes the port's other descriptors. The fabric server runs in this program:
 * it has as many descriptors for the port, and closes them later.
 */
static void ports_that_were_closed_leave_nothing(void **state)
{
	enum { PORTS = 20, OF_A_PORT = 8, TRIES = 1000, TRY_MS = 10 };
	const unsigned int before = descriptors_count();
	int agent;

	(void)state;
	for (int i = 0; i < PORTS; i++)
		assert_int_equal(close(port_open(&agent)), 0);
	port_close(port_open(&agent));
	for (int i = 0; i < TRIES && descriptors_count() > before + OF_A_PORT;
	     i++)
		poll(NULL, 0, TRY_MS);
	assert_in_range(descriptors_count(), 0, before + OF_A_PORT);
}

/* The device file that is opened next is simulated and gets this descriptor. */
int __wrap_open(const char *path, int flags, ...)
{
	const int number = opened_number;

	if (strncmp(path, "/dev/infiniband/", 16) != 0 || number < 0)
		return __real_open(path, flags, 0);
	opened_number = -1;
	return dup2(STDIN_FILENO, number);
}

int __wrap_ioctl(int fd, unsigned long command, void *argument)
{
	(void)fd;
	(void)command;
	(void)argument;
	return 0;
}

/*
 * If the program uses the machine's devices again, the port is one of the
 * kernel.
 */
static void a_portid_that_was_closed_is_a_devices(void **state)
{
	struct umad_packet packet = { { 0 } };
	struct server_rig *server = *state;
	int portid, ends[2];
	void *tree;

	portid = umad_open_port(NULL, 0);
	assert_true(portid >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], portid), portid);
	unsetenv("IBSA_FABRIC");
	assert_int_equal(tree_setup(&tree), 0);
	tree_write(tree, "class/infiniband_mad/abi_version", "5\n");
	tree_add_device(tree, "mlx5_0");
	tree_add_umad(tree, 3, "mlx5_0", 1);
	opened_number = portid;
	assert_int_equal(umad_open_port(NULL, 0), portid);
	assert_int_equal(dup2(ends[1], portid), portid);
	assert_int_equal(umad_send(portid, 0, packet.bytes, MAD_BYTES, 0, 0),
			 0);
	assert_int_equal(read(ends[0], packet.bytes, ROOM), ROOM);
	port_close(portid);
	tree_teardown(&tree);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(setenv("IBSA_FABRIC", server_address(server), 1), 0);
}

static void run_child(int go, int portid)
{
	char byte;
	int agent;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	agent = umad_register(portid, IBSA_CLASS_SA, 2, 1, NULL);
	_exit(agent >= 0 && !umad_close_port(portid) ? 0 : 2);
}

/*
 * As with a real device, whose file is closed when the last process has closed
 * it, the port stays open until the child has closed it.
 */
static void a_child_keeps_what_its_parent_closes(void **state)
{
	int portid = umad_open_port(NULL, 0);
	int agent, go[2];
	pid_t child;

	(void)state;
	assert_true(portid >= 0);
	assert_int_equal(pipe(go), 0);
	child = fork();
	if (!child)
		run_child(go[0], portid);
	port_close(portid);
	assert_int_equal(write(go[1], "", 1), 1);
	child_end(child);
	close(go[0]);
	close(go[1]);
	portid = port_open(&agent);
	port_close(portid);
}

#define TEST(name)                                                \
	cmocka_unit_test_setup_teardown(name, libibumad_at_right, \
					libibumad_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cancel_that_was_sent_earlier_leaves_no_lock),
		TEST(a_second_close_does_not_end_a_call),
		TEST(a_portid_that_was_closed_is_another_ports),
		TEST(ports_that_were_closed_leave_nothing),
		TEST(a_portid_that_was_closed_is_a_devices),
		TEST(a_child_keeps_what_its_parent_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
