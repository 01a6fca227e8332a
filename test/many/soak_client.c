/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A client of soak.py in C: queries paths in three ways, joins and leaves a
 * multicast group, keeps a service, and receives events in two ways, until
 * SIGTERM. usage: soak-client HOST VERBS_HOST
 *
 * The verbs context is at VERBS_HOST: a port has one receiver of Reports. The
 * lines are as those of soak_clients.py: for each answer its start, end, kind,
 * host and result; for each event its source, 0, its kind, its host and the
 * word event; and at the end, for each kind, the numbers of accepted calls and
 * of their callbacks.
 */
#define IBSA_VERBS_NAMES
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibsa/types.h>
#include <ibsa/event.h>
#include <ibsa/ib_sa.h>
#include <ibsa/ibsa.h>
#include <ibsa/reach.h>
#include <ibsa/service.h>
#include <ibsa/verbs.h>

#include "test/support/random.h"

enum {
	HOSTS = 48,
	MORTALS = 36, /* hosts whose links go down */
	BATCH = 5,    /* number of GIDs of ibsa_reach_start() */
	DEADLINE_MS = 8000,
	TICK_MS = 10,
	AUDIT_S = 30, /* interval at which the library reads services back */
};

#define PREFIX UINT64_C(0xfe80000000000000)
#define PORT_GUID UINT64_C(0x0002c90300100001) /* of host 1 */
#define PAUSE_S 0.1
#define REST_S 0.5 /* pause after a failure */

enum kind { PATH, IB_SA, REACH, GROUP, SERVICE, KINDS };

static const char *const names[KINDS] = {
	"path", "ib_sa", "reach", "group", "service",
};

/* What is started again after each answer. */
struct slot {
	enum kind kind;
	unsigned int host;
	double start;
	double due;
	atomic_bool is_busy;
};

static struct slot slots[] = {
	{ .kind = PATH },  { .kind = PATH },  { .kind = PATH },
	{ .kind = PATH },  { .kind = PATH },  { .kind = PATH },
	{ .kind = IB_SA }, { .kind = IB_SA }, { .kind = IB_SA },
	{ .kind = REACH }, { .kind = GROUP },
};

static atomic_bool stops;
static unsigned int here; /* number of this host */
static uint64_t random_state;
static struct ibsa_client *client;
static struct ibv_context *context;
static struct ib_sa_client user;
static struct ib_device *device;
static struct ib_sa_multicast *membership;
static struct ibsa_gid batch[BATCH];
static atomic_uint accepted[KINDS];
static atomic_uint told[KINDS];

