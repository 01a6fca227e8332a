/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fabric server that is stopped by SIGSTOP under load: no call that promises
 * not to wait waits for it, and callbacks come by their deadlines.
 *
 * usage: test-server-stopped [unix:PATH PID SECONDS]
 *
 * With arguments: stop that server for SECONDS at random moments, ten times,
 * and print how long calls took and how late callbacks came.
 *
 * The timeout of an ib_sa query runs from its first send. This program sees the
 * sends itself, in a wrapper of the umad file's send operation: each query asks
 * for a ServiceID of its own, which its request carries. A library that sends
 * late is found by the time between submission and first send, less the time in
 * which the umad file took no packet.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibsa/ib_sa.h>
#include <ibsa/records.h>
#include <ibsa/types.h>

#include "base/clock.h"
#include "remote/link.h"
#include "test/support/server_rig.h"

enum {
	DEADLINE_MS = 400,
	BOUND_MS = 1000, /* longest call that the test accepts; a call takes
			  * much less */
	LOAD_MS = 300,	 /* before and after a stop */
	SAMPLES_MAX = 1 << 22,
	ASKED_MAX = 512, /* queries in flight */
	NAP_US = 200,
	QUEUE_MS = 60000, /* default of struct ibsa_ib_device_options */
	/*
	 * ib_sa queries: the number in flight, and in all. At least half of the
	 * window is for requests that have not ended.
	 */
	KERNEL_IN_FLIGHT_MAX = 64,
	KERNEL_QUERIES_MAX = 1 << 20,
	WINDOW_HALF = 8,
	WAIT_MAX_MS = KERNEL_IN_FLIGHT_MAX / WINDOW_HALF * DEADLINE_MS,
};

/*
 * Offset of a PathRecord's ServiceID in a MAD, and its upper part for ib_sa
 * queries.
 */
#define SERVICE_ID_AT 56
#define KERNEL_QUERY_MARK UINT64_C(0x5707000000000000)

struct samples {
	uint32_t *us;
	size_t count;
};

/*
 * An ib_sa query. The _refused_ns are the times for which the file had
 * refused packets by then.
 */
struct kernel_query {
	uint64_t asked_ns;
	uint64_t asked_refused_ns;
	_Atomic uint64_t sent_ns; /* first send; 0: not yet */
	uint64_t sent_refused_ns;
};

/* Whether the umad file of the ib_sa device takes packets. */
struct file_watch {
	uint64_t refusing_since_ns; /* 0: it takes packets */
	uint64_t refused_ns;	    /* in all, until then */
};

static struct {
	char name[96];
	pid_t server;
	struct ibsa_client *client;
	struct ib_device *device;
	struct ib_sa_client asker;
	struct ibsa_gid gid;
	struct samples calls;
	struct samples late;	    /* callbacks of the client */
	struct samples kernel_late; /* callbacks of the ib_sa worker */
	/*
	 * Time from the submission of a query to its first send, without the
	 * time in which the file was full.
	 */
	struct samples kernel_wait;
	struct samples naps; /* the machine: sleeps of NAP_US */
	unsigned int asked;
	atomic_uint kernel_asked;
	struct kernel_query *queries;
	unsigned int query_count;
	pthread_mutex_t watch_lock;
	struct file_watch watch;
	unsigned int answers; /* of the SA */
} world;

static void sample_add(struct samples *samples, uint64_t ns)
{
	if (samples->count < SAMPLES_MAX)
		samples->us[samples->count++] = (uint32_t)(ns / 1000);
}

static void call_begin(uint64_t *start_ns)
{
	*start_ns = clock_now_ns();
}

static void call_end(const uint64_t *start_ns)
{
	sample_add(&world.calls, clock_now_ns() - *start_ns);
}

/* Note how late a callback comes that was due at @due_ns. */
static void late_add(struct samples *samples, uint64_t due_ns)
{
	const uint64_t now_ns = clock_now_ns();

	sample_add(samples, now_ns > due_ns ? now_ns - due_ns : 0);
}

static void note_reply(const struct ibsa_reply *reply, void *arg)
{
	late_add(&world.late, (uintptr_t)arg);
	world.asked--;
	world.answers += !reply->err;
}

static uint64_t due_ns(void)
{
	return clock_now_ns() + DEADLINE_MS * NS_PER_MS;
}

