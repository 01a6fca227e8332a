/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The async fd of a context of libibverbs. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ib_sa/device.h"
#include "test/verbs/async_rig.h"

struct async_world world;

int __real_ibsa__sa_device_get(const struct ibsa_ib_device_options *options,
			       const struct ibsa__environment *environment,
			       enum sa_users users, struct ib_device **out);
int __wrap_ibsa__sa_device_get(const struct ibsa_ib_device_options *options,
			       const struct ibsa__environment *environment,
			       enum sa_users users, struct ib_device **out);

/* The device of the context is node1 of the fabric. */
int __wrap_ibsa__sa_device_get(const struct ibsa_ib_device_options *options,
			       const struct ibsa__environment *environment,
			       enum sa_users users, struct ib_device **out)
{
	const struct ibsa_ib_device_options on_fabric = {
		.name = "node1",
		.on = world.rig.fabric,
	};

	world.asked = *options;
	return __real_ibsa__sa_device_get(&on_fabric, environment, users, out);
}

int __real_ibsa_device_watch_start_sized(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	const struct ibsa_event_options *options, size_t size,
	ibsa_event_fn happened, void *arg, struct ibsa_device_watch **out);
int __wrap_ibsa_device_watch_start_sized(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	const struct ibsa_event_options *options, size_t size,
	ibsa_event_fn happened, void *arg, struct ibsa_device_watch **out);

/* With watch_err, a watch ends with this error, which no fabric causes. */
int __wrap_ibsa_device_watch_start_sized(
	struct ib_sa_client *client, struct ib_device *device, uint8_t port_num,
	const struct ibsa_event_options *options, size_t size,
	ibsa_event_fn happened, void *arg, struct ibsa_device_watch **out)
{
	const struct ibsa_event last = { .kind = IBSA_EVENT_ENDED,
					 .err = world.watch_err };

	if (!world.watch_err)
		return __real_ibsa_device_watch_start_sized(client, device,
							    port_num, options,
							    size, happened, arg,
							    out);
	*out = NULL;
	happened(&last, arg);
	return 0;
}

int async_setup(void **state)
{
	int ends[2];

	(void)state;
	memset(&world, 0, sizeof(world));
	tree_make(&world.tree);
	tree_add_device(&world.tree, "mlx5_0");
	verbs_rig_start(&world.rig, false);
	world.library = dlopen(STUB, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(world.library);
	world.seen = dlsym(world.library, "stub_seen");
	memset(world.seen, 0, sizeof(*world.seen));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(world.device.name, sizeof(world.device.name), "mlx5_0");
	world.context.device = &world.device;
	world.context.cmd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	world.context.async_fd = world.number = ends[0];
	world.writer = ends[1];
	return 0;
}

int async_teardown(void **state)
{
	(void)state;
	assert_int_equal(ibv_close_device(&world.context), 0);
	assert_int_equal(world.seen->closed, 1);
	assert_true(world.seen->closed_is_pipe);
	close(world.writer);
	dlclose(world.library);
	verbs_rig_stop(&world.rig);
	tree_remove(&world.tree);
	return 0;
}

#undef ibv_async_event
void async_device_event(enum ibv_event_type type, int port)
{
	const struct ibv_async_event event = {
		.event_type = type,
		.element.port_num = port,
	};

	assert_int_equal(write(world.writer, &event, sizeof(event)),
			 sizeof(event));
}
#define ibv_async_event ibsa_async_event

bool async_is_readable(int timeout_ms)
{
	struct pollfd file = { .fd = world.number, .events = POLLIN };

	return poll(&file, 1, timeout_ms) == 1;
}

struct ibv_async_event async_next(void)
{
	struct ibv_async_event event = { 0 };

	assert_true(async_is_readable(PATIENCE_MS));
	assert_int_equal(ibv_get_async_event(&world.context, &event), 0);
	assert_int_equal(world.context.async_fd, world.number);
	return event;
}

void async_expect_device(enum ibv_event_type type, int port)
{
	const int acked = world.seen->acked;
	struct ibv_async_event event = async_next();

	assert_int_equal(event.event_type, type);
	assert_int_equal(event.element.port_num, port);
	ibv_ack_async_event(&event);
	assert_int_equal(world.seen->acked, acked + 1);
	assert_int_equal(world.seen->acked_type, type);
}

void async_expect_sm(int type)
{
	const int acked = world.seen->acked;
	struct ibv_async_event event = async_next();

	assert_int_equal(event.event_type, type);
	ibv_ack_async_event(&event);
	assert_int_equal(world.seen->acked, acked);
}

void async_add(void)
{
	assert_int_equal(ibv_register_sm_events(&world.context,
						IBV_SM_EVENT_UGID_ALL, 0, NULL),
			 0);
}

void async_drop(void)
{
	assert_int_equal(ibv_unregister_sm_events(&world.context,
						  IBV_SM_EVENT_UGID_ALL, 0,
						  NULL),
			 0);
}

bool async_is_pipe(int fd)
{
	struct stat file;

	assert_int_equal(fstat(fd, &file), 0);
	return S_ISFIFO(file.st_mode);
}
