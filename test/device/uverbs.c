/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verbs by ioctl: the linker's --wrap of ioctl() replaces the kernel. The tests
 * on a virtual machine use a real kernel with soft RoCE. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "device/uverbs.h"

enum { COMMAND_FD = 99, DRIVER = 14 };

/* The ioctl that was received, and its result. */
static struct {
	uint16_t length;
	uint16_t object;
	uint16_t method;
	uint16_t attr_count;
	uint32_t driver;
	struct ib_uverbs_attr attr;
	int gives_fd;
	int fails;
} kernel;

int __wrap_ioctl(int fd, unsigned long command, ...);

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	struct ib_uverbs_ioctl_hdr *call;
	va_list args;

	va_start(args, command);
	call = va_arg(args, struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	assert_int_equal(fd, COMMAND_FD);
	assert_int_equal(command, RDMA_VERBS_IOCTL);
	kernel.length = call->length;
	kernel.object = call->object_id;
	kernel.method = call->method_id;
	kernel.attr_count = call->num_attrs;
	kernel.driver = call->driver_id;
	if (kernel.fails) {
		errno = kernel.fails;
		return -1;
	}
	memcpy(&kernel.attr, call->attrs, sizeof(kernel.attr));
	call->attrs[0].data_s64 = kernel.gives_fd;
	return 0;
}

static void event_file_is_asked_for_and_does_not_block(void **state)
{
	int ends[2];
	int fd = -1;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	memset(&kernel, 0, sizeof(kernel));
	kernel.gives_fd = ends[0];
	assert_int_equal(ibsa__uverbs_events_open(COMMAND_FD, DRIVER, &fd), 0);
	assert_int_equal(fd, ends[0]);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(kernel.length, sizeof(struct ib_uverbs_ioctl_hdr) +
						sizeof(kernel.attr));
	assert_int_equal(kernel.object, UVERBS_OBJECT_ASYNC_EVENT);
	assert_int_equal(kernel.method, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	assert_int_equal(kernel.attr_count, 1);
	assert_int_equal(kernel.driver, DRIVER);
	assert_int_equal(kernel.attr.attr_id,
			 UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	assert_int_equal(kernel.attr.len, 0);
	assert_int_equal(kernel.attr.flags, UVERBS_ATTR_F_MANDATORY);
	close(ends[0]);
	close(ends[1]);
}

static void error_of_the_kernel_is_passed_on(void **state)
{
	static const int errors[] = { ENOTTY, EPROTONOSUPPORT, EINVAL };
	int fd = -1;

	(void)state;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		kernel.fails = errors[i];
		assert_int_equal(ibsa__uverbs_events_open(COMMAND_FD, DRIVER,
							  &fd),
				 -errors[i]);
		assert_int_equal(fd, -1);
	}
	/* The number that the kernel returned is not an open descriptor. */
	kernel.fails = 0;
	kernel.gives_fd = 12345;
	assert_int_equal(ibsa__uverbs_events_open(COMMAND_FD, DRIVER, &fd),
			 -EBADF);
	assert_int_equal(fd, -1);
}

static void more_attributes_than_fit_are_refused(void **state)
{
	struct ib_uverbs_attr attrs[IBSA__UVERBS_ATTRS_MAX + 1] = { 0 };

	(void)state;
	assert_int_equal(ibsa__uverbs_call(COMMAND_FD, DRIVER, 0, 0, attrs,
					   IBSA__UVERBS_ATTRS_MAX + 1),
			 -EINVAL);
}

static void events_are_read_one_by_one(void **state)
{
	const struct ib_uverbs_async_event_desc events[] = {
		{ .element = 1, .event_type = 17 },
		{ .element = UINT64_MAX, .event_type = 9 },
	};
	uint64_t element;
	uint32_t type;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	assert_int_equal(write(ends[1], events, sizeof(events)),
			 sizeof(events));
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element), 0);
	assert_int_equal(type, 17);
	assert_int_equal(element, 1);
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element), 0);
	assert_int_equal(type, 9);
	assert_true(element == UINT64_MAX);
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element),
			 -EAGAIN);
	/* An incomplete event, then the end of file. */
	assert_int_equal(write(ends[1], events, 3), 3);
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element),
			 -EIO);
	close(ends[1]);
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element),
			 -EIO);
	close(ends[0]);
	assert_int_equal(ibsa__uverbs_event_read(ends[0], &type, &element),
			 -EBADF);
}

/* No machine has a device of this name; a kernel without RDMA does not have the
 * netlink family. */
static void missing_device_has_no_driver(void **state)
{
	uint32_t driver = 77;
	int err = ibsa__uverbs_driver("no such device", &driver);

	(void)state;
	assert_true(err == -ENODEV || err == -EPROTONOSUPPORT);
	assert_int_equal(driver, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_file_is_asked_for_and_does_not_block),
		cmocka_unit_test(error_of_the_kernel_is_passed_on),
		cmocka_unit_test(more_attributes_than_fit_are_refused),
		cmocka_unit_test(events_are_read_one_by_one),
		cmocka_unit_test(missing_device_has_no_driver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
