/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * With the kernel's names: the path to one of several GIDs, such as the
 * replicas of a server. Queries the paths to all GIDs at once, uses the first
 * path that arrives, and cancels the other queries.
 *
 *	cc kernel_path.c $(pkg-config --cflags --libs ibsa) -o kernel_path
 *	./kernel_path GID...
 *
 * Callbacks run in a thread of the library.
 */
#include <ibsa/ib_sa.h>
#include <ibsa/text.h>

#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RUNNERS_MAX = 16, TIMEOUT_MS = 5000 };

struct race;

/* One query; must exist until its callback has run. */
struct runner {
	struct race *race;
	const char *gid;
	struct sa_path_rec path;
	struct ib_sa_query *query;
	int id;
};

/* Shared by the callbacks and the main thread. */
struct race {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct runner *winner;
	int running;
	struct runner runners[RUNNERS_MAX];
};

/* Called once for each query; @resp is valid only if @status is 0. */
static void path_arrived(int status, struct sa_path_rec *resp, void *context)
{
	struct runner *runner = context;
	struct race *race = runner->race;

	pthread_mutex_lock(&race->lock);
	race->running--;
	if (status == 0 && !race->winner) {
		runner->path = *resp;
		race->winner = runner;
	}
	pthread_cond_signal(&race->changed);
	pthread_mutex_unlock(&race->lock);
}

/* Return: the query's id, which may be 0, or a negative errno. */
static int path_query(struct runner *runner, struct ib_sa_client *client,
		      const struct ib_gid_attr *from, const struct ibsa_gid *to)
{
	struct sa_path_rec want = {
		.sgid = from->gid,
		.reversible = 1,
		.numb_path = 1,
	};

	memcpy(&want.dgid, to, sizeof(want.dgid));
	return ib_sa_path_rec_get(
		client, from->device, (uint8_t)from->port_num, &want,
		IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
			IB_SA_PATH_REC_REVERSIBLE | IB_SA_PATH_REC_NUMB_PATH,
		TIMEOUT_MS, 0, path_arrived, runner, &runner->query);
}

/* Callbacks may run while later queries are still being submitted. */
static void paths_query(struct race *race, struct ib_sa_client *client,
			const struct ib_gid_attr *from,
			const struct ibsa_gid *gids)
{
	for (int i = 0; race->runners[i].gid; i++) {
		struct runner *runner = &race->runners[i];

		pthread_mutex_lock(&race->lock);
		race->running++;
		pthread_mutex_unlock(&race->lock);
		runner->id = path_query(runner, client, from, &gids[i]);
		if (runner->id >= 0)
			continue;
		fprintf(stderr, "%s: %s\n", runner->gid, strerror(-runner->id));
		pthread_mutex_lock(&race->lock);
		race->running--;
		pthread_mutex_unlock(&race->lock);
	}
}

static void winner_wait(struct race *race)
{
	pthread_mutex_lock(&race->lock);
	while (!race->winner && race->running > 0)
		pthread_cond_wait(&race->changed, &race->lock);
	pthread_mutex_unlock(&race->lock);
}

/* Cancelling a query that has ended has no effect. */
static void paths_cancel(const struct race *race)
{
	for (int i = 0; race->runners[i].gid; i++)
		ib_sa_cancel_query(race->runners[i].id, race->runners[i].query);
}

static int winner_print(const struct runner *winner)
{
	if (!winner) {
		fprintf(stderr, "there is no path to any of the GIDs\n");
		return 1;
	}
	printf("%s: LID %u, SL %u, MTU %u, %u Mb/s\n", winner->gid,
	       be16toh(winner->path.ib.dlid), winner->path.sl,
	       ibsa_mtu_bytes(winner->path.mtu),
	       ibsa_rate_mbps(winner->path.rate));
	return 0;
}

static int path_find(struct race *race, const struct ib_gid_attr *from,
		     const struct ibsa_gid *gids)
{
	struct ib_sa_client client;

	ib_sa_register_client(&client);
	paths_query(race, &client, from, gids);
	winner_wait(race);
	paths_cancel(race);
	ib_sa_unregister_client(&client); /* waits for all callbacks */
	return winner_print(race->winner);
}

/* The source is GID 0 of port 1 of the first device. */
static int path_find_from_device(struct race *race, const struct ibsa_gid *gids)
{
	const struct ib_gid_attr *from;
	struct ib_device *device;
	int status = 1;
	int err = ibsa_ib_device_get(NULL, &device);

	if (err != 0) {
		fprintf(stderr, "no device: %s\n", strerror(-err));
		return 1;
	}
	from = rdma_get_gid_attr(device, 1, 0);
	if (ibsa_is_err(from)) {
		fprintf(stderr, "no GID: %s\n", strerror(-ibsa_ptr_err(from)));
	} else {
		status = path_find(race, from, gids);
		rdma_put_gid_attr(from);
	}
	ibsa_ib_device_put(device);
	return status;
}

int main(int argc, char **argv)
{
	struct race race = { PTHREAD_MUTEX_INITIALIZER,
			     PTHREAD_COND_INITIALIZER,
			     NULL,
			     0,
			     { { 0 } } };
	struct ibsa_gid gids[RUNNERS_MAX];

	if (argc < 2 || argc > RUNNERS_MAX) {
		fprintf(stderr, "usage: %s GID...\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		if (ibsa_gid_parse(argv[i], &gids[i - 1])) {
			fprintf(stderr, "%s is not a GID\n", argv[i]);
			return 2;
		}
	}
	for (int i = 1; i < argc; i++)
		race.runners[i - 1] = (struct runner){ .race = &race,
						       .gid = argv[i] };
	return path_find_from_device(&race, gids);
}