static void client_query_submit(void)
{
	const struct ibsa_path match = {
		.sgid = world.gid,
		.dgid = world.gid,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(numb_path),
		.deadline_ms = DEADLINE_MS,
		.first_interval_ms = 50,
	};
	uint64_t start_ns;
	int err;

	call_begin(&start_ns);
	err = ibsa_query_start(world.client, &query, note_reply,
			       (void *)(uintptr_t)due_ns(), NULL);
	call_end(&start_ns);
	world.asked += !err;
}

static uint64_t refused_ns(uint64_t now_ns)
{
	uint64_t ns;

	pthread_mutex_lock(&world.watch_lock);
	ns = world.watch.refused_ns;
	if (world.watch.refusing_since_ns)
		ns += now_ns - world.watch.refusing_since_ns;
	pthread_mutex_unlock(&world.watch_lock);
	return ns;
}

static void file_note(uint64_t now_ns, bool is_taken)
{
	struct file_watch *watch = &world.watch;

	pthread_mutex_lock(&world.watch_lock);
	if (is_taken && watch->refusing_since_ns)
		watch->refused_ns += now_ns - watch->refusing_since_ns;
	if (is_taken)
		watch->refusing_since_ns = 0;
	else if (!watch->refusing_since_ns)
		watch->refusing_since_ns = now_ns;
	pthread_mutex_unlock(&world.watch_lock);
}

/* The ib_sa query whose request is sent, or NULL. */
static struct kernel_query *kernel_query_of(const uint8_t *packet, size_t len)
{
	const size_t at = UMAD_HEADER_BYTES + SERVICE_ID_AT;
	uint64_t number;

	if (!world.queries || len < at + sizeof(number))
		return NULL;
	number = ibsa_be64(packet + at) ^ KERNEL_QUERY_MARK;
	return number < KERNEL_QUERIES_MAX ? &world.queries[number] : NULL;
}

int __real_ibsa__remote_link_send(struct umad_file *file, const void *packet,
				  size_t len);
int __wrap_ibsa__remote_link_send(struct umad_file *file, const void *packet,
				  size_t len);

int __wrap_ibsa__remote_link_send(struct umad_file *file, const void *packet,
				  size_t len)
{
	struct kernel_query *query = kernel_query_of(packet, len);
	const uint64_t now_ns = clock_now_ns();
	const int err = __real_ibsa__remote_link_send(file, packet, len);

	if (!query || (err && err != -EBUSY))
		return err;
	file_note(now_ns, !err);
	if (!err && !atomic_load(&query->sent_ns)) {
		query->sent_refused_ns = refused_ns(now_ns);
		atomic_store(&query->sent_ns, now_ns);
	}
	return err;
}

/*
 * The timeout runs from the first send; before it, the limit of the queue
 * applies.
 */
static uint64_t kernel_query_due_ns(const struct kernel_query *query)
{
	const uint64_t sent_ns = atomic_load(&query->sent_ns);

	return sent_ns ? sent_ns + DEADLINE_MS * NS_PER_MS
		       : query->asked_ns + QUEUE_MS * NS_PER_MS;
}

static void note_path(int status, struct sa_path_rec *rec, void *arg)
{
	const struct kernel_query *query = arg;
	const uint64_t sent_ns = atomic_load(&query->sent_ns);
	uint64_t refused;

	(void)status;
	(void)rec;
	late_add(&world.kernel_late, kernel_query_due_ns(query));
	if (sent_ns) {
		refused = query->sent_refused_ns - query->asked_refused_ns;
		sample_add(&world.kernel_wait,
			   sent_ns - query->asked_ns - refused);
	}
	atomic_fetch_sub(&world.kernel_asked, 1);
}

static void kernel_query_submit(void)
{
	struct sa_path_rec rec = { .numb_path = 1 };
	struct kernel_query *query = &world.queries[world.query_count];
	struct ib_sa_query *handle;
	uint64_t start_ns;
	int id;

	assert_true(world.query_count < KERNEL_QUERIES_MAX);
	memcpy(&rec.sgid, &world.gid, sizeof(rec.sgid));
	memcpy(&rec.dgid, &world.gid, sizeof(rec.dgid));
	rec.service_id = htobe64(KERNEL_QUERY_MARK | world.query_count);
	atomic_fetch_add(&world.kernel_asked, 1);
	query->asked_ns = clock_now_ns();
	query->asked_refused_ns = refused_ns(query->asked_ns);
	call_begin(&start_ns);
	id = ib_sa_path_rec_get(
		&world.asker, world.device, 1, &rec,
		IB_SA_PATH_REC_SERVICE_ID | IB_SA_PATH_REC_SGID |
			IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_NUMB_PATH,
		DEADLINE_MS, 0, note_path, query, &handle);
	call_end(&start_ns);
	world.query_count++;
	if (id < 0)
		atomic_fetch_sub(&world.kernel_asked, 1);
}

