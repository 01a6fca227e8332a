/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Choosing and opening a port, and packets by the kernel's rules. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/types.h>

#include "device/device.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"
#include "test/support/own_root.h"
#include "umad_dev/umad.h"
#include "umad_dev/umad_device.h"

static int open_err(const char *device, unsigned int port,
		    struct ibsa_error *error)
{
	struct ibsa_transport *transport = NULL;
	int err = now_umad_open(device, port, 4096, error, &transport);

	assert_null(transport);
	return err;
}

static void assert_text_has(const struct ibsa_error *error, const char *words)
{
	if (!strstr(error->text, words))
		fail_msg("\"%s\" does not say \"%s\"", error->text, words);
}

static void modules_that_are_not_loaded_are_named(void **state)
{
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	assert_int_equal(open_err(NULL, 0, &error), -ENOSYS);
	assert_text_has(&error, "no sysfs at /sys, or at SYSFS_PATH");
	assert_null(strstr(error.text, "modprobe"));
	tree_write(&tree, "class/", "");
	assert_int_equal(open_err(NULL, 0, &error), -ENOSYS);
	assert_text_has(&error, "modprobe ib_umad");
	tree_add_device(&tree, "mlx5_0");
	assert_int_equal(open_err(NULL, 0, &error), -ENOSYS);
	assert_text_has(&error, "modprobe ib_umad");
	assert_int_equal(open_err(NULL, 0, NULL), -ENOSYS);
	tree_remove(&tree);
}

static void unknown_device_or_port_lists_those_there_are(void **state)
{
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_write(&tree, "class/infiniband/", "");
	assert_int_equal(open_err(NULL, 0, &error), -ENODEV);
	assert_text_has(&error, "no RDMA device");
	tree_add_device(&tree, "mlx5_10");
	tree_add_device(&tree, "mlx5_9");
	tree_add_port(&tree, "mlx5_9", 2);
	assert_int_equal(open_err("mlx5_8", 0, &error), -ENODEV);
	assert_text_has(&error, "\"mlx5_8\"; there are: mlx5_9, mlx5_10");
	assert_int_equal(open_err("mlx5_9", 3, &error), -ENXIO);
	assert_text_has(&error, "mlx5_9 has no port 3; it has: 1, 2");
	assert_int_equal(open_err(NULL, 3, &error), -ENXIO);
	assert_text_has(&error, "no device has a port 3");
	tree_remove(&tree);
}

static void long_lists_end_in_dots(void **state)
{
	struct ibsa_error error;
	struct tree tree;
	char name[64];

	(void)state;
	tree_make(&tree);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "adapter_number_%d", i);
		tree_add_device(&tree, name);
	}
	assert_int_equal(open_err("x", 0, &error), -ENODEV);
	assert_text_has(&error, "adapter_number_0, adapter_number_1,");
	assert_string_equal(error.text + strlen(error.text) - 5, ", ...");
	tree_remove(&tree);
}

static void port_that_is_not_active_says_its_state(void **state)
{
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_set_port(&tree, "mlx5_0", 1, "state", "1: DOWN\n");
	assert_int_equal(open_err(NULL, 0, &error), -ENETDOWN);
	assert_text_has(&error, "port 1 of mlx5_0 is down");
	tree_set_port(&tree, "mlx5_0", 1, "state", "2: INIT\n");
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENETDOWN);
	assert_text_has(&error, "subnet manager");
	tree_set_port(&tree, "mlx5_0", 1, "state", "3: ARMED\n");
	assert_int_equal(open_err("mlx5_0", 0, &error), -ENETDOWN);
	tree_set_port(&tree, "mlx5_0", 1, "state", "none\n");
	assert_int_equal(open_err("mlx5_0", 0, &error), -EPROTO);
	assert_text_has(&error, "cannot be read");
	tree_remove(&tree);
}

static void assert_selected(const char *device, unsigned int port,
			    const char *found, unsigned int found_port)
{
	struct ibsa__port_selection selection;

	assert_int_equal(now_port_select(device, port, NULL, &selection), 0);
	assert_string_equal(selection.device, found);
	assert_int_equal(selection.port, found_port);
}