static void on_signal(int number)
{
	(void)number;
	atomic_store(&stops, true);
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct ibsa_gid gid_of(unsigned int host)
{
	struct ibsa_gid gid;

	ibsa_put_be64(gid.raw, PREFIX);
	ibsa_put_be64(gid.raw + 8, PORT_GUID + UINT64_C(16) * (host - 1));
	return gid;
}

static union ib_gid ib_gid_of(unsigned int host)
{
	const struct ibsa_gid gid = gid_of(host);
	union ib_gid out;

	memcpy(&out, &gid, sizeof(out));
	return out;
}

/* Return: 0: of none. */
static unsigned int host_of(const uint8_t gid[16])
{
	const uint64_t number = (ibsa_be64(gid + 8) - PORT_GUID) / 16;

	if (ibsa_be64(gid) != PREFIX || number >= HOSTS)
		return 0;
	return (unsigned int)number + 1;
}

/* Results that the end of the program causes are not judged. */
static void print_answer(enum kind kind, unsigned int host, double start,
			 const char *result)
{
	if (atomic_load(&stops) && !strcmp(result, "lost"))
		result = "cancelled";
	printf("%.6f %.6f %s Hca%u %s\n", start, now_s(), names[kind], host,
	       result);
}

static void print_event(const char *source, const char *kind,
			const uint8_t gid[16])
{
	printf("%s 0 %s Hca%u event\n", source, kind, host_of(gid));
}

static unsigned int any_host(void)
{
	return 1 + (unsigned int)(random_next(&random_state) % MORTALS);
}

static void slot_end(struct slot *slot, const char *result)
{
	slot->due = now_s() + (!strcmp(result, "lost") ? REST_S : PAUSE_S);
	atomic_store(&slot->is_busy, false);
}

static void slot_told(struct slot *slot, const char *result)
{
	atomic_fetch_add(&told[slot->kind], 1);
	print_answer(slot->kind, slot->host, slot->start, result);
	slot_end(slot, result);
}

static const char *result_of(const struct ibsa_reply *reply)
{
	switch (ibsa_reply_outcome(reply)) {
	case IBSA_OUTCOME_OK:
		return "yes";
	case IBSA_OUTCOME_NONE:
		return "no";
	default:
		return "lost";
	}
}

static void path_told(const struct ibsa_reply *reply, void *arg)
{
	struct slot *slot = arg;
	const char *result = result_of(reply);
	struct ibsa_path path;

	if (!strcmp(result, "yes") &&
	    (reply->count != 1 ||
	     ibsa_reply_decode(reply, 0, &path, sizeof(path)) ||
	     host_of(path.dgid.raw) != slot->host))
		result = "wrong";
	slot_told(slot, result);
}

static int path_start(struct slot *slot)
{
	struct ibsa_path match = {
		.sgid = gid_of(here),
		.dgid = gid_of(slot->host),
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(numb_path),
	};

	return ibsa_query_start(client, &query, path_told, slot, NULL);
}

/* In the worker thread of the device. */
static void ib_sa_told(int status, struct sa_path_rec *resp, void *arg)
{
	struct slot *slot = arg;
	const char *result = "lost";

	if (!status)
		result = host_of(resp->dgid.raw) == slot->host ? "yes"
							       : "wrong";
	else if (status == -EINVAL)
		result = result_of(ibsa_last_reply(device));
	slot_told(slot, result);
}

static int ib_sa_start(struct slot *slot)
{
	struct sa_path_rec rec = {
		.sgid = ib_gid_of(here),
		.dgid = ib_gid_of(slot->host),
		.numb_path = 1,
	};

	return ib_sa_path_rec_get(&user, device, 1, &rec,
				  IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
					  IB_SA_PATH_REC_NUMB_PATH,
				  DEADLINE_MS, 0, ib_sa_told, slot, NULL);
}

static void reach_told(const struct ibsa_reach_answer *answer, void *arg)
{
	static const char *const results[] = {
		[IBSA_REACH_UNKNOWN] = "lost",
		[IBSA_REACH_YES] = "yes",
		[IBSA_REACH_NO] = "no",
	};
	const struct ibsa_gid *gid = &batch[answer->index];
	const char *result = results[answer->reach];
	struct slot *slot = arg;

	if (memcmp(&answer->gid, gid, sizeof(*gid)) != 0)
		result = "wrong";
	atomic_fetch_add(&told[REACH], 1);
	print_answer(REACH, host_of(gid->raw), slot->start, result);
	if (!answer->left)
		slot_end(slot, result);
}

static int reach_start(struct slot *slot)
{
	for (size_t i = 0; i < BATCH; i++)
		batch[i] = gid_of(any_host());
	return ibsa_reach_start(client, NULL, batch, BATCH, reach_told, slot,
				NULL);
}

/* Called when the join has ended, and again if the membership is lost. */
static int group_told(int status, struct ib_sa_multicast *multicast)
{
	struct slot *slot = multicast->context;
	const char *result = status ? "lost" : "yes";

	if (atomic_load(&slot->is_busy))
		slot_told(slot, result);
	else
		print_answer(GROUP, slot->host, slot->start, result);
	return 0;
}

/* After this, the old membership cannot be lost while the slot is busy. */
static void group_leave(void)
{
	ib_sa_free_multicast(membership);
	membership = NULL;
}

/* The first member creates the group, with the Q_Key that OpenSM accepts. */
static int group_start(struct slot *slot)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid.global.subnet_prefix = htobe64(0xff12401bffff0000),
		.mgid.global.interface_id = htobe64(0x50a4),
		.port_gid = ib_gid_of(here),
		.qkey = htobe32(0x0b1b),
		.pkey = htobe16(0xffff),
		.join_state = 1,
	};

	slot->host = here;
	membership = ib_sa_join_multicast(
		&user, device, 1, &rec,
		IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			IB_SA_MCMEMBER_REC_JOIN_STATE |
			IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_PKEY |
			IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL |
			IB_SA_MCMEMBER_REC_TRAFFIC_CLASS,
		0, group_told, slot);
	if (!ibsa_is_err(membership))
		return 0;
	membership = NULL;
	return -1;
}