static void gid_read(void)
{
	const struct ib_gid_attr *attr;
	uint64_t start_ns;

	call_begin(&start_ns);
	attr = rdma_get_gid_attr(world.device, 1, 0);
	call_end(&start_ns);
	assert_false(ibsa_is_err(attr));
	rdma_put_gid_attr(attr);
}

static void port_read(void)
{
	struct ibsa_gid_entry entry;
	struct ibsa_port_state port;
	uint64_t start_ns;

	call_begin(&start_ns);
	assert_int_equal(ibsa_port_get(world.client, true, &port), 0);
	call_end(&start_ns);
	call_begin(&start_ns);
	assert_int_equal(ibsa_gid_get(world.client, 0, &entry), 0);
	call_end(&start_ns);
}

static void client_dispatch(void)
{
	uint64_t start_ns;

	call_begin(&start_ns);
	(void)!ibsa_dispatch(world.client);
	call_end(&start_ns);
}

static void nap(void)
{
	const uint64_t start_ns = clock_now_ns();

	usleep(NAP_US);
	sample_add(&world.naps, clock_now_ns() - start_ns);
}

static void load_run(unsigned int ms)
{
	const uint64_t end_ns = clock_now_ns() + ms * NS_PER_MS;

	while (clock_now_ns() < end_ns) {
		if (world.asked < ASKED_MAX)
			client_query_submit();
		if (atomic_load(&world.kernel_asked) < KERNEL_IN_FLIGHT_MAX)
			kernel_query_submit();
		gid_read();
		port_read();
		client_dispatch();
		nap();
	}
}

static void load_end(void)
{
	for (int i = 0;
	     i < 10000 && (world.asked || atomic_load(&world.kernel_asked));
	     i++)
		assert_int_equal(ibsa_wait(world.client, 1), 0);
	assert_int_equal(world.asked, 0);
	assert_int_equal(atomic_load(&world.kernel_asked), 0);
}

static int by_size(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a;
	const uint32_t other = *(const uint32_t *)b;

	return one < other ? -1 : one > other;
}

static void samples_print(const char *what, struct samples *samples)
{
	qsort(samples->us, samples->count, sizeof(*samples->us), by_size);
	printf("%s: %zu, median %u us, 99.99 %% %u us, most %u us\n", what,
	       samples->count, samples->us[samples->count / 2],
	       samples->us[samples->count - samples->count / 10000 - 1],
	       samples->us[samples->count - 1]);
}

static uint32_t samples_most_ms(const struct samples *samples)
{
	uint32_t most = 0;

	for (size_t i = 0; i < samples->count; i++)
		most = samples->us[i] > most ? samples->us[i] : most;
	return most / 1000;
}

static void stops_under_load(unsigned int ms)
{
	unsigned int answers;

	load_run(LOAD_MS + (unsigned int)rand() % LOAD_MS);
	assert_int_equal(kill(world.server, SIGSTOP), 0);
	load_run(ms);
	assert_int_equal(kill(world.server, SIGCONT), 0);
	answers = world.answers;
	load_run(2 * LOAD_MS);
	assert_true(world.answers > answers);
}

static void no_call_waits_for_a_stopped_server(void **state)
{
	(void)state;
	stops_under_load(3000);
	load_end();
	assert_true(samples_most_ms(&world.calls) < BOUND_MS);
	assert_true(samples_most_ms(&world.late) < BOUND_MS);
	assert_true(samples_most_ms(&world.kernel_late) < BOUND_MS);
	assert_true(world.kernel_wait.count > 0);
	assert_true(samples_most_ms(&world.kernel_wait) <
		    WAIT_MAX_MS + BOUND_MS);
}

