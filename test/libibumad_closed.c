/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports at a fabric server whose user goes in the middle: a thread that is
 * canceled, a second close, descriptors that the program closes by itself.
 */
#include "libibumad_rig.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc's signal for pthread_cancel(). */
enum { CANCEL_SIGNAL = 32 };

static pthread_barrier_t barrier;

/* What this thread has its next call do: the server is in the program, too. */
static _Thread_local bool recv_is_hooked;

ssize_t __real_recv(int fd, void *data, size_t len, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t len, int flags);

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

#define TEST(name)                                                \
	cmocka_unit_test_setup_teardown(name, libibumad_at_right, \
					libibumad_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cancel_that_was_sent_earlier_leaves_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
