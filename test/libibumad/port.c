/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libibumad's calls on a simulated device file, with a simulated clock: rare
 * behaviour of real devices, and behaviour of ibsim's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <infiniband/umad_types.h>

#include <ibsa/umad_ext.h>

#include "umad/header.h"
#include "test/support/child.h"
#include "test/support/device_tree.h"

enum {
	PLAYED = 5000, /* its descriptor, in the range of ibsim */
	LOW = 900,     /* descriptor of the simulated file, in the range of the
		        * kernel's descriptors */
	MAD_BYTES = 256,
	ROOM = UMAD_HEADER_BYTES + MAD_BYTES,
	STEP_MS = 3,
	MS = 1000000,
};

/*
 * What the simulated device file does next, and the calls that it has received.
 */
static struct {
	uint64_t now_ms;
	int open_errno; /* -1: fails without one */
	int pkey_errno;
	int register_errno;
	int register2_errno;
	uint32_t known_flags;
	struct umad_agent_request registered;
	uint32_t registered2_oui;
	int polls_early; /* polls that return too early */
	int poll_errno;
	/* Reads that find nothing, since another thread was first. */
	int thefts;
	/*
	 * Result of the simulated read: the length including the header, or an
	 * error of ibsim.
	 */
	ssize_t read_len;
	int read_errno;	   /* with -1 */
	uint32_t length;   /* in the header */
	ssize_t write_len; /* 0: all */
	size_t written;
	int opens;
	int closes;
} played;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_ioctl(int fd, unsigned long command, void *argument);
ssize_t __real_read(int fd, void *bytes, size_t room);
ssize_t __wrap_read(int fd, void *bytes, size_t room);
ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static int fail_with(int err)
{
	errno = err;
	return -1;
}

int __wrap_open(const char *path, int flags, ...)
{
	if (strncmp(path, "/dev/infiniband/", 16) != 0)
		return __real_open(path, flags);
	assert_int_equal(flags, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (played.open_errno)
		return fail_with(played.open_errno < 0 ? 0 : played.open_errno);
	assert_string_equal(path, "/dev/infiniband/umad3");
	played.opens++;
	return PLAYED;
}

int __wrap_close(int fd)
{
	if (fd != PLAYED)
		return __real_close(fd);
	played.closes++;
	return 0;
}

static int play_register2(struct umad_agent_request2 *request)
{
	played.registered2_oui = request->oui;
	if (!played.register2_errno) {
		request->id = 7;
		return 0;
	}
	if (request->flags & ~played.known_flags)
		request->flags = played.known_flags;
	return fail_with(played.register2_errno);
}

int __wrap_ioctl(int fd, unsigned long command, void *argument)
{
	assert_true(fd == PLAYED || fd == LOW);
	switch (command) {
	case UMAD_ENABLE_PKEY:
		return played.pkey_errno ? fail_with(played.pkey_errno) : 0;
	case UMAD_REGISTER_AGENT:
		memcpy(&played.registered, argument, sizeof(played.registered));
		((struct umad_agent_request *)argument)->id = 4;
		return played.register_errno ? fail_with(played.register_errno)
					     : 0;
	case UMAD_REGISTER_AGENT2:
		return play_register2(argument);
	default:
		return fail_with(ENOTTY);
	}
}

ssize_t __wrap_read(int fd, void *bytes, size_t room)
{
	struct umad_header header = { .id = 2, .length = played.length };

	if (fd != PLAYED)
		return __real_read(fd, bytes, room);
	if (played.thefts) {
		played.thefts--;
		return fail_with(EAGAIN);
	}
	if (room >= sizeof(header))
		memcpy(bytes, &header, sizeof(header));
	errno = played.read_errno;
	return played.read_len;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	if (fd != PLAYED)
		return __real_write(fd, bytes, len);
	played.written = len;
	return played.write_len ? played.write_len : (ssize_t)len;
}

/*
 * Replaces poll(): returns that the file is ready, or returns before the
 * timeout; then the clock advances a little.
 */
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	assert_int_equal(count, 1);
	assert_int_equal(fds->fd, PLAYED);
	assert_int_equal(fds->events, POLLIN);
	if (played.poll_errno)
		return fail_with(played.poll_errno);
	if (!timeout_ms)
		return played.polls_early ? 0 : 1;
	played.now_ms += STEP_MS;
	if (played.polls_early) {
		played.polls_early--;
		return 0;
	}
	return 1;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	out->tv_sec = (time_t)(played.now_ms / 1000);
	out->tv_nsec = (long)(played.now_ms % 1000) * MS;
	return 0;
}