/* The client reads the change when the server continues. */
static void change_arrives_afterwards(void **state)
{
	struct ibsa_port_state port = { .port_state = 0 };
	char answer[512];

	(void)state;
	assert_int_equal(ibsa_server_command(world.name, "link down left/1",
					     answer, sizeof(answer), NULL),
			 0);
	assert_int_equal(ibsa_port_get(world.client, true, &port), 0);
	assert_int_equal(port.port_state, 1);
}

static void server_run(const char *path)
{
	struct ibsa_fabric_server *server;
	struct ibsa_fabric *fabric;

	if (ibsa_fabric_parse(server_pair, strlen(server_pair), NULL, NULL,
			      &fabric) ||
	    ibsa_fabric_server_open(fabric, path, NULL, NULL, &server))
		_exit(1);
	while (getppid() != 1)
		(void)!ibsa_fabric_server_wait(server, 1000);
	_exit(0);
}

static void world_open(void)
{
	const struct ibsa_options options = { .fabric = world.name };
	const struct ibsa_ib_device_options named = { .fabric = world.name };
	struct ibsa_port_state port;
	int err = -ENODEV;

	world.calls.us = calloc(SAMPLES_MAX, sizeof(*world.calls.us));
	world.late.us = calloc(SAMPLES_MAX, sizeof(*world.late.us));
	world.naps.us = calloc(SAMPLES_MAX, sizeof(*world.naps.us));
	world.kernel_late.us = calloc(SAMPLES_MAX, sizeof(*world.late.us));
	world.kernel_wait.us = calloc(SAMPLES_MAX, sizeof(*world.late.us));
	world.queries = calloc(KERNEL_QUERIES_MAX, sizeof(*world.queries));
	pthread_mutex_init(&world.watch_lock, NULL);
	for (int i = 0; i < 1000 && err; i++, usleep(10000))
		err = ibsa_open(&options, NULL, &world.client);
	assert_int_equal(err, 0);
	assert_int_equal(ibsa_port_get(world.client, false, &port), 0);
	world.gid = port.gid;
	ib_sa_register_client(&world.asker);
	assert_int_equal(ibsa_ib_device_open(&named, NULL, &world.device), 0);
	/* Opens the port. */
	gid_read();
	kernel_query_submit();
	load_end();
	world.calls.count = 0;
	world.late.count = 0;
	world.kernel_late.count = 0;
	world.kernel_wait.count = 0;
	world.naps.count = 0;
}

static void world_close(void)
{
	ib_sa_unregister_client(&world.asker);
	ibsa_ib_device_put(world.device);
	assert_int_equal(ibsa_close(world.client), 0);
	free(world.calls.us);
	free(world.late.us);
	free(world.kernel_late.us);
	free(world.kernel_wait.us);
	free(world.queries);
	free(world.naps.us);
}

static int setup(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/ibsa-stopped-%d", (int)getpid());
	snprintf(world.name, sizeof(world.name), "unix:%s", path);
	setenv("IBSA_NODE", "left", 1);
	world.server = fork();
	assert_true(world.server >= 0);
	if (!world.server)
		server_run(path);
	world_open();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	world_close();
	assert_int_equal(kill(world.server, SIGKILL), 0);
	assert_int_equal(waitpid(world.server, NULL, 0), world.server);
	unlink(world.name + strlen("unix:"));
	return 0;
}

/* Run by hand with a server that is running already. */
static int measure(const char *name, pid_t server, unsigned int seconds)
{
	enum { STOPS = 10 };

	snprintf(world.name, sizeof(world.name), "%s", name);
	world.server = server;
	world_open();
	for (int i = 0; i < STOPS; i++)
		stops_under_load(seconds * 1000);
	load_end();
	samples_print("calls", &world.calls);
	samples_print("ibsa_query_start's callbacks late by", &world.late);
	samples_print("ib_sa's callbacks late by", &world.kernel_late);
	samples_print("ib_sa's requests wait for the window",
		      &world.kernel_wait);
	samples_print("sleeps of 200 us, for comparison", &world.naps);
	world_close();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_waits_for_a_stopped_server),
		cmocka_unit_test(change_arrives_afterwards),
	};

	if (argc == 4)
		return measure(argv[1], atoi(argv[2]),
			       (unsigned int)atoi(argv[3]));
	return cmocka_run_group_tests(tests, setup, teardown);
}