static void first_active_infiniband_port_is_taken(void **state)
{
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "a_down");
	tree_set_port(&tree, "a_down", 1, "state", "1: DOWN\n");
	tree_add_device(&tree, "b_roce");
	tree_set_port(&tree, "b_roce", 1, "link_layer", "Ethernet\n");
	tree_add_device(&tree, "c_bad");
	tree_set_port(&tree, "c_bad", 1, "lid", "\n");
	tree_add_device(&tree, "d_second");
	tree_set_port(&tree, "d_second", 1, "state", "2: INIT\n");
	tree_add_port(&tree, "d_second", 2);
	tree_add_port(&tree, "d_second", 3);
	assert_selected(NULL, 0, "d_second", 2);
	assert_selected(NULL, 3, "d_second", 3);
	assert_selected("d_second", 0, "d_second", 2);
	assert_selected("b_roce", 0, "b_roce", 1);
	tree_remove(&tree);
}

/* RoCE has no SM, so such a port must be named. */
static void ethernet_is_taken_only_by_name(void **state)
{
	struct ibsa__port_selection selection;
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "rxe0");
	tree_set_port(&tree, "rxe0", 1, "link_layer", "Ethernet\n");
	assert_int_equal(open_err(NULL, 0, &error), -ENODEV);
	assert_text_has(&error, "rxe0");
	assert_int_equal(now_port_select("rxe0", 0, NULL, &selection), 0);
	assert_true(selection.state.needs_grh);
	tree_remove(&tree);
}

static void port_without_mad_device_takes_no_mads(void **state)
{
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "siw0");
	tree_add_umad(&tree, 0, "mlx5_0", 1);
	assert_int_equal(open_err(NULL, 0, &error), -ENODEV);
	assert_text_has(&error, "no MAD device (umad) for port 1 of siw0");
	tree_add_umad(&tree, 999999, "siw0", 1);
	assert_int_equal(open_err(NULL, 0, &error), -ENODEV);
	assert_text_has(&error, "/dev/infiniband/umad999999 does not exist");
	tree_write(&tree, "class/infiniband_mad/abi_version", "4\n");
	assert_int_equal(open_err(NULL, 0, &error), -EOPNOTSUPP);
	assert_text_has(&error, "version 4");
	tree_remove(&tree);
}

/*
 * Give this process its own mounts; in a chroot, "/" itself may not be a mount.
 */
static bool own_mounts(void)
{
	return !unshare(CLONE_NEWNS) &&
	       (!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		!mount("none", "/dev", NULL, MS_REC | MS_PRIVATE, NULL));
}

/* Give this process its own /dev. Return: false if the system forbids that. */
static bool own_dev(void)
{
	if ((geteuid() && !own_root()) || !own_mounts() ||
	    mount("none", "/dev", "tmpfs", 0, NULL) ||
	    mkdir("/dev/infiniband", 0755))
		return false;
	return mknod("/dev/infiniband/umad0", S_IFREG, 0) == 0;
}

/* Root may open any file; this makes the process a plain user's. */
static void privileges_drop(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { 0 };

	assert_int_equal(syscall(SYS_capset, &header, none), 0);
}

/* Exit with 0, 1, or 77: device files cannot be created here. */
static _Noreturn void open_in_own_dev(void)
{
	struct ibsa_error error;

	if (!own_dev())
		_exit(77);
	if (open_err(NULL, 0, &error) != -ENODEV ||
	    !strstr(error.text, "is not a device of ib_umad"))
		_exit(1);
	privileges_drop();
	if (open_err(NULL, 0, &error) != -EACCES ||
	    !strstr(error.text, "not permitted to open "
				"/dev/infiniband/umad0"))
		_exit(1);
	_exit(0);
}

