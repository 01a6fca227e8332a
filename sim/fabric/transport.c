/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A port of the fabric as a transport. Each client has a queue of its own;
 * on the real clock one timer says when something in it is due, so that the
 * timer's fd is the client's.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "sim/fabric/link.h"

static struct link *of(struct ibsa_transport *transport)
{
	return (struct link *)transport;
}

static uint64_t transport_now(struct ibsa_transport *transport)
{
	struct ibsa_fabric *fabric = of(transport)->fabric;
	uint64_t now_ns;

	pthread_mutex_lock(&fabric->lock);
	now_ns = sim_clock_now(&fabric->clock);
	pthread_mutex_unlock(&fabric->lock);
	return now_ns;
}

/* When the fd should become readable; 0: not before something is sent. */
static uint64_t wanted_alarm(const struct link *link)
{
	const uint64_t due_ns = ibsa__link_due(link);

	if (link->is_wake_pending)
		return 1;
	return due_ns == UINT64_MAX ? 0 : due_ns;
}

/*
 * Set the timer to the head of the queue. A timer that went off stays
 * readable, so between two times that have passed there is nothing to set.
 */
static void set_alarm(struct link *link)
{
	const uint64_t alarm = wanted_alarm(link);
	struct itimerspec at = { 0 };

	if (link->fd < 0 || !link->is_watched || alarm == link->alarm_ns)
		return;
	if (alarm && link->alarm_ns) {
		const uint64_t now_ns = sim_clock_now(&link->fabric->clock);

		if (alarm <= now_ns && link->alarm_ns <= now_ns)
			return;
	}
	link->alarm_ns = alarm;
	at.it_value = clock_timespec(alarm);
	timerfd_settime(link->fd, TFD_TIMER_ABSTIME, &at, NULL);
}

void ibsa__link_alert(struct link *link)
{
	set_alarm(link);
	pthread_cond_broadcast(&link->fabric->changed);
}

static int transport_send(struct ibsa_transport *transport,
			  const struct ibsa_address *to, const uint8_t *mad,
			  size_t len, unsigned int timeout_ms)
{
	struct link *link = of(transport);
	const size_t most = link->fabric->subnet.is_opa ? OPA_MAD_BYTES
							: IBSA_MAD_BYTES;
	int err;

	(void)timeout_ms;
	if (!mad || len < IBSA_SA_HEADER_BYTES || len > most)
		return -EINVAL;
	pthread_mutex_lock(&link->fabric->lock);
	err = ibsa__link_send(link, to, mad, len);
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	return err;
}

static int transport_recv(struct ibsa_transport *transport,
			  struct ibsa_message *out)
{
	struct link *link = of(transport);

	pthread_mutex_lock(&link->fabric->lock);
	if (link->received)
		ibsa__queue_release(link_pool(link), link->received);
	link->received = ibsa__link_receive(link);
	if (link->received)
		*out = (struct ibsa_message){
			.from = link->received->sa,
			.mad = link->received->body.bytes,
			.len = link->received->body.len,
		};
	else
		link->is_wake_pending = false;
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	return link->received ? 1 : 0;
}

static int transport_fd(struct ibsa_transport *transport)
{
	struct link *link = of(transport);

	pthread_mutex_lock(&link->fabric->lock);
	link->is_watched = true;
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	return link->fd;
}

static bool is_ready(struct link *link)
{
	return link->is_woken || ibsa__link_is_ready(link);
}

