/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uses the SA as a kernel module does, until SIGINT: joins a multicast group,
 * registers a service, and queries paths and that service. Writes a line for
 * each event, and on SIGUSR1 the results of the queries since the last such
 * line. usage: ib_sa ID NAME
 */
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibsa/ib_sa.h>

enum {
	QUERIES = 16,
	TIMEOUT_MS = 2000,
	/* longer than delays that the load of the machine causes */
	LATE_MS = 20000, /* what a busy machine may add */
	AUDIT_MS = 1000,
	PAUSE_MS = 10,
	MS_PER_S = 1000,
	NS_PER_MS = 1000000,
};

/* OpenSM accepts no other Q_Key for groups with an MGID of IPoIB. */
#define IPOIB_QKEY 0x0b1b
#define INFINITE 0xffffffff
#define MGID_PREFIX UINT64_C(0xff12401bffff0000)
#define MGID_NUMBER UINT64_C(0x0b5a)

/* Results of queries. */
struct tally {
	atomic_uint started;
	/*
	 * Number of queries that could not be started because there was no SM.
	 */
	atomic_uint again;
	atomic_uint answered;
	atomic_uint refused;
	atomic_uint timed_out;
	atomic_uint other;
	atomic_uint late; /* included in the numbers above */
};

struct program {
	struct ib_sa_client client;
	struct ib_device *device;
	union ib_gid gid;
	uint64_t service_id;
	const char *service_name;
	atomic_bool is_out; /* of the group */
	struct tally tally;
};

/* A query that is started again whenever it has ended. */
struct slot {
	struct program *program;
	uint64_t started_ms;
	atomic_bool is_busy;
};

static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t asked;

static void on_signal(int signal)
{
	if (signal == SIGUSR1)
		asked = 1;
	else
		interrupted = 1;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MS_PER_S +
	       (uint64_t)now.tv_nsec / NS_PER_MS;
}

static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * NS_PER_MS };

	nanosleep(&pause, NULL);
}

static void note_end(struct slot *slot, int status)
{
	struct tally *tally = &slot->program->tally;
	const uint64_t took_ms = now_ms() - slot->started_ms;

	if (!status)
		atomic_fetch_add(&tally->answered, 1);
	else if (status == -EINVAL && ibsa_last_reply(slot->program->device))
		atomic_fetch_add(&tally->refused, 1);
	else if (status == -ETIMEDOUT)
		atomic_fetch_add(&tally->timed_out, 1);
	else
		atomic_fetch_add(&tally->other, 1);
	if (took_ms > TIMEOUT_MS + LATE_MS)
		atomic_fetch_add(&tally->late, 1);
	atomic_store(&slot->is_busy, false);
}

static void on_path(int status, struct sa_path_rec *resp, void *context)
{
	(void)resp;
	note_end(context, status);
}

static void on_service(int status, struct ib_sa_service_rec *resp,
		       void *context)
{
	(void)resp;
	note_end(context, status);
}

static int query_path(struct slot *slot)
{
	struct program *program = slot->program;
	struct sa_path_rec rec = {
		.sgid = program->gid,
		.dgid = program->gid,
		.numb_path = 1,
	};

	return ib_sa_path_rec_get(&program->client, program->device, 1, &rec,
				  IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
					  IB_SA_PATH_REC_NUMB_PATH,
				  TIMEOUT_MS, 0, on_path, slot, NULL);
}

static int query_service(struct slot *slot)
{
	struct program *program = slot->program;
	struct ib_sa_service_rec rec = {
		.id = htobe64(program->service_id),
	};

	return ib_sa_service_rec_query(&program->client, program->device, 1,
				       IB_MGMT_METHOD_GET, &rec,
				       IB_SA_SERVICE_REC_SERVICE_ID, TIMEOUT_MS,
				       0, on_service, slot, NULL);
}

static void start(struct slot *slot, bool is_path)
{
	struct tally *tally = &slot->program->tally;
	int id;

	atomic_store(&slot->is_busy, true);
	slot->started_ms = now_ms();
	id = is_path ? query_path(slot) : query_service(slot);
	if (id >= 0) {
		atomic_fetch_add(&tally->started, 1);
		return;
	}
	if (id == -EAGAIN)
		atomic_fetch_add(&tally->again, 1);
	else
		atomic_fetch_add(&tally->other, 1);
	atomic_store(&slot->is_busy, false);
}

static void print_registration(const struct ibsa_registration_report *report,
			       void *arg)
{
	(void)arg;
	printf("service %s\n", ibsa_registration_event_name(report->event));
	fflush(stdout);
}

