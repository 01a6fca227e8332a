/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "base/clock.h"
#include "client/split.h"
#include "base/sized.h"
#include "remote/transport.h"
#include "umad/transport.h"
#include "wire/mad.h"

/* The longest wait for a server that does not answer. */
enum { PATIENCE_MS = 1000 };

/*
 * @reports:     while the transport listens there; otherwise NULL
 * @reregisters: events of the port at servers; @counted: the value of @reports
 *               that is counted already
 * @epoll_fd:    the descriptors of both
 */
struct split {
	struct ibsa_transport base;
	struct ibsa_transport *device;
	struct ibsa_transport *reports;
	struct remote_address address;
	uint32_t reregisters;
	uint32_t counted;
	bool has_changed;
	int epoll_fd;
	int wake_fd;
};

static struct split *split_of(struct ibsa_transport *transport)
{
	return (struct split *)(void *)transport;
}

static uint64_t split_now(struct ibsa_transport *transport)
{
	const struct split *split = split_of(transport);

	return split->device->ops->now_ns(split->device);
}

/* Whether a MAD is a Set of InformInfo, or the answer to a Report. */
static bool is_about_reports(const uint8_t *mad, size_t len)
{
	if (len < MAD_HEADER_BYTES || mad[MAD_CLASS] != IBSA_CLASS_SA)
		return false;
	return mad[MAD_METHOD] == IBSA_METHOD_REPORT_RESP ||
	       (mad[MAD_METHOD] == IBSA_METHOD_SET &&
		ibsa_be16(mad + MAD_ATTRIBUTE) ==
			ibsa_inform_info_record.attribute);
}

static int split_send(struct ibsa_transport *transport,
		      const struct ibsa_address *to, const uint8_t *mad,
		      size_t len, unsigned int timeout_ms)
{
	const struct split *split = split_of(transport);
	struct ibsa_transport *used = split->device;
	int err;

	if (split->reports && is_about_reports(mad, len))
		used = split->reports;
	err = used->ops->send(used, to, mad, len, timeout_ms);
	/* While the server is gone, the device still works. */
	return used == split->reports && err == -ENODEV ? -EAGAIN : err;
}

static int split_recv(struct ibsa_transport *transport,
		      struct ibsa_message *out)
{
	struct split *split = split_of(transport);
	int got = 0;

	if (split->reports) {
		got = split->reports->ops->recv(split->reports, out);
		split->has_changed |= got < 0;
	}
	return got > 0 ? got : split->device->ops->recv(split->device, out);
}

static int split_fd(struct ibsa_transport *transport)
{
	return split_of(transport)->epoll_fd;
}

static int split_wait(struct ibsa_transport *transport, int timeout_ms)
{
	const struct split *split = split_of(transport);
	struct pollfd fds[] = {
		{ .fd = split->wake_fd, .events = POLLIN },
		{ .fd = split->epoll_fd, .events = POLLIN },
	};

	timeout_ms = sooner_ms(timeout_ms, ibsa__umad_pause_ms(split->device));
	if (split->reports)
		timeout_ms = sooner_ms(timeout_ms,
				       ibsa__umad_pause_ms(split->reports));
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), timeout_ms) < 0)
		return -errno;
	return fds[0].revents ? fd_wake_reset(split->wake_fd) : 0;
}

static void split_wake(struct ibsa_transport *transport)
{
	fd_wake(split_of(transport)->wake_fd);
}

/*
 * Return: how many reregister events the servers have shown, while this
 * transport was connected.
 */
static uint32_t reregisters_count(struct split *split)
{
	struct ibsa_port_state state = { .lid = 0 };

	if (split->reports &&
	    !split->reports->ops->port(split->reports, &state, sizeof(state))) {
		split->reregisters += state.reregisters - split->counted;
		split->counted = state.reregisters;
	}
	return split->reregisters;
}

static int split_port(struct ibsa_transport *transport,
		      struct ibsa_port_state *out, size_t size)
{
	struct split *split = split_of(transport);
	struct ibsa_port_state state = { .lid = 0 };
	const int err = split->device->ops->port(split->device, &state,
						 sizeof(state));

	if (err)
		return err;
	state.reregisters += reregisters_count(split);
	ibsa__sized_write(out, size, &state, sizeof(state));
	return 0;
}

