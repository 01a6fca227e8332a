/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Port events of a verbs context. The device file and the kernel's event file
 * are simulated by the test, by the linker's --wrap.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <ibsa/ib_sa.h>
#include <ibsa/ibsa.h>

#include "device/uverbs.h"
#include "test/support/device_now.h"
#include "test/support/device_tree.h"
#include "umad_dev/umad.h"

enum { COMMAND_FD = 99, DRIVER = 14, PORT = 1 };

/* Results of the simulated kernel, and the test's end of the event file. */
static struct {
	int driver_err;
	int events_err;
	int end;
	bool needs_grh;
} kernel;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);
int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out);
int __wrap_ibsa__uverbs_events_open(int cmd_fd, uint32_t driver, int *out_fd);

int __wrap_open(const char *path, int flags, ...)
{
	if (!strcmp(path, "/dev/infiniband/umad0"))
		return eventfd(0, EFD_NONBLOCK);
	return __real_open(path, flags, 0);
}

/* The only request that the command file receives. */
static int answer_query_port(const struct ib_uverbs_ioctl_hdr *header)
{
	struct ib_uverbs_query_port_resp_ex answer = { 0 };

	assert_int_equal(header->object_id, UVERBS_OBJECT_DEVICE);
	assert_int_equal(header->method_id, UVERBS_METHOD_QUERY_PORT);
	assert_int_equal(header->driver_id, DRIVER);
	assert_int_equal(header->attrs[0].data, PORT);
	assert_int_equal(header->attrs[1].len, sizeof(answer));
	if (kernel.needs_grh)
		answer.legacy_resp.flags = IB_UVERBS_QPF_GRH_REQUIRED;
	memcpy((void *)(uintptr_t)header->attrs[1].data, &answer,
	       sizeof(answer));
	return 0;
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	va_list args;
	const void *argument;

	if (command != RDMA_VERBS_IOCTL)
		return 0;
	assert_int_equal(fd, COMMAND_FD);
	va_start(args, command);
	argument = va_arg(args, const void *);
	va_end(args);
	return answer_query_port(argument);
}

int __wrap_ibsa__uverbs_driver(const char *device, uint32_t *out)
{
	assert_string_equal(device, "mlx5_0");
	*out = DRIVER;
	return kernel.driver_err;
}

int __wrap_ibsa__uverbs_events_open(int cmd_fd, uint32_t driver, int *out_fd)
{
	int ends[2];

	assert_int_equal(cmd_fd, COMMAND_FD);
	assert_int_equal(driver, DRIVER);
	if (kernel.events_err)
		return kernel.events_err;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	*out_fd = ends[0];
	kernel.end = ends[1];
	return 0;
}

static struct ibsa_transport *transport_open(struct tree *tree)
{
	struct ibsa_transport *transport = NULL;

	memset(&kernel, 0, sizeof(kernel));
	kernel.end = -1;
	tree_make(tree);
	tree_add_device(tree, "mlx5_0");
	tree_add_umad(tree, 0, "mlx5_0", PORT);
	assert_int_equal(now_umad_open(NULL, 0, 4096, NULL, &transport), 0);
	return transport;
}

static void transport_close(struct ibsa_transport *transport, struct tree *tree)
{
	transport->ops->close(transport);
	close(kernel.end);
	tree_remove(tree);
}

static void event_send(uint32_t type, uint64_t element)
{
	const struct ib_uverbs_async_event_desc event = {
		.event_type = type,
		.element = element,
	};

	assert_int_equal(write(kernel.end, &event, sizeof(event)),
			 sizeof(event));
}

static bool is_readable(struct ibsa_transport *transport)
{
	struct pollfd one = {
		.fd = transport->ops->fd(transport),
		.events = POLLIN,
	};

	return poll(&one, 1, 0) == 1;
}

static uint32_t reregisters(struct ibsa_transport *transport)
{
	struct ibsa_port_state port;

	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	return port.reregisters;
}

/* Only a context tells that an InfiniBand port requires a GRH. */
static void context_tells_that_a_grh_is_needed(void **state)
{
	struct ibsa_transport *transport;
	struct ibsa_port_state port;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	kernel.needs_grh = true;
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_false(port.needs_grh);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	assert_int_equal(transport->ops->port(transport, &port, sizeof(port)),
			 0);
	assert_true(port.needs_grh);
	transport_close(transport, &tree);
}

static void event_of_the_port_says_that_it_may_have_changed(void **state)
{
	static const uint32_t types[] = {
		IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,
		IBV_EVENT_LID_CHANGE,  IBV_EVENT_PKEY_CHANGE,
		IBV_EVENT_SM_CHANGE,   IBV_EVENT_CLIENT_REREGISTER,
		IBV_EVENT_GID_CHANGE,
	};
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	assert_false(is_readable(transport));
	assert_false(transport->ops->changed(transport));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		event_send(types[i], PORT);
		assert_true(is_readable(transport));
		/* The wait has no timeout, so that only the event ends it. */
		assert_int_equal(transport->ops->wait(transport, -1), 0);
		assert_true(transport->ops->changed(transport));
		assert_false(is_readable(transport));
		assert_false(transport->ops->changed(transport));
	}
	event_send(IBV_EVENT_DEVICE_FATAL, 0);
	assert_true(transport->ops->changed(transport));
	transport_close(transport, &tree);
}

/*
 * The events of other ports include one whose element begins like the number of
 * the port.
 */
