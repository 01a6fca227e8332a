/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The object of which a process has only one: it holds the lock, the open
 * devices, the ids of tasks, and the multicast members. The object exists while
 * a client is registered or a device is open.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/clock_cond.h"
#include "base/registry.h"
#include "ib_sa/state.h"

/*
 * Name of the process-wide object in the registry. No other entry of the
 * registry has this name; fabrics have the paths of their files.
 */
static const char name[] = "//ib_sa";

static int sa_new(const char *unused_name, void *unused_arg, void **out)
{
	struct ibsa__sa *sa = ibsa__calloc(1, sizeof(*sa));

	(void)unused_name;
	(void)unused_arg;
	if (!sa)
		return -1;
	sa->process = ibsa__process();
	pthread_mutex_init(&sa->lock, NULL);
	clock_cond_init(&sa->ended);
	list_init(&sa->devices);
	list_init(&sa->members);
	ibsa__pool_init(&sa->queries, sizeof(struct sa_query));
	/*
	 * A program may still have tickets from an earlier process-wide
	 * object, so the tickets of a new one do not begin at 1.
	 */
	sa->tasks.first_ticket = (uintptr_t)clock_now_ns();
	*out = sa;
	return 0;
}

static void sa_destroy(void *object)
{
	struct ibsa__sa *sa = object;

	ibsa__pool_done(&sa->queries);
	ibsa__free(sa->tasks.slots);
	pthread_cond_destroy(&sa->ended);
	pthread_mutex_destroy(&sa->lock);
	ibsa__free(sa);
}

struct ibsa__sa *ibsa__sa_get(void)
{
	void *sa;

	return ibsa__registry_get(name, sa_new, NULL, &sa) ? NULL : sa;
}

struct ibsa__sa *ibsa__sa_find(void)
{
	return ibsa__registry_find(name);
}

void ibsa__sa_put(struct ibsa__sa *sa)
{
	ibsa__registry_put(sa, sa_destroy);
}

bool ibsa__sa_is_ours(const struct ibsa__sa *sa)
{
	return sa->process == ibsa__process();
}

void ib_sa_register_client(struct ib_sa_client *client)
{
	*client = (struct ib_sa_client){ .sa = ibsa__sa_get(), .users = 1 };
}

/*
 * Whether the process has a device that no thread dispatches and that has no
 * worker.
 */
static bool has_idle_device(const struct ibsa__sa *sa)
{
	const struct ib_device *device;

	LIST_EACH(device, &sa->devices, link) {
		if (ibsa__sa_loop_is_idle(device))
			return true;
	}
	return false;
}

static void client_await_end(struct ibsa__sa *sa, struct ib_sa_client *client)
{
	uint32_t at = 0;

	ibsa__sa_tasks_release(&sa->tasks, client, false);
	while (client->users > 1) {
		struct ib_device *device = NULL;

		if (has_idle_device(sa))
			device = ibsa__sa_tasks_take(&sa->tasks, client, &at);
		if (!device) {
			pthread_cond_wait(&sa->ended, &sa->lock);
			continue;
		}
		pthread_mutex_unlock(&sa->lock);
		(void)ibsa__sa_loop_wait(device, -1);
		pthread_mutex_lock(&sa->lock);
	}
}

void ib_sa_unregister_client(struct ib_sa_client *client)
{
	struct ibsa__sa *sa = client->sa;

	if (sa && ibsa__sa_is_ours(sa)) {
		pthread_mutex_lock(&sa->lock);
		ibsa__mc_members_end(sa, client);
		/*
		 * A callback cannot wait for the end of the client's queries:
		 * they continue without the client.
		 */
		if (ibsa__sa_in_callback(sa))
			ibsa__sa_tasks_release(&sa->tasks, client, true);
		else
			client_await_end(sa, client);
		pthread_mutex_unlock(&sa->lock);
		ibsa__sa_put(sa);
	}
	*client = (struct ib_sa_client){ .sa = NULL };
}
