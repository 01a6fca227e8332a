/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The option no_environment, and ibsa_environment_ignore(): objects are opened
 * as if no variable of the library were set.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/fabric.h>
#include <ibsa/device.h>
#include <ibsa/server.h>
#include <ibsa/ib_sa.h>
#include <ibsa/ibsa.h>
#include <ibsa/records.h>
#include <ibsa/responder.h>
#include <ibsa/verbs.h>

#include "test/support/child.h"
#include "test/support/device_tree.h"

/* How an attempt to open something ended. */
struct outcome {
	int err;
	struct ibsa_error error;
};

static struct {
	struct tree tree; /* has a device without a umad file */
	struct ibsa_fabric *fabric;
} world;

static void variables_unset(void)
{
	unsetenv("IBSA_FABRIC");
	unsetenv("IBSA_NODE");
	unsetenv("IBSA_RING");
	unsetenv("IBSA_SEED");
	unsetenv("SYSFS_PATH");
}

static int setup(void **state)
{
	(void)state;
	tree_make(&world.tree);
	tree_add_device(&world.tree, "mlx5_0");
	variables_unset();
	return ibsa_fabric_load(FABRIC, NULL, NULL, &world.fabric);
}

static int teardown(void **state)
{
	(void)state;
	ibsa_fabric_put(world.fabric);
	tree_remove(&world.tree);
	return 0;
}

static struct outcome client_open(bool no_environment, const char *fabric)
{
	const struct ibsa_options options = {
		.fabric = fabric,
		.no_environment = no_environment,
	};
	struct outcome outcome = { .err = 0 };
	struct ibsa_client *client = NULL;

	outcome.err = ibsa_open(&options, &outcome.error, &client);
	assert_int_equal(ibsa_close(client), 0);
	return outcome;
}

static struct outcome any_client_open(bool no_environment)
{
	return client_open(no_environment, NULL);
}

static struct outcome machine_client_open(bool no_environment)
{
	return client_open(no_environment, "");
}

static struct outcome device_open(bool no_environment)
{
	const struct ibsa_ib_device_options options = {
		.no_environment = no_environment,
	};
	struct outcome outcome = { .err = 0 };
	struct ib_device *device = NULL;

	outcome.err = ibsa_ib_device_open(&options, &outcome.error, &device);
	ibsa_ib_device_put(device);
	return outcome;
}

static struct outcome context_open(bool no_environment)
{
	const struct ibsa_options options = {
		.no_environment = no_environment,
	};
	struct outcome outcome = { .err = 0 };
	struct ibv_context *context = NULL;

	outcome.err = ibsa_verbs_open(&options, &outcome.error, &context);
	assert_int_equal(ibsa_verbs_close(context), 0);
	return outcome;
}

/* A context of libibverbs, which reads SYSFS_PATH alone. */
static struct outcome context_attach(bool no_environment)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = {
		.device = &device,
		.cmd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.async_fd = eventfd(0, EFD_CLOEXEC),
	};
	const struct ibsa_verbs_options options = {
		.no_environment = no_environment,
	};
	struct outcome outcome = { .err = 0 };
	struct ibv_gid_entry entry;

	assert_int_equal(ibsa_verbs_attach(&context, &options), 0);
	outcome.err = ibsa_query_gid_ex(&context, 1, 0, &entry, 0);
	assert_int_equal(ibsa_verbs_attach(&context, &options), -EALREADY);
	assert_int_equal(ibsa_verbs_detach(&context), 0);
	close(context.async_fd);
	close(context.cmd_fd);
	return outcome;
}

static struct outcome responder_open(bool no_environment)
{
	const struct ibsa_responder_options options = {
		.no_environment = no_environment,
	};
	struct outcome outcome = { .err = 0 };
	struct ibsa_responder *responder = NULL;
	struct ibsa_fabric *fabric;

	assert_int_equal(ibsa_fabric_load(FABRIC, NULL, NULL, &fabric), 0);
	outcome.err = ibsa_responder_open(fabric, &options, &outcome.error,
					  &responder);
	ibsa_responder_close(responder);
	ibsa_fabric_put(fabric);
	return outcome;
}

typedef struct outcome (*open_fn)(bool no_environment);

static const open_fn openers[] = {
	any_client_open, machine_client_open, device_open,
	context_open,	 context_attach,      responder_open,
};

enum { OPENERS = sizeof(openers) / sizeof(openers[0]) };

static struct outcome shared_device_get(bool ignored)
{
	struct outcome outcome = { .err = 0 };
	struct ib_device *device = NULL;