static void device_file_not_permitted_is_named(void **state)
{
	struct tree tree;
	int status;
	pid_t pid;

	(void)state;
	tree_make(&tree);
	tree_add_device(&tree, "mlx5_0");
	tree_add_umad(&tree, 0, "mlx5_0", 1);
	pid = fork();
	if (!pid)
		open_in_own_dev();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tree_remove(&tree);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/*
 * A transport whose device file is a socket that preserves packet boundaries.
 */
struct line {
	struct umad_device device;
	struct ibsa_transport *transport;
	int kernel;
};

/* The device is not found again. */
static int line_reopen(struct umad_file *file, bool *out_is_other)
{
	(void)file;
	(void)out_is_other;
	return -ENODEV;
}

static uint64_t line_now(struct umad_file *file)
{
	(void)file;
	return 0;
}

static const struct umad_file_ops line_ops = {
	.send = ibsa__umad_fd_send,
	.receive = ibsa__umad_fd_receive,
	.fd = ibsa__umad_dev_fd,
	.open = line_reopen,
	.shut = ibsa__umad_dev_shut,
	.wait = ibsa__umad_dev_wait,
	.wake = ibsa__umad_dev_wake,
	.now_ns = line_now,
};

static void line_open(struct line *line)
{
	struct umad_transport *umad = &line->device.transport;
	int ends[2];

	memset(line, 0, sizeof(*line));
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    ends),
			 0);
	line->kernel = ends[1];
	line->device.file.base.ops = &line_ops;
	line->device.file.fd = ends[0];
	assert_int_equal(ibsa__umad_transport_init(
				 umad, &line->device.file.base, IBSA_MAD_BYTES),
			 0);
	umad->agents[UMAD_AGENT_SA] = (struct umad_agent){ 3, true };
	umad->is_open = true;
	line->transport = &umad->base;
	assert_int_equal(ibsa__umad_dev_wait_init(&line->device), 0);
}

static void line_close(struct line *line)
{
	ibsa__umad_dev_wait_done(&line->device);
	ibsa__umad_transport_done(&line->device.transport);
	close(line->device.file.fd);
	close(line->kernel);
}

static const struct ibsa_address sa = { .lid = 1, .qpn = 1, .sl = 2 };

/*
 * A MAD is filled up to 256 bytes, because ibsim would send bytes of its stack
 * after a shorter one.
 */
static void whole_mad_is_always_sent(void **state)
{
	const uint8_t mad[24] = { 1, 3, 2, 1 };
	uint8_t seen[400];
	struct umad_header header;
	struct line line;

	(void)state;
	line_open(&line);
	assert_int_equal(line.transport->ops->send(line.transport, &sa, mad,
						   sizeof(mad), 1000),
			 0);
	assert_int_equal(read(line.kernel, seen, sizeof(seen)), 64 + 256);
	memcpy(&header, seen, sizeof(header));
	assert_int_equal(header.id, 3);
	assert_int_equal(header.timeout_ms, 1000);
	assert_int_equal(header.retries, 0);
	assert_memory_equal(seen + 64, mad, sizeof(mad));
	for (size_t i = 64 + sizeof(mad); i < 64 + 256; i++)
		assert_int_equal(seen[i], 0);
	line_close(&line);
}

static void mad_beyond_one_packet_is_refused(void **state)
{
	const uint8_t mad[257] = { 1, 3, 2, 1 };
	struct line line;

	(void)state;
	line_open(&line);
	assert_int_equal(line.transport->ops->send(line.transport, &sa, mad,
						   sizeof(mad), 1000),
			 -EMSGSIZE);
	line_close(&line);
}

static void packet_arrives_with_its_sender(void **state)
{
	struct {
		struct umad_header header;
		uint8_t mad[120];
	} packet = { .mad = { 1, 3, 2, 0x92 } };
	struct ibsa_message message;
	struct line line;

	(void)state;
	line_open(&line);
	assert_int_equal(umad_header_address_put(&packet.header, &sa), 0);
	assert_int_equal(write(line.kernel, &packet, sizeof(packet)),
			 sizeof(packet));
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 1);
	assert_int_equal(message.err, 0);
	assert_int_equal(message.len, 120);
	assert_int_equal(message.from.lid, 1);
	assert_int_equal(message.from.qpn, 1);
	assert_int_equal(message.from.sl, 2);
	assert_memory_equal(message.mad, packet.mad, 120);
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 0);
	line_close(&line);
}

/*
 * The file returns a failed request in the kernel's form: the status and the
 * MAD header of the request.
 */