static int registration_options(struct program *program)
{
	struct ib_sa_service_rec rec = {
		.id = htobe64(program->service_id),
		.lease = htobe32(INFINITE),
	};
	struct ibsa_rec_registration *registration;

	snprintf((char *)rec.name, sizeof(rec.name), "%s",
		 program->service_name);
	return ibsa_service_rec_register(
		&program->client, program->device, 1, &rec,
		IB_SA_SERVICE_REC_SERVICE_ID | IB_SA_SERVICE_REC_SERVICE_LEASE |
			IB_SA_SERVICE_REC_SERVICE_NAME,
		print_registration, NULL, &registration);
}

/* Join the group again until that succeeds, as IPoIB does. */
static int on_group(int status, struct ib_sa_multicast *multicast)
{
	struct program *program = multicast->context;
	const struct ibsa_reply *reply = ibsa_last_reply(program->device);

	if (!status)
		printf("group joined 0x%04x\n", be16toh(multicast->rec.mlid));
	else
		printf("group error %d 0x%04x\n", status,
		       reply ? reply->status : 0);
	if (status)
		atomic_store(&program->is_out, true);
	fflush(stdout);
	return status;
}

/* The first member creates the group. */
static void join(struct program *program)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid.global.subnet_prefix = htobe64(MGID_PREFIX),
		.mgid.global.interface_id = htobe64(MGID_NUMBER),
		.port_gid = program->gid,
		.qkey = htobe32(IPOIB_QKEY),
		.pkey = htobe16(0xffff),
		.join_state = 1,
	};
	const struct ib_sa_multicast *multicast = ib_sa_join_multicast(
		&program->client, program->device, 1, &rec,
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			IB_SA_MCMEMBER_REC_JOIN_STATE |
			IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_PKEY |
			IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL |
			IB_SA_MCMEMBER_REC_TRAFFIC_CLASS,
		0, on_group, program);

	if (!ibsa_is_err(multicast))
		return;
	printf("group error %d\n", ibsa_ptr_err(multicast));
	atomic_store(&program->is_out, true);
}

/* Print the counts since the last call. */
static void tell_queries(struct tally *tally)
{
	printf("queries started %u again %u answered %u refused %u "
	       "timed-out %u other %u late %u\n",
	       atomic_exchange(&tally->started, 0),
	       atomic_exchange(&tally->again, 0),
	       atomic_exchange(&tally->answered, 0),
	       atomic_exchange(&tally->refused, 0),
	       atomic_exchange(&tally->timed_out, 0),
	       atomic_exchange(&tally->other, 0),
	       atomic_exchange(&tally->late, 0));
	fflush(stdout);
}

static void query_until_interrupted(struct program *program)
{
	struct slot slots[QUERIES] = { 0 };

	for (int i = 0; i < QUERIES; i++)
		slots[i].program = program;
	while (!interrupted) {
		for (int i = 0; i < QUERIES; i++) {
			if (!atomic_load(&slots[i].is_busy))
				start(&slots[i], i % 2);
		}
		if (atomic_exchange(&program->is_out, false))
			join(program);
		if (asked) {
			asked = 0;
			tell_queries(&program->tally);
		}
		pause_ms(PAUSE_MS);
	}
	ib_sa_unregister_client(&program->client);
	tell_queries(&program->tally);
}

static int find_gid(struct program *program)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(program->device, 1,
							   0);

	if (ibsa_is_err(attr))
		return ibsa_ptr_err(attr);
	program->gid = attr->gid;
	rdma_put_gid_attr(attr);
	return 0;
}

int main(int argc, char **argv)
{
	const struct ibsa_ib_device_options options = { .audit_ms = AUDIT_MS };
	const struct sigaction action = { .sa_handler = on_signal };
	struct program program = { 0 };
	struct ibsa_error error;
	int err;

	if (argc != 3)
		return 2;
	program.service_id = strtoull(argv[1], NULL, 0);
	program.service_name = argv[2];
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	if (ibsa_ib_device_open(&options, &error, &program.device)) {
		fprintf(stderr, "%s\n", error.text);
		return 4;
	}
	ib_sa_register_client(&program.client);
	err = find_gid(&program);
	if (!err)
		err = registration_options(&program);
	if (err) {
		fprintf(stderr, "%s\n", strerror(-err));
		return 4;
	}
	atomic_store(&program.is_out, true);
	query_until_interrupted(&program);
	ibsa_ib_device_put(program.device);
	return 0;
}