	(void)ignored;
	outcome.err = ibsa_ib_device_get(NULL, &device);
	ibsa_ib_device_put(device);
	return outcome;
}

static struct outcome gids_read(bool ignored)
{
	struct outcome outcome = { .err = 0 };
	struct ibsa_gid_list *list = NULL;

	(void)ignored;
	outcome.err = ibsa_gids_read("mlx5_0", 1, &list);
	ibsa_gids_free(list);
	return outcome;
}

static struct outcome server_command(bool ignored)
{
	struct outcome outcome = { .err = 0 };

	(void)ignored;
	outcome.err = ibsa_server_command(NULL, "stats", NULL, 0,
					  &outcome.error);
	return outcome;
}

/* Functions without options. */
static const open_fn readers[] = { shared_device_get, gids_read,
				   server_command };

enum { READERS = sizeof(readers) / sizeof(readers[0]) };

static bool outcome_is(const struct outcome *a, const struct outcome *b)
{
	return a->err == b->err && !strcmp(a->error.text, b->error.text);
}

/*
 * Set the variables, so that each function fails in another way than without
 * them, or reads the tree's device. gids_read() and server_command() need
 * different values of IBSA_FABRIC.
 */
static void variables_set(open_fn function)
{
	variables_unset();
	setenv("SYSFS_PATH", world.tree.path, 1);
	if (function == server_command)
		setenv("IBSA_FABRIC", "unix:/nonexistent/server", 1);
	else if (function != gids_read)
		setenv("IBSA_FABRIC", "/nonexistent/file.net", 1);
}

static void an_option_ignores_the_variables(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPENERS; i++) {
		const struct outcome unset = openers[i](false);
		struct outcome set;
		struct outcome ignored;

		variables_set(openers[i]);
		set = openers[i](false);
		ignored = openers[i](true);
		variables_unset();
		if (outcome_is(&set, &unset))
			fail_msg("opener %zu ignores the variables", i);
		if (!outcome_is(&ignored, &unset))
			fail_msg("opener %zu reads the variables: %s", i,
				 ignored.error.text);
	}
}

/* Return: whether @function returns the same as before the switch. */
static bool is_ignored(open_fn function, const struct outcome *unset)
{
	const struct outcome now = function(false);

	if (outcome_is(&now, unset))
		return true;
	fprintf(stderr, "%d \"%s\", not %d \"%s\"\n", now.err, now.error.text,
		unset->err, unset->error.text);
	return false;
}

/* The switch of libibsa has effect in libibsa-compat and libibsa-fabric. */
static void a_process_ignores_the_variables(void **state)
{
	struct outcome unset[OPENERS + READERS];
	bool holds = true;
	pid_t child;

	(void)state;
	for (size_t i = 0; i < OPENERS; i++)
		unset[i] = openers[i](false);
	for (size_t i = 0; i < READERS; i++) {
		struct outcome set;

		unset[OPENERS + i] = readers[i](false);
		variables_set(readers[i]);
		set = readers[i](false);
		variables_unset();
		assert_false(outcome_is(&set, &unset[OPENERS + i]));
	}
	child = fork();
	if (!child) {
		ibsa_environment_ignore();
		for (size_t i = 0; i < OPENERS + READERS; i++) {
			const open_fn function = i < OPENERS
							 ? openers[i]
							 : readers[i - OPENERS];

			variables_set(function);
			holds = is_ignored(function, &unset[i]) && holds;
		}
		_exit(!holds);
	}
	child_end(child);
}

static struct ibsa_gid gid_of(const struct ibsa_options *options)
{
	struct ibsa_port_state port;
	struct ibsa_client *client;

	assert_int_equal(ibsa_open(options, NULL, &client), 0);
	assert_int_equal(ibsa_port_get(client, false, &port), 0);
	assert_int_equal(ibsa_close(client), 0);
	return port.gid;
}

static void the_node_of_a_named_fabric_is_the_first(void **state)
{
	struct ibsa_options options = { .fabric = FABRIC };
	const struct ibsa_gid first = gid_of(&options);
	struct ibsa_gid gid;

	(void)state;
	setenv("IBSA_NODE", "node2", 1);
	gid = gid_of(&options);
	assert_memory_not_equal(&gid, &first, sizeof(gid));
	options.no_environment = true;
	gid = gid_of(&options);
	assert_memory_equal(&gid, &first, sizeof(gid));
	variables_unset();
}

