/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's calls: a way to the first of several GIDs that has one, such
 * as the replicas of a server. All are asked for at once; the first answer
 * wins, and the other queries are cancelled.
 *
 *	cc kernel_path.c $(pkg-config --cflags --libs ibsa) -o kernel_path
 *	./kernel_path GID...
 *
 * Callbacks come from a thread of the library.
 */
#include <ibsa/ib_sa.h>
#include <ibsa/text.h>

#include <endian.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RUNNERS_MAX = 16, TIMEOUT_MS = 5000 };

struct race;

/* One question; it lives until its callback has run. */
struct runner {
	struct race *race;
	const char *gid;
	struct sa_path_rec path;
	struct ib_sa_query *query;
	int id;
};

/* What callbacks and main() share. */
struct race {
	pthread_mutex_t lock;
	pthread_cond_t news;
	struct runner *winner;
	int running;
	struct runner runners[RUNNERS_MAX];
};

/* Called once for each query, however it ended; @resp only if @status is 0. */
static void arrived(int status, struct sa_path_rec *resp, void *context)
{
	struct runner *runner = context;
	struct race *race = runner->race;

	pthread_mutex_lock(&race->lock);
	race->running--;
	if (status == 0 && !race->winner) {
		runner->path = *resp;
		race->winner = runner;
	}
	pthread_cond_signal(&race->news);
	pthread_mutex_unlock(&race->lock);
}

/* Return: the query's id, which may be 0, or a negative errno. */
static int run(struct runner *runner, struct ib_sa_client *client,
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
		TIMEOUT_MS, 0, arrived, runner, &runner->query);
}

/* Ask for all; callbacks may come while the others are still being asked. */
static void start(struct race *race, struct ib_sa_client *client,
		  const struct ib_gid_attr *from, const struct ibsa_gid *gids)
{
	for (int i = 0; race->runners[i].gid; i++) {
		struct runner *runner = &race->runners[i];

		pthread_mutex_lock(&race->lock);
		race->running++;
		pthread_mutex_unlock(&race->lock);
		runner->id = run(runner, client, from, &gids[i]);
		if (runner->id >= 0)
			continue;
		fprintf(stderr, "%s: %s\n", runner->gid, strerror(-runner->id));
		pthread_mutex_lock(&race->lock);
		race->running--;
		pthread_mutex_unlock(&race->lock);
	}
}

static void await_winner(struct race *race)
{
	pthread_mutex_lock(&race->lock);
	while (!race->winner && race->running > 0)
		pthread_cond_wait(&race->news, &race->lock);
	pthread_mutex_unlock(&race->lock);
}

/* Queries that have ended are not harmed by a cancel that comes late. */
static void cancel(const struct race *race)
{
	for (int i = 0; race->runners[i].gid; i++)
		ib_sa_cancel_query(race->runners[i].id, race->runners[i].query);
}

static int report(const struct runner *winner)
{
	if (!winner) {
		fprintf(stderr, "there is no path to any of them\n");
		return 1;
	}
	printf("%s: LID %u, SL %u, MTU %u, %u Mb/s\n", winner->gid,
	       be16toh(winner->path.ib.dlid), winner->path.sl,
	       ibsa_mtu_bytes(winner->path.mtu),
	       ibsa_rate_mbps(winner->path.rate));
	return 0;
}

static int find(struct race *race, const struct ib_gid_attr *from,
		const struct ibsa_gid *gids)
{
	struct ib_sa_client client;

	ib_sa_register_client(&client);
	start(race, &client, from, gids);
	await_winner(race);
	cancel(race);
	ib_sa_unregister_client(&client); /* the last callback has run */
	return report(race->winner);
}

/* From the first GID of the first port of the first device. */
static int find_from_here(struct race *race, const struct ibsa_gid *gids)
{
	const struct ib_gid_attr *from;
	struct ib_device *device;
	int status = 1;
	int err = ibsa_device_get(NULL, &device);

	if (err != 0) {
		fprintf(stderr, "no device: %s\n", strerror(-err));
		return 1;
	}
	from = rdma_get_gid_attr(device, 1, 0);
	if (ibsa_is_err(from)) {
		fprintf(stderr, "no GID: %s\n", strerror(-ibsa_ptr_err(from)));
	} else {
		status = find(race, from, gids);
		rdma_put_gid_attr(from);
	}
	ibsa_device_put(device);
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
	return find_from_here(&race, gids);
}