static bool split_changed(struct ibsa_transport *transport)
{
	struct split *split = split_of(transport);
	bool has_changed = split->device->ops->changed(split->device);

	if (split->reports)
		has_changed = split->reports->ops->changed(split->reports) ||
			      has_changed;
	has_changed = has_changed || split->has_changed;
	split->has_changed = false;
	return has_changed;
}

static bool split_holds(struct ibsa_transport *transport)
{
	const struct split *split = split_of(transport);

	return split->device->ops->holds(split->device);
}

static int split_gid(struct ibsa_transport *transport, uint32_t index,
		     struct ibsa_gid_entry *out)
{
	const struct split *split = split_of(transport);

	return split->device->ops->gid(split->device, index, out);
}

static int split_pkey(struct ibsa_transport *transport, uint32_t index,
		      uint16_t *out)
{
	const struct split *split = split_of(transport);

	return split->device->ops->pkey(split->device, index, out);
}

/* Connect to the server. Return: 0; or -errno: there is none. */
static int reports_open(struct split *split)
{
	struct remote_address address = split->address;
	struct ibsa_port_state state = { .lid = 0 };
	struct ibsa_transport *reports;
	int err;

	address.patience_ms = PATIENCE_MS;
	err = ibsa__remote_open(&address, IBSA_MAD_BYTES, NULL, &reports);
	if (err)
		return err;
	err = reports->ops->port(reports, &state, sizeof(state));
	if (!err)
		err = fd_watch(split->epoll_fd, reports->ops->fd(reports));
	if (err) {
		reports->ops->close(reports);
		return err;
	}
	split->reports = reports;
	split->counted = state.reregisters;
	return 0;
}

static void reports_close(struct split *split)
{
	struct ibsa_transport *reports = split->reports;

	if (!reports)
		return;
	epoll_ctl(split->epoll_fd, EPOLL_CTL_DEL, reports->ops->fd(reports),
		  NULL);
	reports->ops->close(reports);
	split->reports = NULL;
}

static int split_listen(struct ibsa_transport *transport, bool on)
{
	struct split *split = split_of(transport);

	if (on && !split->reports)
		(void)!reports_open(split);
	if (!split->reports)
		return split->device->ops->listen(split->device, on);
	if (on)
		return split->reports->ops->listen(split->reports, true);
	reports_close(split);
	return 0;
}

static bool split_holder(struct ibsa_transport *transport,
			 struct ibsa_error *out)
{
	const struct split *split = split_of(transport);
	struct ibsa_transport *used = split->reports ? split->reports
						     : split->device;

	return used->ops->holder(used, out);
}

static void split_inherited(struct ibsa_transport *transport)
{
	struct split *split = split_of(transport);

	if (split->reports)
		split->reports->ops->inherited(split->reports);
	split->device->ops->inherited(split->device);
	fd_close(&split->epoll_fd);
	fd_close(&split->wake_fd);
}

static void split_close(struct ibsa_transport *transport)
{
	struct split *split = split_of(transport);

	reports_close(split);
	if (split->device)
		split->device->ops->close(split->device);
	fd_close(&split->epoll_fd);
	fd_close(&split->wake_fd);
	ibsa__free(split);
}

static const struct ibsa_transport_ops split_ops = {
	.size = sizeof(split_ops),
	.now_ns = split_now,
	.send = split_send,
	.recv = split_recv,
	.fd = split_fd,
	.wait = split_wait,
	.wake = split_wake,
	.port = split_port,
	.close = split_close,
	.holds = split_holds,
	.changed = split_changed,
	.gid = split_gid,
	.pkey = split_pkey,
	.listen = split_listen,
	.holder = split_holder,
	.inherited = split_inherited,
};

int ibsa__split_new(struct ibsa_transport *device,
		    const struct remote_address *address,
		    struct ibsa_transport **out)
{
	struct split *split = ibsa__calloc(1, sizeof(*split));
	int err = 0;

	if (!split)
		return -ENOMEM;
	split->base.ops = &split_ops;
	split->address = *address;
	split->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	split->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (split->epoll_fd < 0 || split->wake_fd < 0)
		err = -errno;
	if (!err)
		err = fd_watch(split->epoll_fd, device->ops->fd(device));
	if (err) {
		split_close(&split->base);
		return err;
	}
	split->device = device;
	*out = &split->base;
	return 0;
}