static void request_that_timed_out_comes_back(void **state)
{
	struct {
		struct umad_header header;
		uint8_t mad[24];
	} packet = { .header.status = ETIMEDOUT, .mad = { 1, 3, 2, 0x01 } };
	struct ibsa_message message;
	struct line line;

	(void)state;
	line_open(&line);
	assert_int_equal(write(line.kernel, &packet, sizeof(packet)),
			 sizeof(packet));
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 1);
	assert_int_equal(message.err, -ETIMEDOUT);
	assert_int_equal(message.len, 24);
	assert_memory_equal(message.mad, packet.mad, 24);
	line_close(&line);
}

static void packet_shorter_than_a_mad_header_is_skipped(void **state)
{
	struct {
		struct umad_header header;
		uint8_t mad[24];
	} packet = { .mad = { 1 } };
	struct ibsa_message message;
	struct line line;

	(void)state;
	line_open(&line);
	assert_int_equal(write(line.kernel, &packet, 87), 87);
	assert_int_equal(write(line.kernel, &packet, 88), 88);
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 1);
	assert_int_equal(message.len, 24);
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 0);
	line_close(&line);
}

/* Reading /proc/self/mem at 0 fails with EIO, as for a removed device. */
static void device_that_went_away_is_told_once(void **state)
{
	const uint8_t mad[24] = { 1, 3, 2, 1 };
	struct ibsa_message message;
	struct line line;

	(void)state;
	line_open(&line);
	close(line.device.file.fd);
	line.device.file.fd = open("/proc/self/mem", O_RDONLY);
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 -ENODEV);
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 0);
	assert_int_equal(line.transport->ops->send(line.transport, &sa, mad,
						   sizeof(mad), 1000),
			 -ENODEV);
	line_close(&line);
}

static bool is_readable(int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

	return poll(&one, 1, 0) == 1;
}

static void fd_is_readable_for_packets_not_for_wakes(void **state)
{
	const uint8_t packet[88] = { 0 };
	struct ibsa_message message;
	struct line line;
	int fd;

	(void)state;
	line_open(&line);
	fd = line.transport->ops->fd(line.transport);
	assert_false(is_readable(fd));
	line.transport->ops->wake(line.transport);
	assert_false(is_readable(fd));
	assert_int_equal(write(line.kernel, packet, sizeof(packet)),
			 sizeof(packet));
	assert_true(is_readable(fd));
	assert_int_equal(line.transport->ops->recv(line.transport, &message),
			 1);
	assert_false(is_readable(fd));
	line_close(&line);
}

/* The wait has no timeout, so that a wait that does not end fails the test. */
static void wait_ends_for_a_packet_and_for_a_wake(void **state)
{
	const uint8_t packet[88] = { 0 };
	struct line line;

	(void)state;
	line_open(&line);
	line.transport->ops->wake(line.transport);
	line.transport->ops->wake(line.transport);
	assert_int_equal(line.transport->ops->wait(line.transport, -1), 0);
	assert_false(is_readable(line.device.wake_fd));
	assert_int_equal(line.transport->ops->wait(line.transport, 0), 0);
	assert_int_equal(write(line.kernel, packet, sizeof(packet)),
			 sizeof(packet));
	assert_int_equal(line.transport->ops->wait(line.transport, -1), 0);
	line_close(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_that_are_not_loaded_are_named),
		cmocka_unit_test(unknown_device_or_port_lists_those_there_are),
		cmocka_unit_test(long_lists_end_in_dots),
		cmocka_unit_test(port_that_is_not_active_says_its_state),
		cmocka_unit_test(first_active_infiniband_port_is_taken),
		cmocka_unit_test(ethernet_is_taken_only_by_name),
		cmocka_unit_test(port_without_mad_device_takes_no_mads),
		cmocka_unit_test(device_file_not_permitted_is_named),
		cmocka_unit_test(whole_mad_is_always_sent),
		cmocka_unit_test(mad_beyond_one_packet_is_refused),
		cmocka_unit_test(packet_arrives_with_its_sender),
		cmocka_unit_test(request_that_timed_out_comes_back),
		cmocka_unit_test(packet_shorter_than_a_mad_header_is_skipped),
		cmocka_unit_test(device_that_went_away_is_told_once),
		cmocka_unit_test(fd_is_readable_for_packets_not_for_wakes),
		cmocka_unit_test(wait_ends_for_a_packet_and_for_a_wake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