static void event_of_another_port_or_object_does_not(void **state)
{
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	event_send(IBV_EVENT_PORT_ERR, PORT + 1);
	event_send(IBV_EVENT_CLIENT_REREGISTER, PORT + 1);
	event_send(IBV_EVENT_CLIENT_REREGISTER, UINT64_C(1) << 32 | PORT);
	event_send(IBV_EVENT_QP_FATAL, PORT);
	event_send(UINT32_MAX, PORT);
	assert_false(transport->ops->changed(transport));
	assert_false(is_readable(transport));
	assert_int_equal(reregisters(transport), 0);
	transport_close(transport, &tree);
}

static void requests_to_register_again_are_counted(void **state)
{
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	assert_int_equal(reregisters(transport), 0);
	event_send(IBV_EVENT_CLIENT_REREGISTER, PORT);
	event_send(IBV_EVENT_PORT_ACTIVE, PORT);
	event_send(IBV_EVENT_CLIENT_REREGISTER, PORT);
	assert_true(transport->ops->changed(transport));
	assert_int_equal(reregisters(transport), 2);
	transport_close(transport, &tree);
}

static void end_of_the_events_is_not_the_end_of_the_rest(void **state)
{
	struct ibsa_message message;
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	event_send(IBV_EVENT_CLIENT_REREGISTER, PORT);
	close(kernel.end);
	kernel.end = -1;
	assert_true(transport->ops->changed(transport));
	assert_false(is_readable(transport));
	assert_false(transport->ops->changed(transport));
	assert_int_equal(reregisters(transport), 1);
	assert_int_equal(transport->ops->recv(transport, &message), 0);
	transport_close(transport, &tree);
}

static void unavailable_events_change_nothing(void **state)
{
	struct ibsa_transport *transport;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_false(transport->ops->changed(transport));
	kernel.driver_err = -ENODATA;
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), -ENODATA);
	kernel.driver_err = 0;
	kernel.events_err = -ENOTTY;
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), -ENOTTY);
	assert_false(transport->ops->changed(transport));
	kernel.events_err = 0;
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), 0);
	assert_int_equal(ibsa__umad_events(transport, COMMAND_FD), -EBUSY);
	transport_close(transport, &tree);
}

/* A context of the device, as libibverbs would create it. */
static struct ibv_context context_of(struct ibv_device *device, int cmd_fd)
{
	return (struct ibv_context){ .device = device, .cmd_fd = cmd_fd };
}

static void context_names_the_device_of_a_client(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = context_of(&device, COMMAND_FD);
	struct ibsa_options options = { .context = &context };
	struct ibsa_transport *transport;
	struct ibsa_port_state port;
	struct ibsa_client *client;
	struct ibsa_error error;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	options.device = "mlx5_1";
	assert_int_equal(ibsa_open(&options, &error, &client), -EINVAL);
	assert_non_null(
		strstr(error.text,
		       "is of device mlx5_0, but the option device is mlx5_1"));
	options.device = NULL;
	tree_add_device(&tree, "a_first_one");
	assert_int_equal(ibsa_open(&options, &error, &client), 0);
	event_send(IBV_EVENT_CLIENT_REREGISTER, PORT);
	assert_int_equal(ibsa_dispatch(client), 0);
	assert_int_equal(ibsa_port_get(client, false, &port), 0);
	assert_int_equal(port.reregisters, 1);
	assert_int_equal(ibsa_close(client), 0);
	transport_close(transport, &tree);
}

static void context_names_the_device_of_ib_sa(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = context_of(&device, -1);
	const struct ibsa_ib_device_options options = {
		.context = &context,
		.no_thread = true,
	};
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct ibsa_transport *transport;
	struct ib_sa_client client;
	struct ib_device *opened;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	tree_add_device(&tree, "a_first_one");
	assert_int_equal(ibsa_ib_device_open(&options, NULL, &opened), 0);
	ib_sa_register_client(&client);
	assert_true(ib_sa_path_rec_get(&client, opened, PORT, &path, 0, 100, 0,
				       NULL, NULL, NULL) >= 0);
	ibsa_ib_device_put(opened);
	ib_sa_unregister_client(&client);
	transport_close(transport, &tree);
}

/* The fabric in the environment is used only if the options name nothing. */
static void context_is_a_device_whatever_the_environment_says(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = context_of(&device, -1);
	struct ibsa_options options = { .context = &context };
	struct ibsa_transport *transport;
	struct ibsa_client *client;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(setenv("IBSA_FABRIC", "/no/such/fabric", 1), 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_close(client), 0);
	options.fabric = "/no/such/fabric";
	assert_int_equal(ibsa_open(&options, NULL, &client), -ENOENT);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
	transport_close(transport, &tree);
}

/* A context without a kernel device has no events, and causes no error. */
static void context_without_command_file_is_taken(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = context_of(&device, -1);
	const struct ibsa_options options = { .context = &context };
	struct ibsa_transport *transport;
	struct ibsa_client *client;
	struct tree tree;

	(void)state;
	transport = transport_open(&tree);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(kernel.end, -1);
	assert_int_equal(ibsa_close(client), 0);
	transport_close(transport, &tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_tells_that_a_grh_is_needed),
		cmocka_unit_test(
			event_of_the_port_says_that_it_may_have_changed),
		cmocka_unit_test(event_of_another_port_or_object_does_not),
		cmocka_unit_test(requests_to_register_again_are_counted),
		cmocka_unit_test(end_of_the_events_is_not_the_end_of_the_rest),
		cmocka_unit_test(unavailable_events_change_nothing),
		cmocka_unit_test(context_names_the_device_of_a_client),
		cmocka_unit_test(context_names_the_device_of_ib_sa),
		cmocka_unit_test(
			context_is_a_device_whatever_the_environment_says),
		cmocka_unit_test(context_without_command_file_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
