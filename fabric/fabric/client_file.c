/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The umad file of a client in the same process as the fabric. On the real
 * clock, the file has a timer whose fd the client polls: it expires when a
 * packet can be received. On a virtual clock, a wait moves the time forward.
 */
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "fabric/fabric/fabric.h"
#include "umad/transport.h"

/*
 * A umad file of a client in the same process. The fabric's lock guards all
 * members that change.
 */
struct client_file {
	struct umad_file base;
	struct umad_transport transport;
	struct ibsa_fabric *fabric;
	struct port_file *file;
	uint32_t port; /* index in the topology */
	/* Descriptor of the file's timer; -1 on a virtual clock. */
	int fd;
	/*
	 * Time of the fabric's clock to which the file's timer is set; 0: the
	 * timer is off.
	 */
	uint64_t alarm_ns;
	bool is_watched;      /* a program may poll the fd */
	bool is_waiting;      /* a wait polls the fd */
	bool is_woken;	      /* until the next wait ends */
	bool is_wake_pending; /* until receive finds nothing */
};

static struct client_file *client_file_of(struct umad_file *file)
{
	return (struct client_file *)file;
}

static void file_lock(struct client_file *file)
{
	pthread_mutex_lock(&file->fabric->lock);
}

static void file_unlock(struct client_file *file)
{
	pthread_mutex_unlock(&file->fabric->lock);
}

/*
 * Return: the time at which the file's fd becomes readable; 0: not before
 * another MAD is sent.
 */
static uint64_t wanted_alarm(const struct client_file *file)
{
	uint64_t due_ns;

	if (file->is_wake_pending || ibsa__port_file_is_readable(file->file))
		return 1;
	due_ns = ibsa__port_file_due(file->file);
	return due_ns == UINT64_MAX ? 0 : due_ns;
}

/*
 * If the timer has expired and would expire at once again, it is not set: an
 * expired timer stays readable.
 */