static int setup(void **state)
{
	struct tree *tree;

	memset(&played, 0, sizeof(played));
	tree_setup(state);
	tree = *state;
	tree_write(tree, "class/infiniband_mad/abi_version", "5\n");
	tree_add_device(tree, "mlx5_0");
	tree_add_umad(tree, 3, "mlx5_0", 1);
	return 0;
}

static void portid_is_the_descriptor(void **state)
{
	(void)state;
	assert_int_equal(umad_open_port(NULL, 0), PLAYED);
	assert_int_equal(umad_get_fd(PLAYED), PLAYED);
	assert_int_equal(umad_close_port(PLAYED), 0);
	assert_int_equal(umad_open_port("mlx5_0", 1), PLAYED);
	assert_int_equal(umad_close_port(PLAYED), 0);
	assert_int_equal(played.opens, 2);
	assert_int_equal(played.closes, 2);
}

static void old_interface_is_refused(void **state)
{
	tree_write(*state, "class/infiniband_mad/abi_version", "4\n");
	assert_int_equal(umad_open_port(NULL, 0), -EOPNOTSUPP);
	tree_write(*state, "class/infiniband_mad/abi_version", "none\n");
	assert_int_equal(umad_open_port(NULL, 0), -EOPNOTSUPP);
	tree_remove_file(*state, "class/infiniband_mad/abi_version");
	assert_int_equal(umad_open_smi_port(NULL, 0), -EOPNOTSUPP);
	assert_int_equal(errno, EOPNOTSUPP);
}

static void port_that_is_not_there_is_refused(void **state)
{
	assert_int_equal(umad_open_port("mlx5_1", 0), -ENODEV);
	assert_int_equal(umad_open_port("mlx5_1", 1), -EINVAL);
	assert_int_equal(umad_open_port("mlx5_0", 2), -EINVAL);
	tree_add_port(*state, "mlx5_0", 2);
	assert_int_equal(umad_open_port("mlx5_0", 2), -EINVAL);
	assert_int_equal(played.opens, 0);
}

static void file_that_cannot_be_opened_says_why(void **state)
{
	(void)state;
	played.open_errno = EACCES;
	assert_int_equal(umad_open_port(NULL, 0), -EACCES);
	assert_int_equal(errno, EACCES);
	played.open_errno = ENOENT;
	assert_int_equal(umad_open_port(NULL, 0), -ENOENT);
	/* ibsim has eight descriptors: a further open() sets no errno. */
	played.open_errno = -1;
	assert_int_equal(umad_open_port(NULL, 0), -EMFILE);
}