static void attached_context_has_read_them(void **state)
{
	struct ibv_device device = { .name = "mlx5_0" };
	struct ibv_context context = {
		.device = &device,
		.cmd_fd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.async_fd = eventfd(0, EFD_CLOEXEC),
	};
	const struct ibsa_verbs_options options = { .no_environment = true };
	const struct ibsa_options in_fabric = { .fabric = FABRIC };
	struct ibv_gid_entry entry;
	struct ibv_context *ours;

	(void)state;
	(void)!ibsa_query_gid_ex(&context, 1, 0, &entry, 0);
	assert_int_equal(ibsa_verbs_attach(&context, &options), -EBUSY);
	assert_int_equal(ibsa_close_device(&context), -1);
	assert_int_equal(ibsa_verbs_open(&in_fabric, NULL, &ours), 0);
	assert_int_equal(ibsa_verbs_attach(ours, &options), -EINVAL);
	assert_int_equal(ibsa_verbs_close(ours), 0);
	close(context.async_fd);
	close(context.cmd_fd);
}

/* A fabric server, which runs in a thread. */
struct server {
	struct ibsa_fabric_server *server;
	pthread_t thread;
	atomic_bool ends;
	char address[128];
	/* Lower half of the TransactionID of the last request to the SA. */
	uint32_t tid;
};

static void *server_run(void *arg)
{
	struct server *server = arg;

	while (!server->ends)
		(void)!ibsa_fabric_server_wait(server->server, -1);
	return NULL;
}

/* A MAD follows LRH, BTH and DETH. */
static void request_see(const struct ibsa_packet *packet, void *arg)
{
	enum { MAD = 28, MAD_METHOD = 3, MAD_TID_LOW = 12 };
	struct server *server = arg;

	if (packet->len > MAD + 256 &&
	    packet->bytes[MAD + MAD_METHOD] == IBSA_METHOD_GET)
		server->tid = ibsa_be32(packet->bytes + MAD + MAD_TID_LOW);
}

static void server_open(struct server *server, bool no_environment)
{
	const struct ibsa_fabric_server_options options = {
		.no_environment = no_environment,
	};
	const char *path = server->address + strlen("unix:");

	*server = (struct server){ .ends = false };
	snprintf(server->address, sizeof(server->address), "unix:%s/socket",
		 world.tree.path);
	assert_int_equal(ibsa_fabric_server_open(world.fabric, path, &options,
						 NULL, &server->server),
			 0);
	assert_int_equal(ibsa_fabric_tap(world.fabric, request_see, server), 0);
	assert_int_equal(
		pthread_create(&server->thread, NULL, server_run, server), 0);
}

static void server_close(struct server *server)
{
	server->ends = true;
	ibsa_fabric_server_wake(server->server);
	assert_int_equal(pthread_join(server->thread, NULL), 0);
	assert_int_equal(ibsa_fabric_tap(world.fabric, NULL, NULL), 0);
	ibsa_fabric_server_close(server->server);
}

static unsigned int rings_count(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned int count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "ibsa-ring") != NULL;
	fclose(maps);
	return count;
}

/* Return: the number of rings while a client is open. */
static unsigned int server_query(const struct server *server,
				 bool no_environment)
{
	const struct ibsa_options options = {
		.fabric = server->address,
		.no_environment = no_environment,
	};
	const struct ibsa_query query = {
		.record = &ibsa_class_port_info_record,
	};
	struct ibsa_client *client;
	unsigned int rings;

	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_query_wait(client, &query, NULL, NULL), 0);
	rings = rings_count();
	assert_int_equal(ibsa_close(client), 0);
	return rings;
}

static void a_server_has_rings_and_a_client_its_own_seed(void **state)
{
	struct server server;
	uint32_t tid;

	(void)state;
	setenv("IBSA_RING", "0", 1);
	setenv("IBSA_SEED", "7", 1);
	server_open(&server, false);
	assert_int_equal(server_query(&server, false), 0);
	tid = server.tid;
	assert_int_equal(server_query(&server, false), 0);
	assert_int_equal(server.tid, tid);
	(void)server_query(&server, true);
	assert_int_not_equal(server.tid, tid);
	server_close(&server);
	server_open(&server, true);
	assert_int_not_equal(server_query(&server, false), 0);
	server_close(&server);
	variables_unset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_ignores_the_variables),
		cmocka_unit_test(a_process_ignores_the_variables),
		cmocka_unit_test(the_node_of_a_named_fabric_is_the_first),
		cmocka_unit_test(attached_context_has_read_them),
		cmocka_unit_test(a_server_has_rings_and_a_client_its_own_seed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
