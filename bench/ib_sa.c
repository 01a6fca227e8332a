/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Benchmark B10: path queries by eight threads through the functions of
 * <ibsa/ib_sa.h>, and by one thread through its own client, on one embedded
 * fabric.
 */
#include <endian.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/ib_sa.h>
#include <ibsa/fabric.h>

#include "bench.h"
#include "count_alloc.h"

enum {
	THREADS = 8,
	EACH = 32, /* in flight per thread, in two halves */
	HALF = EACH / 2,
	WINDOW = 64,
	COUNT = 256 * 1000,
	MANY = 512 * 1000,
	LIDS_MAX = 4096,
	PATIENCE_MS = 3600 * 1000,
};

static struct ibsa_fabric *fabric;
static uint16_t lids[LIDS_MAX];
static unsigned int lid_count;

/* What the threads share. */
static struct ib_device *device;
static struct ib_sa_client kernel_client;

/*
 * A thread that queries. The device's worker writes @told, the number of
 * answers; the thread writes all other members.
 */
struct asker {
	pthread_t thread;
	void (*submit)(struct asker *asker);
	sem_t room; /* for halves */
	uint64_t halves;
	uint64_t told;
	unsigned int next;
};

static struct asker askers[THREADS];

static void asker_answered(struct asker *asker)
{
	if (++asker->told % HALF == 0)
		sem_post(&asker->room);
}

static void told(int status, struct sa_path_rec *resp, void *context)
{
	BENCH_USE(&resp->ib.dlid);
	if (status)
		abort();
	asker_answered(context);
}

/*
 * Return: the LID for the next query. All queries in flight differ, so that
 * none is shared: each thread has its own LIDs, more than it has queries in
 * flight.
 */
static uint16_t next_lid(struct asker *asker)
{
	asker->next = (asker->next + 1) % (lid_count / THREADS);
	return lids[asker->next * THREADS + (asker - askers)];
}

static void kernel_query(struct asker *asker)
{
	struct sa_path_rec rec = { .numb_path = 1 };
	struct ib_sa_query *query;

	rec.ib.slid = htobe16(lids[0]);
	rec.ib.dlid = htobe16(next_lid(asker));
	if (ib_sa_path_rec_get(&kernel_client, device, 1, &rec,
			       IB_SA_PATH_REC_SLID | IB_SA_PATH_REC_DLID |
				       IB_SA_PATH_REC_NUMB_PATH,
			       PATIENCE_MS, 0, told, asker, &query) < 0)
		abort();
}

static void await_room(struct asker *asker)
{
	while (sem_wait(&asker->room))
		;
}

static void *work(void *arg)
{
	struct asker *asker = arg;

	for (uint64_t half = 0; half < asker->halves; half++) {
		await_room(asker);
		for (int i = 0; i < HALF; i++)
			asker->submit(asker);
	}
	await_room(asker);
	await_room(asker);
	return NULL;
}

/*
 * Run the queries of all threads. @count is rounded up to a multiple of half a
 * window of all threads together; COUNT, in the table of cases, is such a
 * multiple.
 */
static void run_threads(uint64_t count, void (*submit)(struct asker *asker))
{
	for (unsigned int i = 0; i < THREADS; i++) {
		struct asker *asker = &askers[i];

		asker->halves = (count + THREADS * HALF - 1) / (THREADS * HALF);
		asker->next = 0;
		asker->submit = submit;
		if (sem_init(&asker->room, 0, 2) ||
		    pthread_create(&asker->thread, NULL, work, asker))
			abort();
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(askers[i].thread, NULL);
		sem_destroy(&askers[i].room);
	}
}

static void run_kernel(uint64_t count)
{
	run_threads(count, kernel_query);
}

/*
 * A client with a constant number of queries in flight: each reply's callback
 * submits the next query.
 */
static struct ibsa_client *client;
static uint64_t asked, wanted, answered;

static void client_query(uint16_t lid, ibsa_reply_fn done, void *arg);

static void reply_use(const struct ibsa_reply *reply)
{
	struct ibsa_path path;

	if (reply->err || reply->status ||
	    ibsa_reply_decode(reply, 0, &path, sizeof(path)))
		abort();
	BENCH_USE(&path);
	answered++;
}

static void on_reply(const struct ibsa_reply *reply, void *arg)
{
	reply_use(reply);
	if (asked < wanted)
		client_query(lids[asked % lid_count], on_reply, arg);
}

static void client_query(uint16_t lid, ibsa_reply_fn done, void *arg)
{
	const struct ibsa_path want = {
		.slid = lids[0],
		.dlid = lid,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &want,
		.mask = IBSA_PATH_CM(slid) | IBSA_PATH_CM(dlid) |
			IBSA_PATH_CM(numb_path),
		.deadline_ms = PATIENCE_MS,
	};

	asked++;
	if (ibsa_query_start(client, &query, done, arg, NULL))
		abort();
}