static void too_few_descriptors_are_not_a_missing_module(void **state)
{
	struct rlimit limit;
	struct rlimit none;
	int portid;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	portid = umad_open_port("mlx5_0", 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(portid, -EMFILE);
}

static void file_without_long_headers_is_closed_again(void **state)
{
	(void)state;
	played.pkey_errno = ENOTTY;
	assert_int_equal(umad_open_port(NULL, 0), -ENOTTY);
	assert_int_equal(played.closes, 1);
}

/* Set or clear IsSMdisabled, bit 10 of the CapabilityMask, at port 1. */
static void smi_set(const struct tree *tree, const char *name, bool has_smi)
{
	tree_set_port(tree, name, 1, "cap_mask", has_smi ? "0x0\n" : "0x400\n");
}

static void port_without_smi_is_not_opened_for_smps(void **state)
{
	smi_set(*state, "mlx5_0", false);
	assert_int_equal(umad_open_port(NULL, 0), PLAYED);
	assert_int_equal(umad_open_smi_port("mlx5_0", 0), -ENODEV);
	assert_int_equal(umad_open_smi_port("mlx5_0", 1), -ENODEV);
	assert_int_equal(umad_open_smi_port("mlx5_0", 9), -ENODEV);
	assert_true(umad_open_smi_port(NULL, 1) < 0);
	smi_set(*state, "mlx5_0", true);
	assert_int_equal(umad_open_smi_port("mlx5_0", 0), PLAYED);
	assert_int_equal(umad_open_smi_port("mlx5_0", 1), PLAYED);
	assert_int_equal(umad_open_smi_port(NULL, 0), PLAYED);
}

static void port_with_smi_is_chosen_before_the_first(void **state)
{
	tree_add_device(*state, "mlx4_0");
	smi_set(*state, "mlx4_0", false);
	smi_set(*state, "mlx5_0", true);
	assert_int_equal(umad_open_smi_port(NULL, 0), PLAYED);
}

static void kernel_s_reason_is_behind_eperm(void **state)
{
	uint8_t oui[3] = { 1, 2, 3 };

	(void)state;
	played.register_errno = EINVAL;
	assert_int_equal(umad_register(PLAYED, 3, 2, 1, NULL), -EPERM);
	assert_int_equal(errno, EINVAL);
	played.register_errno = EPIPE;
	assert_int_equal(umad_register_oui(PLAYED, 0x30, 1, oui, NULL), -EPERM);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(umad_register_oui(PLAYED, 0x2f, 1, oui, NULL),
			 -EINVAL);
	assert_int_equal(umad_register_oui(PLAYED, 0x50, 1, oui, NULL),
			 -EINVAL);
}

static void agent_is_of_its_class_s_queue_pair(void **state)
{
	long methods[16 / sizeof(long)] = { 6 };
	uint8_t oui[3] = { 1, 2, 3 };

	(void)state;
	assert_int_equal(umad_register(PLAYED, 0x81, 1, 0, methods), 4);
	assert_int_equal(played.registered.qpn, 0);
	assert_int_equal(played.registered.method_mask[0], 6);
	assert_int_equal(umad_register(PLAYED, 3, 2, 1, NULL), 4);
	assert_int_equal(played.registered.qpn, 1);
	assert_int_equal(played.registered.rmpp_version, 1);
	assert_int_equal(played.registered.method_mask[0], 0);
	assert_memory_equal(played.registered.oui, "\x00\x14\x05", 3);
	assert_int_equal(umad_register_oui(PLAYED, 0x4f, 1, oui, NULL), 4);
	assert_memory_equal(played.registered.oui, oui, 3);
}

static void known_flags_are_told_if_one_is_not(void **state)
{
	struct umad_reg_attr attr = { .mgmt_class = 3, .flags = 0x81 };
	uint32_t agent = 99;

	(void)state;
	played.register2_errno = EINVAL;
	played.known_flags = UMAD_USER_RMPP;
	assert_int_equal(umad_register2(LOW, NULL, &agent), EINVAL);
	assert_int_equal(umad_register2(LOW, &attr, NULL), EINVAL);
	assert_int_equal(umad_register2(LOW, &attr, &agent), EINVAL);
	assert_int_equal(attr.flags, UMAD_USER_RMPP);
	/*
	 * The error is not about an unknown flag, so attr.flags does not
	 * change.
	 */
	assert_int_equal(umad_register2(LOW, &attr, &agent), EINVAL);
	assert_int_equal(attr.flags, UMAD_USER_RMPP);
	assert_int_equal(agent, 99);
	played.register2_errno = 0;
	assert_int_equal(umad_register2(LOW, &attr, &agent), 0);
	assert_int_equal(agent, 7);
}

/* The kernel rejects an OUI above 0xffffff even for a class without an OUI. */
static void oui_of_a_class_without_one_is_zero(void **state)
{
	struct umad_reg_attr attr = { .mgmt_class = 3, .oui = 0xdeadbeef };
	uint32_t agent;

	(void)state;
	assert_int_equal(umad_register2(LOW, &attr, &agent), 0);
	assert_int_equal(played.registered2_oui, 0);
	attr.mgmt_class = 0x31;
	assert_int_equal(umad_register2(LOW, &attr, &agent), EINVAL);
	attr.oui = 0x001405;
	assert_int_equal(umad_register2(LOW, &attr, &agent), 0);
	assert_int_equal(played.registered2_oui, 0x001405);
}

static void file_without_flags_registers_in_the_old_way(void **state)
{
	struct umad_reg_attr attr = { .mgmt_class = 0x31, .oui = 0x010203 };
	uint32_t agent = 99;

	(void)state;
	/* ENOTTY from old kernels, EINVAL from ibsim. */
	played.register2_errno = ENOTTY;
	assert_int_equal(umad_register2(PLAYED, &attr, &agent), 0);
	assert_int_equal(agent, 4);
	assert_memory_equal(played.registered.oui, "\1\2\3", 3);
	played.register2_errno = EINVAL;
	assert_int_equal(umad_register2(PLAYED, &attr, &agent), 0);
	attr.flags = UMAD_USER_RMPP;
	assert_int_equal(umad_register2(PLAYED, &attr, &agent), ENOTTY);
	assert_int_equal(attr.flags, 0);
}

static void partial_writes_are_errors(void **state)
{
	union {
		struct ib_user_mad packet;
		uint8_t bytes[ROOM];
	} out = { .packet.status = 0 };

	(void)state;
	assert_int_equal(umad_send(PLAYED, 1, &out, 120, 5, 6), 0);
	assert_int_equal(played.written, UMAD_HEADER_BYTES + 120);
	assert_int_equal(out.packet.agent_id, 1);
	assert_int_equal(out.packet.timeout_ms, 5);
	assert_int_equal(out.packet.retries, 6);
	played.write_len = 100;
	assert_int_equal(umad_send(PLAYED, 1, &out, 120, 5, 6), -EIO);
	assert_int_equal(errno, EIO);
	assert_int_equal(umad_send(PLAYED, 1, &out, -65, 5, 6), -EIO);
	assert_int_equal(errno, EINVAL);
}

static int receive(int *length, int timeout_ms)
{
	static union {
		struct ib_user_mad packet;
		uint8_t bytes[ROOM];
	} in;

	*length = MAD_BYTES;
	return umad_recv(PLAYED, &in, length, timeout_ms);
}

static void early_poll_is_polled_again(void **state)
{
	int length;

	(void)state;
	played.read_len = ROOM;
	played.polls_early = 3;
	assert_int_equal(receive(&length, 100), 2);
	assert_int_equal(played.now_ms, 4 * STEP_MS);
	assert_int_equal(length, MAD_BYTES);
}

static void nothing_ends_in_its_time(void **state)
{
	int length;

	(void)state;
	played.polls_early = 1000;
	assert_int_equal(receive(&length, 100), -ETIMEDOUT);
	assert_in_range(played.now_ms, 100, 100 + STEP_MS);
	assert_int_equal(umad_poll(PLAYED, 100), -ETIMEDOUT);
	assert_in_range(played.now_ms, 200, 200 + 2 * STEP_MS);
	assert_int_equal(umad_poll(PLAYED, 0), -ETIMEDOUT);
}

static void receive_waits_again_if_another_thread_was_first(void **state)
{
	int length;

	(void)state;
	played.read_len = ROOM;
	played.thefts = 5;
	assert_int_equal(receive(&length, 100), 2);
	played.thefts = 5;
	assert_int_equal(receive(&length, -1), 2);
	played.thefts = 1000;
	assert_int_equal(receive(&length, 100), -ETIMEDOUT);
	assert_int_equal(receive(&length, 0), -EWOULDBLOCK);
}

static void signal_ends_a_wait(void **state)
{
	int length;

	(void)state;
	played.poll_errno = EINTR;
	assert_int_equal(receive(&length, 100), -EIO);
	assert_int_equal(errno, EINTR);
	assert_int_equal(umad_poll(PLAYED, -1), -EIO);
	assert_int_equal(errno, EINTR);
}

static void length_is_what_is_needed_or_untouched(void **state)
{
	int length;

	(void)state;
	played.read_len = -1;
	played.read_errno = ENOSPC;
	played.length = UMAD_HEADER_BYTES + 1000;
	assert_int_equal(receive(&length, 0), -ENOSPC);
	assert_int_equal(length, 1000);
	played.read_errno = EIO;
	assert_int_equal(receive(&length, 0), -EIO);
	assert_int_equal(length, MAD_BYTES);
	/* ibsim's result for an empty queue. */
	played.read_errno = 0;
	played.read_len = -EAGAIN;
	assert_int_equal(receive(&length, 0), -EWOULDBLOCK);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_int_equal(length, MAD_BYTES);
}

/* As in libibumad, umad_recv() fails at once if the device is gone. */
static void device_that_has_gone_is_told_at_once(void **state)
{
	int length;

	(void)state;
	played.read_len = -1;
	played.read_errno = EIO;
	assert_int_equal(receive(&length, 100), -EIO);
	assert_int_equal(played.now_ms, STEP_MS);
	assert_int_equal(receive(&length, -1), -EIO);
	assert_int_equal(played.now_ms, 2 * STEP_MS);
}

static void end_of_file_is_not_a_message(void **state)
{
	int length;

	(void)state;
	played.read_len = 0;
	assert_int_equal(receive(&length, 0), -EIO);
	played.read_len = UMAD_HEADER_BYTES - 1;
	assert_int_equal(receive(&length, 0), -EIO);
	assert_int_equal(length, MAD_BYTES);
	length = -1;
	assert_int_equal(umad_recv(PLAYED, &length, &length, 0), -EINVAL);
	played.read_len = UMAD_HEADER_BYTES;
	assert_int_equal(receive(&length, 0), 2);
	assert_int_equal(length, 0);
}

/*
 * Store in @text what @call writes to standard error. Return: the number of
 * bytes.
 */
static size_t debug_output(char *text, size_t room, void (*call)(void))
{
	int aside = dup(STDERR_FILENO);
	ssize_t len;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	call();
	assert_true(dup2(aside, STDERR_FILENO) >= 0);
	close(aside);
	close(ends[1]);
	len = __real_read(ends[0], text, room - 1);
	close(ends[0]);
	text[len > 0 ? len : 0] = '\0';
	return strlen(text);
}

static void fail_to_send(void)
{
	union {
		struct ib_user_mad packet;
		uint8_t bytes[ROOM];
	} out = { .packet.addr.lid = htobe16(77) };

	assert_int_equal(umad_send(PLAYED, 1, &out, -1, 0, 0), -EIO);
}

static void level_says_how_much_is_said(void **state)
{
	char text[1000];

	(void)state;
	assert_int_equal(umad_debug(-1), 0);
	assert_int_equal(debug_output(text, sizeof(text), fail_to_send), 0);
	assert_int_equal(umad_debug(1), 1);
	assert_true(debug_output(text, sizeof(text), fail_to_send) > 0);
	assert_non_null(strstr(text, "umad_send failed: portid 5000 "
				     "agent 1"));
	assert_non_null(strstr(text, "Invalid argument"));
	assert_null(strstr(text, "lid 77"));
	assert_int_equal(umad_debug(2), 2);
	debug_output(text, sizeof(text), fail_to_send);
	assert_non_null(strstr(text, "lid 77"));
	assert_int_equal(umad_debug(-5), 2);
	assert_int_equal(umad_debug(0), 0);
}

/* A child has the descriptor, and no lock of its parent blocks it. */
static void child_uses_its_parent_s_port(void **state)
{
	pid_t child;

	(void)state;
	assert_int_equal(umad_open_port(NULL, 0), PLAYED);
	played.read_len = ROOM;
	child = fork();
	if (!child) {
		int length;

		_exit(umad_register(PLAYED, 3, 2, 1, NULL) != 4 ||
		      receive(&length, 100) != 2 ||
		      umad_open_port("mlx5_0", 1) != PLAYED);
	}
	child_end(child);
	assert_int_equal(umad_close_port(PLAYED), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, tree_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(portid_is_the_descriptor),
		TEST(old_interface_is_refused),
		TEST(port_that_is_not_there_is_refused),
		TEST(file_that_cannot_be_opened_says_why),
		TEST(too_few_descriptors_are_not_a_missing_module),
		TEST(file_without_long_headers_is_closed_again),
		TEST(port_without_smi_is_not_opened_for_smps),
		TEST(port_with_smi_is_chosen_before_the_first),
		TEST(kernel_s_reason_is_behind_eperm),
		TEST(agent_is_of_its_class_s_queue_pair),
		TEST(known_flags_are_told_if_one_is_not),
		TEST(oui_of_a_class_without_one_is_zero),
		TEST(file_without_flags_registers_in_the_old_way),
		TEST(partial_writes_are_errors),
		TEST(early_poll_is_polled_again),
		TEST(nothing_ends_in_its_time),
		TEST(receive_waits_again_if_another_thread_was_first),
		TEST(signal_ends_a_wait),
		TEST(length_is_what_is_needed_or_untouched),
		TEST(device_that_has_gone_is_told_at_once),
		TEST(end_of_file_is_not_a_message),
		TEST(level_says_how_much_is_said),
		TEST(child_uses_its_parent_s_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