static int wait_real(struct link *link, int timeout_ms)
{
	struct pollfd fd = { .fd = link->fd, .events = POLLIN };
	int err = 0;

	if (is_ready(link))
		return 0;
	link->is_watched = true;
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	if (poll(&fd, 1, timeout_ms) < 0)
		err = -errno;
	pthread_mutex_lock(&link->fabric->lock);
	return err;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Time jumps to what happens next. When nothing will ever happen, another
 * thread has to make it: wake, or advance.
 */
static int wait_virtual(struct link *link, int timeout_ms)
{
	struct ibsa_fabric *fabric = link->fabric;

	while (!is_ready(link)) {
		uint64_t until = ibsa__link_due(link);

		if (timeout_ms >= 0)
			until = least(until,
				      fabric->clock.virtual_ns +
					      (uint64_t)timeout_ms * NS_PER_MS);
		if (until != UINT64_MAX) {
			fabric->clock.virtual_ns = until;
			pthread_cond_broadcast(&fabric->changed);
			return 0;
		}
		pthread_cond_wait(&fabric->changed, &fabric->lock);
	}
	return 0;
}

static int transport_wait(struct ibsa_transport *transport, int timeout_ms)
{
	struct link *link = of(transport);
	int err;

	pthread_mutex_lock(&link->fabric->lock);
	err = link->fabric->clock.is_virtual ? wait_virtual(link, timeout_ms)
					     : wait_real(link, timeout_ms);
	link->is_woken = false;
	link->is_wake_pending = false;
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	return err;
}

static void transport_wake(struct ibsa_transport *transport)
{
	struct link *link = of(transport);

	pthread_mutex_lock(&link->fabric->lock);
	link->is_woken = true;
	link->is_wake_pending = true;
	set_alarm(link);
	pthread_cond_broadcast(&link->fabric->changed);
	pthread_mutex_unlock(&link->fabric->lock);
}

static int transport_port(struct ibsa_transport *transport,
			  struct ibsa_port_state *out)
{
	struct link *link = of(transport);

	pthread_mutex_lock(&link->fabric->lock);
	ibsa__fabric_port_state(link->fabric, link->port, out);
	pthread_mutex_unlock(&link->fabric->lock);
	return 0;
}

/* The port's own GUID or an alias; 0: nothing is in the entry. */
static uint64_t guid_at(const struct link *link, uint32_t index)
{
	const struct ibsa_fabric *fabric = link->fabric;
	const uint64_t guid = fabric->subnet.topo.ports[link->port].guid;
	const struct guid_table *table;

	if (!index)
		return guid;
	table = ibsa__aliases_table(&fabric->subnet.aliases, guid);
	return table ? table->guids[index] : 0;
}

static int transport_gid(struct ibsa_transport *transport, uint32_t index,
			 struct ibsa_gid_entry *out)
{
	struct link *link = of(transport);
	uint64_t guid;

	if (index >= GUID_CAP_ADAPTER)
		return -EINVAL;
	pthread_mutex_lock(&link->fabric->lock);
	guid = guid_at(link, index);
	pthread_mutex_unlock(&link->fabric->lock);
	if (!guid)
		return -ENODATA;
	*out = (struct ibsa_gid_entry){ .index = index };
	ibsa_put_be64(out->gid.raw, link->fabric->subnet.gid_prefix);
	ibsa_put_be64(out->gid.raw + 8, guid);
	return 0;
}

static int transport_pkey(struct ibsa_transport *transport, uint32_t index,
			  uint16_t *out)
{
	struct link *link = of(transport);
	const struct end_setup *setup = &link->fabric->subnet.setups[link->end];
	int err = 0;

	pthread_mutex_lock(&link->fabric->lock);
	if (index < setup_pkey_count(setup))
		*out = setup_pkey(setup, index);
	else
		err = -EINVAL;
	pthread_mutex_unlock(&link->fabric->lock);
	return err;
}

static int transport_listen(struct ibsa_transport *transport, bool on)
{
	struct link *link = of(transport);
	int err;

	pthread_mutex_lock(&link->fabric->lock);
	ibsa__link_settle(link);
	err = ibsa__link_listen(link, on);
	set_alarm(link);
	pthread_mutex_unlock(&link->fabric->lock);
	return err;
}

/* Make it one of the fabric's clients, whom changes concern. */
static void join(struct link *link)
{
	struct ibsa_fabric *fabric = link->fabric;

	pthread_mutex_lock(&fabric->lock);
	fabric->references++;
	link->next = fabric->links;
	fabric->links = link;
	pthread_mutex_unlock(&fabric->lock);
}

static void leave(struct link *link)
{
	struct link **at = &link->fabric->links;

	pthread_mutex_lock(&link->fabric->lock);
	while (*at != link)
		at = &(*at)->next;
	*at = link->next;
	(void)ibsa__link_listen(link, false);
	pthread_mutex_unlock(&link->fabric->lock);
}

static void transport_close(struct ibsa_transport *transport)
{
	struct link *link = of(transport);

	leave(link);
	if (link->fd >= 0)
		close(link->fd);
	if (link->received)
		ibsa__queue_release(link_pool(link), link->received);
	ibsa__way_done(&link->requests);
	ibsa__way_done(&link->answers);
	ibsa_fabric_put(link->fabric);
	ibsa__free(link);
}

static const struct ibsa_transport_ops ops = {
	.now_ns = transport_now,
	.send = transport_send,
	.recv = transport_recv,
	.fd = transport_fd,
	.wait = transport_wait,
	.wake = transport_wake,
	.port = transport_port,
	.gid = transport_gid,
	.pkey = transport_pkey,
	.listen = transport_listen,
	.close = transport_close,
};

static int link_new(struct ibsa_fabric *fabric, uint32_t port,
		    struct link **out)
{
	struct link *link = ibsa__calloc(1, sizeof(*link));

	if (!link)
		return -ENOMEM;
	link->base.ops = &ops;
	link->fabric = fabric;
	link->port = port;
	link->end = fabric->subnet.topo.ports[port].end;
	link->answers.net = &fabric->net;
	link->answers.pool = &link->answers.queue;
	link->requests.net = &fabric->net;
	link->requests.pool = &link->answers.queue;
	link->listener = (struct report_listener){
		.report = ibsa__link_report,
		.receive = ibsa__link_hear,
		.arg = link,
	};
	link->fd = -1;
	if (!fabric->clock.is_virtual) {
		link->fd = timerfd_create(CLOCK_MONOTONIC,
					  TFD_CLOEXEC | TFD_NONBLOCK);
		if (link->fd < 0) {
			const int err = -errno;

			ibsa__free(link);
			return err;
		}
	}
	*out = link;
	return 0;
}

int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port, struct ibsa_transport **out)
{
	const struct topology *topo = &fabric->subnet.topo;
	struct link *link = NULL;
	uint32_t adapter;
	uint32_t index;
	int err;

	pthread_mutex_lock(&fabric->lock);
	adapter = ibsa__fabric_find_adapter(fabric, node);
	pthread_mutex_unlock(&fabric->lock);
	if (adapter == SIM_NONE || topo->nodes[adapter].type != IBSA_NODE_CA)
		return -ENODEV;
	index = ibsa__fabric_find_port(fabric, adapter, port);
	if (index == SIM_NONE)
		return -ENXIO;
	if (topo->ports[index].cable == SIM_NONE)
		return -ENETDOWN;
	err = link_new(fabric, index, &link);
	if (err)
		return err;
	join(link);
	*out = &link->base;
	return 0;
}
