/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A device whose port 1 is a puppet. */
#include <stdio.h>

#include "base/clock.h"
#include "ib_sa/state.h"
#include "test/ib_sa/plug.h"
#include "wire/mad.h"

enum { TID_END = MAD_TID + 8 };

static int no_fd(struct ibsa_transport *transport)
{
	(void)transport;
	return -1;
}

static void no_wake(struct ibsa_transport *transport)
{
	(void)transport;
}

/* Wait operation: advance the clock by the timeout; no packet arrives. */
static int pass_time(struct ibsa_transport *transport, int timeout_ms)
{
	struct puppet *puppet = (struct puppet *)(void *)transport;

	if (timeout_ms > 0)
		puppet->now_ns += (uint64_t)timeout_ms * NS_PER_MS;
	return 0;
}

static int read_pkey(struct ibsa_transport *transport, uint32_t index,
		     uint16_t *out)
{
	const struct plug *plug = (struct plug *)(void *)transport;

	if (index >= PLUG_PKEYS)
		return -EINVAL;
	*out = plug->pkeys[index];
	return 0;
}

/* Wait operation whose system call fails. */
static int fail_to_wait(struct ibsa_transport *transport, int timeout_ms)
{
	(void)transport;
	(void)timeout_ms;
	return -EIO;
}

static uint64_t real_ns(struct ibsa_transport *transport)
{
	(void)transport;
	return clock_now_ns();
}

/* Operations that a client needs, and an engine alone does not. */
static struct ibsa_transport_ops *whole_ops(struct puppet *puppet)
{
	static struct ibsa_transport_ops ops;

	ops = *puppet->transport.ops;
	ops.fd = no_fd;
	ops.wake = no_wake;
	ops.wait = pass_time;
	ops.pkey = read_pkey;
	ops.close = no_wake;
	return &ops;
}

/* Add the port, as if it had been opened. */
static void plug_in(struct plug *plug)
{
	struct ib_device *device = plug->rig.device;
	const struct ibsa_options options = {
		.port = 1,
		.transport = &plug->puppet.transport,
		.seed = 1,
		.jitter_percent = -1,
	};
	struct sa_port *port;

	assert_int_equal(ibsa__sa_port_new(device, &options, &port), 0);
	pthread_mutex_lock(&device->sa->lock);
	assert_int_equal(ibsa__sa_loop_add(device, port), 0);
	pthread_mutex_unlock(&device->sa->lock);
}

void plug_start(struct plug *plug, const struct ibsa_port_state *port)
{
	memset(plug, 0, sizeof(*plug));
	plug->pkeys[0] = 0xffff;
	rig_start(&plug->rig);
	puppet_init(&plug->puppet);
	plug->puppet.transport.ops = whole_ops(&plug->puppet);
	if (port)
		plug->puppet.port = *port;
	plug_in(plug);
}

void plug_start_unwaitable(struct plug *plug)
{
	struct ibsa_transport_ops *ops;

	memset(plug, 0, sizeof(*plug));
	rig_start(&plug->rig);
	plug->rig.device->options.no_thread = false;
	puppet_init(&plug->puppet);
	ops = whole_ops(&plug->puppet);
	ops->wait = fail_to_wait;
	ops->now_ns = real_ns;
	plug->puppet.transport.ops = ops;
	plug_in(plug);
}

void plug_stop(struct plug *plug)
{
	ibsa_ib_device_put(plug->rig.device);
	plug->rig.device = NULL;
	rig_stop(&plug->rig);
}

void plug_run(struct plug *plug, unsigned int ms)
{
	plug->puppet.now_ns += (uint64_t)ms * NS_PER_MS;
	(void)ibsa_ib_device_dispatch(plug->rig.device);
}

void plug_answer(struct plug *plug, unsigned int n, const uint8_t *mad,
		 size_t len)
{
	const struct puppet_mad *request = puppet_sent(&plug->puppet, n);
	struct puppet_mad answer = { .len = len, .address = request->address };

	assert_true(len >= TID_END && len <= sizeof(answer.mad));
	memcpy(answer.mad, mad, len);
	memcpy(answer.mad + MAD_TID, request->mad + MAD_TID, TID_END - MAD_TID);
	puppet_deliver(&plug->puppet, &answer);
	plug_run(plug, 0);
}

size_t plug_vector(const char *file, uint8_t out[PUPPET_BYTES])
{
	char path[256];
	unsigned int byte;
	size_t len = 0;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", VECTORS, file);
	in = fopen(path, "r");
	assert_non_null(in);
	while (len < PUPPET_BYTES && fscanf(in, " %2x", &byte) == 1)
		out[len++] = (uint8_t)byte;
	assert_true(feof(in));
	fclose(in);
	return len;
}

void plug_assert_sent(const struct plug *plug, unsigned int n, const char *file)
{
	const uint8_t *sent = puppet_sent(&plug->puppet, n)->mad;
	uint8_t captured[PUPPET_BYTES];

	assert_int_equal(plug_vector(file, captured), IBSA_MAD_BYTES);
	assert_memory_equal(sent, captured, MAD_TID);
	assert_memory_equal(sent + TID_END, captured + TID_END,
			    IBSA_MAD_BYTES - TID_END);
}
