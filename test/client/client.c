/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client's public calls, on a fabric from a file. */
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/ibsa.h>
#include <ibsa/fabric.h>

#include "../support/child.h"

/*
 * FABRIC is the path of a topology file with node1 and node2, defined by the
 * build.
 */

static struct ibsa_client *open_on(const char *node)
{
	const struct ibsa_options options = { .fabric = FABRIC,
					      .device = node };
	struct ibsa_client *client = NULL;
	struct ibsa_error error;

	if (ibsa_open(&options, &error, &client))
		fail_msg("%s", error.text);
	return client;
}

/* As open_on(), with the topology file in IBSA_FABRIC. */
static struct ibsa_client *open_in_environment(const char *node)
{
	const struct ibsa_options options = { .device = node };
	struct ibsa_client *client;

	assert_int_equal(setenv("IBSA_FABRIC", FABRIC, 1), 0);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(unsetenv("IBSA_FABRIC"), 0);
	return client;
}

static void count(const struct ibsa_reply *reply, void *arg)
{
	(void)reply;
	++*(int *)arg;
}

static void register_err(const struct ibsa_reply *reply, void *arg)
{
	*(int *)arg = reply->err;
}

static const struct ibsa_query info = {
	.record = &ibsa_class_port_info_record,
};

/* The blocking call, with and without a callback. */
static void query_wait_waits_for_the_reply(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	const struct ibsa_query many = { .record = &ibsa_node_record };
	int calls = 0;

	(void)state;
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(ibsa_query_wait(client, &info, count, &calls), 0);
	assert_int_equal(ibsa_query_wait(client, &many, count, &calls),
			 -EREMOTEIO);
	assert_int_equal(calls, 2);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * A program's own event loop works: poll the client's fd, up to its timeout,
 * then dispatch.
 */
static void own_loop_works(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	struct pollfd fd = { .fd = ibsa_fd(client), .events = POLLIN };
	int calls = 0;

	(void)state;
	assert_int_equal(ibsa_timeout_ms(client), -1);
	assert_int_equal(ibsa_query_start(client, &info, count, &calls, NULL),
			 0);
	while (!calls) {
		assert_int_equal(poll(&fd, 1, ibsa_timeout_ms(client)), 1);
		assert_int_equal(ibsa_dispatch(client), 0);
	}
	assert_int_equal(calls, 1);
	assert_int_equal(ibsa_close(client), 0);
}

/* What the tap of a client has seen. */
struct tapped {
	unsigned int sent;
	unsigned int received;
	uint32_t tid[2]; /* lower half, of the last MAD received and sent */
};

static void tap_note(const struct ibsa_mad *mad, void *arg)
{
	struct tapped *tapped = arg;

	*(mad->is_sent ? &tapped->sent : &tapped->received) += 1;
	tapped->tid[mad->is_sent] = ibsa_be32(mad->bytes + 12);
	assert_int_equal(mad->peer.lid, 1);
	assert_int_equal(mad->peer.qpn, 1);
	assert_int_equal(mad->bytes[1], IBSA_CLASS_SA);
	assert_int_equal(mad->bytes[3] & 0x80, mad->is_sent ? 0 : 0x80);
	assert_true(mad->len >= 256 && mad->time_ns);
}

static void a_tap_sees_each_mad(void **state)
{
	struct ibsa_client *client = open_on("node2");
	struct tapped tapped = { .sent = 0 };

	(void)state;
	ibsa_tap(client, tap_note, &tapped);
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(tapped.sent, 1);
	assert_int_equal(tapped.received, 1);
	assert_int_equal(tapped.tid[0], tapped.tid[1]);
	ibsa_tap(client, NULL, NULL);
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(tapped.sent + tapped.received, 2);
	assert_int_equal(ibsa_close(client), 0);
}

/* The callback of a cancelled query runs; its id is then invalid. */
static void cancel_is_told(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	struct ibsa_stats stats;
	uint64_t id;
	int err = 0;

	(void)state;
	assert_int_equal(
		ibsa_query_start(client, &info, register_err, &err, &id), 0);
	assert_int_equal(ibsa_cancel(client, id), 0);
	assert_int_equal(err, 0);
	assert_int_equal(ibsa_wait(client, 0), 0);
	assert_int_equal(err, -ECANCELED);
	assert_int_equal(ibsa_cancel(client, id), -ENOENT);
	ibsa_stats_get(client, &stats);
	assert_int_equal(stats.queries, 1);
	assert_int_equal(stats.canceled, 1);
	assert_int_equal(ibsa_close(client), 0);
}

/* Closing calls the callbacks of queries in flight; closing NULL is allowed. */
static void close_ends_what_is_left(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	int err = 0;

	(void)state;
	assert_int_equal(
		ibsa_query_start(client, &info, register_err, &err, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
	assert_int_equal(err, -ECANCELED);
	assert_int_equal(ibsa_close(NULL), 0);
}

static int fabric_library_count(struct dl_phdr_info *library, size_t size,
				void *arg)
{
	(void)size;
	if (strstr(library->dlpi_name, "libibsa-fabric.so"))
		++*(int *)arg;
	return 0;
}

/*
 * Two clients that open the same topology file share one fabric, and libibsa
 * loads no second copy of the library with which this program is linked.
 */
static void clients_of_one_file_share_it(void **state)
{
	struct ibsa_client *one = open_on("node1");
	struct ibsa_client *two = open_in_environment("node2");
	struct ibsa_service service = { .service_id = 0x1234,
					.service_name = "here" };
	const struct ibsa_query set = {
		.record = &ibsa_service_record,
		.match = &service,
		.mask = IBSA_SERVICE_CM(service_id) |
			IBSA_SERVICE_CM(service_gid) |
			IBSA_SERVICE_CM(service_name),
		.method = IBSA_METHOD_SET,
	};
	const struct ibsa_query get = {
		.record = &ibsa_service_record,
		.match = &service,
		.mask = IBSA_SERVICE_CM(service_id),
	};
	struct ibsa_port_state port;
	int libraries = 0;

	(void)state;
	dl_iterate_phdr(fabric_library_count, &libraries);
	assert_int_equal(libraries, 1);
	assert_int_equal(ibsa_port_get(one, true, &port), 0);
	service.service_gid = port.gid;
	assert_int_equal(ibsa_query_wait(two, &get, NULL, NULL), -EREMOTEIO);
	assert_int_equal(ibsa_query_wait(one, &set, NULL, NULL), 0);
	assert_int_equal(ibsa_query_wait(two, &get, NULL, NULL), 0);
	assert_int_equal(ibsa_close(one), 0);
	assert_int_equal(ibsa_query_wait(two, &get, NULL, NULL), 0);
	assert_int_equal(ibsa_close(two), 0);
	one = open_on("node1");
	assert_int_equal(ibsa_query_wait(one, &get, NULL, NULL), -EREMOTEIO);
	assert_int_equal(ibsa_close(one), 0);
}

/* A forked child has a fabric of its own. */
static void forked_child_opens_its_own(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	pid_t child = fork();

	(void)state;
	if (!child) {
		struct ibsa_client *mine = open_on(NULL);
		int err = ibsa_query_wait(mine, &info, NULL, NULL);

		ibsa_close(mine);
		_exit(err ? 1 : 0);
	}
	child_end(child);
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

/* A reply larger than the client accepts is reported, over any transport. */
static void large_reply_is_refused(void **state)
{
	const struct ibsa_options options = { .fabric = FABRIC,
					      .reply_bytes = 256 };
	const struct ibsa_query table = {
		.record = &ibsa_node_record,
		.method = IBSA_METHOD_GET_TABLE,
	};
	struct ibsa_client *client;

	(void)state;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(ibsa_query_wait(client, &table, NULL, NULL),
			 -EMSGSIZE);
	assert_int_equal(ibsa_close(client), 0);
}

/* IBSA_FABRIC names the fabric if the options do not. */
static void environment_chooses_the_fabric(void **state)
{
	struct ibsa_client *client = open_in_environment(NULL);

	(void)state;
	assert_int_equal(ibsa_query_wait(client, &info, NULL, NULL), 0);
	assert_int_equal(ibsa_close(client), 0);
}

static void ignore(unsigned int changes, const struct ibsa_port_state *now,
		   void *arg)
{
	(void)changes;
	(void)now;
	(void)arg;
}

/*
 * Changes of a port are reported until its watch ends or the client is closed.
 */
static void port_is_watched(void **state)
{
	struct ibsa_client *client = open_on(NULL);
	struct ibsa_port_watch *watch;

	(void)state;
	assert_int_equal(ibsa_port_watch_start(client, 0, NULL, NULL, &watch),
			 -EINVAL);
	assert_int_equal(
		ibsa_port_watch_start(client, 5000, ignore, NULL, &watch), 0);
	assert_in_range(ibsa_timeout_ms(client), 1, 5001);
	ibsa_port_watch_stop(watch);
	ibsa_port_watch_stop(NULL);
	assert_int_equal(ibsa_timeout_ms(client), -1);
	assert_int_equal(ibsa_port_watch_start(client, 0, ignore, NULL, &watch),
			 0);
	assert_int_equal(ibsa_close(client), 0);
}

static void open_fails(const struct ibsa_options *options, int err,
		       const char *word)
{
	struct ibsa_client *client = (void *)-1;
	struct ibsa_error error = { .text = "" };

	assert_int_equal(ibsa_open(options, &error, &client), err);
	assert_ptr_equal(client, (void *)-1);
	assert_non_null(strstr(error.text, word));
	assert_int_equal(ibsa_open(options, NULL, &client), err);
}

/* Each error of ibsa_open() has a text that names its cause. */
static void refusals_are_told_apart(void **state)
{
	const struct ibsa_address no_lmc = { .lid = 1, .qpn = 1, .lmc = 8 };
	const struct ibsa_address no_sl = { .lid = 1, .qpn = 1, .sl = 16 };

	(void)state;
	open_fails(&(struct ibsa_options){ .window = (1 << 20) + 1 }, -EINVAL,
		   "window");
	open_fails(&(struct ibsa_options){ .access.sa = &no_lmc }, -EINVAL,
		   "LMC");
	open_fails(&(struct ibsa_options){ .fabric = FABRIC,
					   .access.sa = &no_sl },
		   -EINVAL, "address of the SA has the SL 16");
	open_fails(&(struct ibsa_options){ .jitter_percent = 101 }, -EINVAL,
		   "jitter");
	open_fails(&(struct ibsa_options){ .fabric = "/no/such" }, -ENOENT,
		   "/no/such");
	open_fails(&(struct ibsa_options){ .fabric = FABRIC,
					   .device = "node7" },
		   -ENODEV, "node7");
	open_fails(&(struct ibsa_options){ .fabric = FABRIC,
					   .device = "node1",
					   .port = 9 },
		   -ENXIO, "node1 has no port 9");
	open_fails(&(struct ibsa_options){ .fabric = FABRIC,
					   .device = "node7",
					   .port = 9 },
		   -ENODEV, "no adapter node7");
	open_fails(&(struct ibsa_options){ .fabric = FABRIC, .port = 9 },
		   -ENXIO, "the first adapter has no port 9");
}

static void on_alarm(int signal)
{
	(void)signal;
}

/* A signal ends a wait, but not a blocking query. */
static void signal_ends_a_wait(void **state)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	struct ibsa_client *client = open_on(NULL);

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
	assert_int_equal(ibsa_wait(client, 10000), -EINTR);
	assert_int_equal(ibsa_close(client), 0);
}

/*
 * The tables of a port (GIDs, P_Keys) are read entry by entry, up to their
 * end.
 */
static void tables_are_read(void **state)
{
	struct ibsa_client *client = open_on("node1");
	struct ibsa_port_state port;
	struct ibsa_gid_entry entry = { .index = 7 };
	uint16_t pkey = 7;

	(void)state;
	assert_int_equal(ibsa_port_get(client, false, &port), 0);
	assert_int_equal(ibsa_gid_get(client, 1, &entry), -ENODATA);
	assert_int_equal(ibsa_gid_get(client, UINT32_MAX, &entry), -EINVAL);
	assert_int_equal(entry.index, 7);
	assert_int_equal(ibsa_gid_get(client, 0, &entry), 0);
	assert_memory_equal(&entry.gid, &port.gid, sizeof(port.gid));
	assert_int_equal(entry.type, IBSA_GID_IB);
	assert_int_equal(entry.ifindex, 0);
	assert_int_equal(ibsa_pkey_get(client, UINT32_MAX, &pkey), -EINVAL);
	assert_int_equal(pkey, 7);
	assert_int_equal(ibsa_pkey_get(client, 0, &pkey), 0);
	assert_int_equal(pkey, 0xffff);
	assert_int_equal(ibsa_close(client), 0);
}

/* A program's own transport need not have operations for the port's tables. */
static void transports_may_have_no_tables(void **state)
{
	struct ibsa_options options = { 0 };
	struct ibsa_gid_entry entry;
	struct ibsa_transport_ops ops;
	struct ibsa_fabric *fabric;
	struct ibsa_client *client;
	uint16_t pkey;

	(void)state;
	assert_int_equal(ibsa_fabric_load(FABRIC, NULL, NULL, &fabric), 0);
	assert_int_equal(
		ibsa_fabric_attach(fabric, NULL, 0, &options.transport), 0);
	ops = *options.transport->ops;
	ops.gid = NULL;
	ops.pkey = NULL;
	options.transport->ops = &ops;
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_gid_get(client, 0, &entry), -EOPNOTSUPP);
	assert_int_equal(ibsa_pkey_get(client, 0, &pkey), -EOPNOTSUPP);
	assert_int_equal(ibsa_close(client), 0);
	ibsa_fabric_put(fabric);
}

/* A fabric begins with the table of its library, which has a version. */
static void fabric_of_another_version_is_refused(void **state)
{
	static const unsigned int version = 0;
	const struct {
		const unsigned int *table;
	} fabric = { &version };
	const struct ibsa_options options = { .on = (void *)&fabric };
	struct ibsa_client *client;
	struct ibsa_error error;

	(void)state;
	assert_int_equal(ibsa_open(&options, &error, &client), -EOPNOTSUPP);
	assert_non_null(strstr(error.text, "libibsa-fabric1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(query_wait_waits_for_the_reply),
		cmocka_unit_test(own_loop_works),
		cmocka_unit_test(cancel_is_told),
		cmocka_unit_test(close_ends_what_is_left),
		cmocka_unit_test(clients_of_one_file_share_it),
		cmocka_unit_test(forked_child_opens_its_own),
		cmocka_unit_test(large_reply_is_refused),
		cmocka_unit_test(environment_chooses_the_fabric),
		cmocka_unit_test(port_is_watched),
		cmocka_unit_test(refusals_are_told_apart),
		cmocka_unit_test(signal_ends_a_wait),
		cmocka_unit_test(a_tap_sees_each_mad),
		cmocka_unit_test(tables_are_read),
		cmocka_unit_test(transports_may_have_no_tables),
		cmocka_unit_test(fabric_of_another_version_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