static void file_set_alarm(struct client_file *file)
{
	struct itimerspec at = { 0 };
	uint64_t alarm;

	if (!file->is_watched && !file->is_waiting)
		return;
	alarm = wanted_alarm(file);
	if (alarm == file->alarm_ns)
		return;
	if (alarm && file->alarm_ns) {
		const uint64_t now_ns = clock_now_ns();

		if (alarm <= now_ns && file->alarm_ns <= now_ns)
			return;
	}
	file->alarm_ns = alarm;
	at.it_value = clock_timespec(alarm);
	timerfd_settime(file->fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/*
 * The umad file calls this function when a packet can be read, or when a MAD
 * was sent that will arrive later; see ibsa__port_file_open(). Set the timer; on
 * a virtual clock, wake the threads that wait.
 */
static void file_become_ready(void *arg)
{
	struct client_file *file = arg;

	file_set_alarm(file);
	if (file->fd < 0)
		pthread_cond_broadcast(&file->fabric->changed);
}

static int file_register(struct umad_file *base,
			 struct umad_agent_request *request)
{
	const struct umad_agent_request2 newer =
		ibsa__umad_request_renew(request);
	struct agent_request agent = agent_request_of(&newer);
	struct client_file *file = client_file_of(base);
	int err;

	file_lock(file);
	/*
	 * Deliver the MADs that have already arrived before the new agent
	 * exists: they are not for it.
	 */
	ibsa__port_file_settle(file->file);
	err = ibsa__port_file_register(file->file, &agent);
	file_unlock(file);
	if (!err)
		request->id = agent.id;
	return err;
}

static int file_unregister(struct umad_file *base, uint32_t agent)
{
	struct client_file *file = client_file_of(base);
	int err;

	file_lock(file);
	ibsa__port_file_settle(file->file);
	err = ibsa__port_file_unregister(file->file, agent);
	file_unlock(file);
	return err;
}

static int file_send(struct umad_file *base, const void *packet, size_t len)
{
	struct client_file *file = client_file_of(base);
	int err;

	file_lock(file);
	err = ibsa__port_file_write(file->file, packet, len);
	file_set_alarm(file);
	file_unlock(file);
	return err;
}

/*
 * Receive packets. If a program polls the fd, return one packet in each call:
 * the fd stays readable while there are more.
 */
static int file_receive(struct umad_file *base, struct umad_buffer *buffers,
			size_t count)
{
	struct client_file *file = client_file_of(base);
	size_t got;

	file_lock(file);
	if (!ibsa__port_file_is_readable(file->file))
		ibsa__port_file_settle(file->file);
	got = ibsa__port_file_receive(file->file, buffers,
				      file->is_watched ? 1 : count);
	if (!got)
		file->is_wake_pending = false;
	file_set_alarm(file);
	file_unlock(file);
	return got ? (int)got : -EAGAIN;
}

static int file_fd(struct umad_file *base)
{
	struct client_file *file = client_file_of(base);

	file_lock(file);
	file->is_watched = file->fd >= 0;
	file_set_alarm(file);
	file_unlock(file);
	return file->fd;
}

static bool file_is_ready(struct client_file *file)
{
	if (file->is_woken || ibsa__port_file_is_readable(file->file))
		return true;
	ibsa__port_file_settle(file->file);
	return ibsa__port_file_is_readable(file->file);
}

static int wait_real(struct client_file *file, int timeout_ms)
{
	struct pollfd fd = { .fd = file->fd, .events = POLLIN };
	int err = 0;

	if (file_is_ready(file))
		return 0;
	file->is_waiting = true;
	file_set_alarm(file);
	file_unlock(file);
	if (poll(&fd, 1, timeout_ms) < 0)
		err = -errno;
	file_lock(file);
	file->is_waiting = false;
	return err;
}

/*
 * Wait on a virtual clock: the time moves to the next event. Without an event,
 * the wait lasts until another thread wakes the client, sends a MAD or
 * advances the clock.
 */
static int wait_virtual(struct client_file *file, int timeout_ms)
{
	struct ibsa_fabric *fabric = file->fabric;
	uint64_t *now_ns = &fabric->clock.virtual_ns;
	uint64_t end_ns = UINT64_MAX;

	if (timeout_ms >= 0)
		end_ns = *now_ns + (uint64_t)timeout_ms * NS_PER_MS;
	while (!file_is_ready(file)) {
		const uint64_t due_ns = ibsa__port_file_due(file->file);
		const uint64_t next_ns = due_ns < end_ns ? due_ns : end_ns;

		if (next_ns == UINT64_MAX) {
			pthread_cond_wait(&fabric->changed, &fabric->lock);
			continue;
		}
		if (*now_ns < next_ns)
			*now_ns = next_ns;
		pthread_cond_broadcast(&fabric->changed);
		if (next_ns == end_ns)
			return 0;
	}
	return 0;
}

static int file_wait(struct umad_file *base, int timeout_ms)
{
	struct client_file *file = client_file_of(base);
	int err;

	file_lock(file);
	err = file->fd < 0 ? wait_virtual(file, timeout_ms)
			   : wait_real(file, timeout_ms);
	file->is_woken = false;
	file->is_wake_pending = false;
	file_set_alarm(file);
	file_unlock(file);
	return err;
}

static void file_wake(struct umad_file *base)
{
	struct client_file *file = client_file_of(base);

	file_lock(file);
	file->is_woken = true;
	file->is_wake_pending = true;
	file_become_ready(file);
	file_unlock(file);
}

static uint64_t file_now(struct umad_file *base)
{
	struct client_file *file = client_file_of(base);
	uint64_t now_ns;

	if (file->fd >= 0)
		return clock_now_ns();
	file_lock(file);
	now_ns = file->fabric->clock.virtual_ns;
	file_unlock(file);
	return now_ns;
}

static int file_port(struct umad_file *base, struct ibsa_port_state *out)
{
	struct client_file *file = client_file_of(base);

	file_lock(file);
	ibsa__fabric_port_state(file->fabric, file->port, out);
	file_unlock(file);
	return 0;
}

static int file_gid(struct umad_file *base, uint32_t index,
		    struct ibsa_gid_entry *out)
{
	struct client_file *file = client_file_of(base);
	const struct subnet *subnet = fabric_subnet_of(file->fabric,
						       file->port);
	uint64_t guid;

	if (index >= GUID_CAP_ADAPTER)
		return -EINVAL;
	file_lock(file);
	guid = ibsa__aliases_guid_at(
		&subnet->aliases, subnet->topo.ports[file->port].guid, index);
	file_unlock(file);
	if (!guid)
		return -ENODATA;
	*out = (struct ibsa_gid_entry){ .index = index };
	ibsa_put_be64(out->gid.raw, subnet->gid_prefix);
	ibsa_put_be64(out->gid.raw + 8, guid);
	return 0;
}

static int file_pkey(struct umad_file *base, uint32_t index, uint16_t *out)
{
	struct client_file *file = client_file_of(base);
	const struct subnet *subnet = fabric_subnet_of(file->fabric,
						       file->port);
	const struct end_setup *setup;
	int err = 0;

	file_lock(file);
	setup = &subnet->setups[subnet->topo.ports[file->port].end];
	if (index < setup_pkey_count(setup))
		*out = setup_pkey(setup, index);
	else
		err = -EINVAL;
	file_unlock(file);
	return err;
}

static int file_open(struct umad_file *base, bool *out_is_other)
{
	struct client_file *file = client_file_of(base);
	int err = 0;

	(void)out_is_other;
	file_lock(file);
	if (!file->file)
		err = ibsa__port_file_open(
			&fabric_part_of(file->fabric, file->port)->files,
			file->port, file_become_ready, file, &file->file);
	file_unlock(file);
	return err;
}

static void file_shut(struct umad_file *base, bool is_gone)
{
	struct client_file *file = client_file_of(base);

	(void)is_gone;
	file_lock(file);
	ibsa__port_file_close(file->file);
	file->file = NULL;
	file_unlock(file);
}

static void file_inherited(struct umad_file *base)
{
	if (client_file_of(base)->fd >= 0)
		close(client_file_of(base)->fd);
}

static void file_close(struct umad_file *base)
{
	struct client_file *file = client_file_of(base);

	file_shut(base, false);
	file_inherited(base);
	ibsa_fabric_put(file->fabric);
	ibsa__free(file);
}

static const struct umad_file_ops client_file_ops = {
	.register_agent = file_register,
	.unregister_agent = file_unregister,
	.send = file_send,
	.receive = file_receive,
	.fd = file_fd,
	.close = file_close,
	.open = file_open,
	.shut = file_shut,
	.wait = file_wait,
	.wake = file_wake,
	.now_ns = file_now,
	.port = file_port,
	.gid = file_gid,
	.pkey = file_pkey,
	.inherited = file_inherited,
	.has_large_mads = true,
};

static int timer_open(struct client_file *file)
{
	if (file->fabric->clock.is_virtual)
		return 0;
	file->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return file->fd < 0 ? -errno : 0;
}

static int client_file_new(struct ibsa_fabric *fabric, uint32_t port,
			   struct client_file **out)
{
	struct client_file *file = ibsa__calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->base.ops = &client_file_ops;
	file->fabric = fabric;
	file->port = port;
	file->fd = -1;
	err = ibsa__umad_transport_init(&file->transport, &file->base, 0);
	if (err) {
		ibsa__free(file);
		return err;
	}
	file_lock(file);
	fabric->references++;
	file_unlock(file);
	file->transport.link = fabric->first.subnet.is_opa
				       ? IBSA_LINK_OPA
				       : IBSA_LINK_INFINIBAND;
	*out = file;
	return 0;
}

static int client_file_open(struct ibsa_fabric *fabric, uint32_t port,
			    struct ibsa_transport **out)
{
	struct client_file *file;
	struct ibsa_transport *transport;
	bool is_other;
	int err = client_file_new(fabric, port, &file);

	if (err)
		return err;
	transport = &file->transport.base;
	err = timer_open(file);
	if (!err)
		err = file_open(&file->base, &is_other);
	if (!err)
		err = ibsa__umad_up(&file->transport, -1);
	if (err)
		transport->ops->close(transport);
	else
		*out = transport;
	return err;
}

int ibsa_fabric_attach(struct ibsa_fabric *fabric, const char *node,
		       unsigned int port, struct ibsa_transport **out)
{
	const struct topology *topo = &fabric->first.subnet.topo;
	uint32_t adapter;
	uint32_t index;

	if (!ibsa__fabric_is_ours(fabric))
		return -EINVAL;
	pthread_mutex_lock(&fabric->lock);
	adapter = ibsa__fabric_find_adapter(fabric, node);
	pthread_mutex_unlock(&fabric->lock);
	if (adapter == NO_INDEX || topo->nodes[adapter].type != IBSA_NODE_CA)
		return -ENODEV;
	index = ibsa__fabric_find_port(fabric, adapter, port);
	if (index == NO_INDEX)
		return -ENXIO;
	if (topo->ports[index].cable == NO_INDEX)
		return -ENETDOWN;
	return client_file_open(fabric, index, out);
}