static void answers_await(uint64_t count)
{
	while (answered < count)
		if (ibsa_wait(client, -1))
			abort();
}

static void run_client(uint64_t count)
{
	wanted = asked + count;
	while (asked < wanted && asked - answered < THREADS * EACH)
		client_query(lids[asked % lid_count], on_reply, NULL);
	answers_await(wanted);
}

/*
 * The lower bound of the threads: they hand each query over to one thread,
 * which has the client. They share an array and its lock and nothing else.
 */
static struct handover {
	pthread_mutex_t lock;
	pthread_cond_t is_filled;
	struct handed {
		struct asker *asker;
		uint16_t lid;
	} queue[THREADS * EACH];
	unsigned int count;
	uint64_t left;
} handover = { .lock = PTHREAD_MUTEX_INITIALIZER,
	       .is_filled = PTHREAD_COND_INITIALIZER };

static void handover_put(struct asker *asker)
{
	const struct handed one = { asker, next_lid(asker) };

	pthread_mutex_lock(&handover.lock);
	handover.queue[handover.count++] = one;
	if (handover.count == 1)
		pthread_cond_signal(&handover.is_filled);
	pthread_mutex_unlock(&handover.lock);
}

/* Wait for queries. Return: their number. */
static unsigned int handover_take(struct handed *out)
{
	unsigned int count;

	pthread_mutex_lock(&handover.lock);
	while (!handover.count)
		pthread_cond_wait(&handover.is_filled, &handover.lock);
	count = handover.count;
	memcpy(out, handover.queue, count * sizeof(*out));
	handover.count = 0;
	pthread_mutex_unlock(&handover.lock);
	return count;
}

static void on_handed_reply(const struct ibsa_reply *reply, void *arg)
{
	reply_use(reply);
	asker_answered(arg);
}

static void *handover_work(void *arg)
{
	struct handed taken[THREADS * EACH];

	(void)arg;
	while (handover.left) {
		unsigned int count = handover_take(taken);

		for (unsigned int i = 0; i < count; i++)
			client_query(taken[i].lid, on_handed_reply,
				     taken[i].asker);
		answers_await(asked);
		handover.left -= count;
	}
	return NULL;
}

static void run_handover(uint64_t count)
{
	pthread_t worker;

	handover.left = (count + THREADS * HALF - 1) / (THREADS * HALF) *
			(THREADS * HALF);
	if (pthread_create(&worker, NULL, handover_work, NULL))
		abort();
	run_threads(count, handover_put);
	pthread_join(worker, NULL);
}

static void lids_read(void)
{
	struct ibsa_fabric_port port;

	for (size_t i = 0; lid_count < LIDS_MAX; i++) {
		if (ibsa_fabric_port_at(fabric, i, &port))
			break;
		if (port.state.lid)
			lids[lid_count++] = (uint16_t)port.state.lid;
	}
}

static int prepare(const char *path)
{
	struct ibsa_ib_device_options kernel_options = { .window = WINDOW };
	struct ibsa_options options = { .port = 1, .window = WINDOW };
	struct ibsa_fabric_port first;
	struct ibsa_error error;

	if (ibsa_fabric_load(path, NULL, &error, &fabric)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	lids_read();
	if (lid_count <= THREADS * EACH ||
	    ibsa_fabric_port_at(fabric, 0, &first))
		return -1;
	kernel_options.on = options.on = fabric;
	kernel_options.name = options.device = first.node;
	ib_sa_register_client(&kernel_client);
	if (ibsa_ib_device_open(&kernel_options, &error, &device) ||
	    ibsa_open(&options, &error, &client)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return 0;
}

static const struct bench_case cases[] = {
	{ "ib-sa-threads", run_kernel, COUNT },
	{ "ib-sa-client", run_client, COUNT },
	{ "ib-sa-handover", run_handover, COUNT },
};

/*
 * The program's first argument is the topology file; the others are those of
 * bench_main().
 */
int main(int argc, char **argv)
{
	const bool counts = argc > 2 && !strcmp(argv[2], "-c");
	int status;

	if (argc < 2 || prepare(argv[1]))
		return EXIT_FAILURE;
	argv[1] = argv[0];
	status = bench_main(argc - 1, argv + 1, cases,
			    sizeof(cases) / sizeof(cases[0]));
	if (!status && !counts)
		alloc_print("ib-sa-allocations", run_kernel, MANY);
	ib_sa_unregister_client(&kernel_client);
	ibsa_ib_device_put(device);
	ibsa_close(client);
	ibsa_fabric_put(fabric);
	return status;
}
