/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports at a fabric server whose user goes in the middle: a thread that is
 * canceled, a second close, descriptors that the program closes by itself.
 */
#include "../support/child.h"
#include "rig.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's signal for pthread_cancel(). */
enum { CANCEL_SIGNAL = 32 };

static pthread_barrier_t barrier;

/* What this thread has its next calls do: the server is in the program, too. */
static _Thread_local bool recv_is_hooked, recvmsg_is_hooked;
static _Thread_local int passed_number = -1; /* for the next passed file */
static _Thread_local int asked_fd;	     /* the last of a recvmsg(2) */

ssize_t __real_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);

/* pthread_sigmask() leaves that signal alone. */
static void cancel_signal_mask(int how)
{
	const uint64_t mask = UINT64_C(1) << (CANCEL_SIGNAL - 1);

	assert_int_equal(
		syscall(SYS_rt_sigprocmask, how, &mask, NULL, sizeof(mask)), 0);
}

/* A cancel that was sent before is delivered now. */
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags)
{
	if (recv_is_hooked)
		cancel_signal_mask(SIG_UNBLOCK);
	recv_is_hooked = false;
	return __real_recv(fd, data, len, flags);
}

static void passed_file_renumber(struct msghdr *message)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	int fd;

	if (passed_number < 0 || !head || head->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	assert_int_equal(dup2(fd, passed_number), passed_number);
	memcpy(CMSG_DATA(head), &passed_number, sizeof(fd));
	close(fd);
	passed_number = -1;
}

/* A thread waits for an answer of the server. */
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t got;

	if (recvmsg_is_hooked)
		pthread_barrier_wait(&barrier);
	recvmsg_is_hooked = false;
	asked_fd = fd;
	got = __real_recvmsg(fd, message, flags);
	if (got > 0)
		passed_file_renumber(message);
	return got;
}

/* Its type is asynchronous, as in a handler that interrupts a read(2). */
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

/* As of a device, the second close is for nothing. */
static void a_second_close_takes_nothing_from_who_uses_it(void **state)
{
	struct served *served = *state;
	const int portid = umad_open_port(NULL, 0);
	int agent = portid;
	pthread_t thread;

	assert_true(portid >= 0);
	pthread_barrier_init(&barrier, NULL, 2);
	(void)served_pause(served);
	assert_int_equal(pthread_create(&thread, NULL, thread_register, &agent),
			 0);
	pthread_barrier_wait(&barrier);
	port_close(portid);
	port_close(portid);
	served_resume(served);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(agent >= 0);
	pthread_barrier_destroy(&barrier);
}

/* As a daemon does with all that it has. What is behind the portid then is
 * another port, and the old one's connection is any file. Both numbers stay in
 * use: the server, which is in the program, could get one that is free. */
static void a_portid_that_was_closed_is_another_ports(void **state)
{
	const int portid = umad_open_port(NULL, 0);
	const int connection = asked_fd;
	int agent;

	(void)state;
	assert_true(portid >= 0);
	assert_int_equal(dup2(STDIN_FILENO, connection), connection);
	assert_int_equal(dup2(STDIN_FILENO, portid), portid);
	passed_number = portid;
	assert_int_equal(port_open(&agent), portid);
	port_close(portid);
	close(connection);
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

/* As of a device, whose file is released by the last who has it. */
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
		TEST(a_second_close_takes_nothing_from_who_uses_it),
		TEST(a_portid_that_was_closed_is_another_ports),
		TEST(a_child_keeps_what_its_parent_closes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