/* Start again if the pause is over. */
static void slot_step(struct slot *slot)
{
	static int (*const starts[])(struct slot *) = { path_start, ib_sa_start,
							reach_start,
							group_start };
	const unsigned int calls = slot->kind == REACH ? BATCH : 1;

	if (atomic_load(&slot->is_busy) || now_s() < slot->due)
		return;
	if (slot->kind == GROUP)
		group_leave();
	slot->host = any_host();
	slot->start = now_s();
	/* Before the call: a worker may call back before it returns. */
	atomic_store(&slot->is_busy, true);
	atomic_fetch_add(&accepted[slot->kind], calls);
	if (starts[slot->kind](slot) >= 0)
		return;
	atomic_fetch_sub(&accepted[slot->kind], calls);
	print_answer(slot->kind, slot->host, slot->start, "lost");
	slot_end(slot, "lost");
}

/* A failure was within the interval of audits. */
static void service_told(const struct ibsa_registration_report *report,
			 void *arg)
{
	(void)arg;
	if (report->event == IBSA_REGISTRATION_RELEASED)
		atomic_fetch_add(&told[SERVICE], 1);
	else if (report->event == IBSA_REGISTRATION_REGISTERED)
		print_answer(SERVICE, here, now_s(), "yes");
	else
		print_answer(SERVICE, here, now_s() - AUDIT_S, "lost");
}

static void watch_told(const struct ibsa_event *event, void *arg)
{
	(void)arg;
	print_event("watch", ibsa_event_name(event->kind), event->gid.raw);
}

static void verbs_read(void)
{
	struct ibv_async_event event;
	const char *kind = "gap";

	if (ibv_get_async_event(context, &event))
		return;
	if (event.event_type == IBV_EVENT_GID_AVAIL)
		kind = "gid-in";
	else if (event.event_type == IBV_EVENT_GID_UNAVAIL)
		kind = "gid-out";
	print_event("verbs", kind, event.element.gid.raw);
	ibv_ack_async_event(&event);
}

/* An SA that does not answer yet is asked again. */
static int verbs_watch(const char *name)
{
	const struct ibsa_options options = { .device = name };
	const struct ibsa_verbs_options gaps = { .gaps = true };

	if (ibsa_verbs_open(&options, NULL, &context) ||
	    ibsa_verbs_attach(context, &gaps))
		return -1;
	while (ibv_register_sm_events(context, IBV_SM_EVENT_UGID_ALL, 0,
				      NULL)) {
		perror("ibv_register_sm_events");
		poll(NULL, 0, TICK_MS);
	}
	printf("verbs 0 subscribed - event\n");
	return 0;
}

static int open_all(const char *name)
{
	const struct ibsa_options options = { .device = name,
					      .deadline_ms = DEADLINE_MS };
	const struct ibsa_event_options kinds = {
		.kinds = IBSA_EVENT_GID_IN | IBSA_EVENT_GID_OUT,
	};
	const struct ibsa_service service = { .service_id = 0x50a400 + here };
	const struct ibsa_service_options service_options = {
		.service = &service
	};
	struct ibsa_registration *registration;
	struct ibsa_event_watch *watch;

	ib_sa_register_client(&user);
	if (ibsa_open(&options, NULL, &client) ||
	    ibsa_ib_device_get(name, &device) ||
	    ibsa_service_register(client, &service_options, service_told, NULL,
				  &registration))
		return -1;
	atomic_store(&accepted[SERVICE], 1);
	return ibsa_event_watch_start(client, &kinds, watch_told, NULL, NULL,
				      &watch);
}

static void turn(void)
{
	const int left = ibsa_timeout_ms(client);
	struct pollfd files[] = {
		{ .fd = ibsa_fd(client), .events = POLLIN },
		{ .fd = context->async_fd, .events = POLLIN },
	};

	poll(files, 2, left < 0 || left > TICK_MS ? TICK_MS : left);
	if (files[1].revents)
		verbs_read();
	(void)!ibsa_dispatch(client);
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		slot_step(&slots[i]);
}

/* Calls in progress are called back. */
static void close_all(void)
{
	ibsa_close(client);
	ibsa_ib_device_put(device);
	group_leave();
	ib_sa_unregister_client(&user);
	ibsa_verbs_close(context);
	for (int i = 0; i < KINDS; i++)
		printf("%u %u ended %s -\n", atomic_load(&accepted[i]),
		       atomic_load(&told[i]), names[i]);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };

	if (argc != 3)
		return 2;
	here = (unsigned int)strtoul(argv[1] + strlen("Hca"), NULL, 10);
	random_state = here;
	sigaction(SIGTERM, &action, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (verbs_watch(argv[2]) || open_all(argv[1])) {
		fprintf(stderr, "cannot open %s and %s\n", argv[1], argv[2]);
		return 1;
	}
	while (!atomic_load(&stops))
		turn();
	close_all();
	return 0;
}
