/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process at a host of a fabric server has all adapters of that host, by the
 * names and with the ports that it has at the same host of a topology file.
 */
#include "test/support/server_rig.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include <ibsa/device.h>
#include <ibsa/fabric.h>
#include <ibsa/ib_sa.h>
#include <ibsa/server.h>
#include <ibsa/umad_ext.h>
#include <ibsa/verbs.h>

#include "wire/mad.h"

/*
 * The host "gpu1" has adapters in another order than their names, one of them
 * with two ports, and one without a cable; "twin" has two adapters of one name,
 * "odd" has names that no device can have, "bare" and the switch have none.
 */
static const char hosts[] =
	"Switch 16 \"S\" # \"rack 7\"\n"
	"[1] \"a10\"[1]\n[2] \"a0\"[1]\n[3] \"a2\"[2]\n[4] \"a2\"[1]\n"
	"[5] \"t1\"[1]\n[6] \"t2\"[1]\n[7] \"o1\"[1]\n[8] \"o2\"[1]\n"
	"[9] \"o3\"[1]\n[10] \"o4\"[1]\n[11] \"bare\"[1]\n[12] \"zero\"[1]\n"
	"Ca 1 \"zero\" # \"first mlx5_0\"\n"
	"Ca 1 \"a10\" # \"gpu1 mlx5_10\"\n"
	"Ca 1 \"a0\" # \"gpu1 mlx5_0\"\n"
	"Ca 2 \"a2\" # \"gpu1 mlx5_2\"\n"
	"Ca 1 \"a3\" # \"gpu1 mlx5_3\"\n"
	"Ca 1 \"t1\" # \"twin mlx5_0\"\n"
	"Ca 1 \"t2\" # \"twin mlx5_0\"\n"
	"Ca 1 \"o1\" # \"odd ../../etc\"\n"
	"Ca 1 \"o2\" # \"odd two words\"\n"
	"Ca 1 \"o3\" # \"odd ibsa0\"\n"
	"Ca 1 \"o4\" # \"odd mlx4_0\"\n"
	"Ca 1 \"bare\"\n";

struct world {
	struct server_rig *server;
	char file[64];
	const char *host_name;
};

static struct world world;

/* The host name of this machine. */
int __wrap_gethostname(char *name, size_t len);
int __wrap_gethostname(char *name, size_t len)
{
	if (snprintf(name, len, "%s", world.host_name) < (int)len)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
}

static int setup(void **state)
{
	FILE *file;

	(void)state;
	world.server = server_start(hosts);
	snprintf(world.file, sizeof(world.file), "/tmp/hosts-%d.net",
		 (int)getpid());
	file = fopen(world.file, "w");
	assert_non_null(file);
	assert_true(fputs(hosts, file) >= 0);
	return fclose(file);
}

static int teardown(void **state)
{
	(void)state;
	unlink(world.file);
	server_stop(world.server);
	return 0;
}

/* Each test begins without IBSA_NODE, and the fabric does not have this host. */
static int begin(void **state)
{
	(void)state;
	world.host_name = "elsewhere";
	unsetenv("IBSA_NODE");
	return setenv("IBSA_FABRIC", server_address(world.server), 1);
}

static int end(void **state)
{
	(void)state;
	unsetenv("IBSA_NODE");
	return unsetenv("IBSA_FABRIC");
}

/* The text of the command sysfs has as many names, of the same length. */
static void check_sysfs(const char *names)
{
	const char *node = getenv("IBSA_NODE");
	char text[65536], line[128];
	size_t len = 0;

	snprintf(line, sizeof(line), "sysfs 0 %s", node ? node : "");
	assert_false(ibsa_server_command(NULL, line, text, sizeof(text), NULL));
	for (const char *at = text; (at = strstr(at, "s/infiniband\n"));) {
		at += strlen("s/infiniband\n");
		len += *at == '/' ? 0 : strcspn(at, ">") + 1;
	}
	assert_int_equal(len, strlen(names));
}

/* Check the names of the devices, each followed by a space, in their order. */
static void check_devices(const char *expected)
{
	struct ibsa_device_list *list;
	char names[256] = "";

	assert_int_equal(ibsa_devices_read(&list), 0);
	for (size_t i = 0; i < list->count; i++) {
		const struct ibsa_device *device = ibsa_device_at(list, i);
		const size_t len = strlen(names);

		assert_int_equal(device->err, 0);
		snprintf(names + len, sizeof(names) - len, "%s ", device->name);
	}
	assert_string_equal(names, expected);
	ibsa_devices_free(list);
	check_sysfs(expected);
}

static void the_adapters_of_a_host_have_their_names(void **state)
{
	static const struct {
		const char *node;
		const char *devices;
	} cases[] = {
		{ "gpu1", "mlx5_0 mlx5_2 mlx5_3 mlx5_10 " },
		{ "GPU1", "mlx5_0 mlx5_2 mlx5_3 mlx5_10 " },
		{ "gpu1 mlx5_3", "mlx5_3 " },
		{ "gpu1/mlx5_10", "mlx5_10 " },
		{ "a2", "mlx5_2 " },
		{ "twin", "ibsa0 mlx5_0 " },
		{ "odd", "ibsa0 ibsa1 ibsa2 mlx4_0 " },
		{ "odd two words", "ibsa0 " },
		{ "bare", "ibsa0 " },
		{ "rack 7", "ibsa0 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("IBSA_NODE", cases[i].node, 1);
		check_devices(cases[i].devices);
	}
}

static void a_process_sits_at_its_machine(void **state)
{
	static const struct {
		const char *host_name;
		const char *devices;
	} cases[] = {
		{ "gpu1", "mlx5_0 mlx5_2 mlx5_3 mlx5_10 " },
		{ "gpu1.cluster.example", "mlx5_0 mlx5_2 mlx5_3 mlx5_10 " },
		{ "TWIN", "ibsa0 mlx5_0 " },
		{ "bare", "ibsa0 " },
		{ "gpu", "ibsa0 " },
		{ "a2", "ibsa0 " },
		{ "gpu1 mlx5_3", "ibsa0 " },
		{ "rack", "ibsa0 " },
		{ "", "ibsa0 " },
	};
	struct ibsa_device_list *list;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world.host_name = cases[i].host_name;
		check_devices(cases[i].devices);
	}
	/* IBSA_NODE is stronger, also if there is no such node. */
	world.host_name = "gpu1";
	setenv("IBSA_NODE", "twin", 1);
	check_devices("ibsa0 mlx5_0 ");
	setenv("IBSA_NODE", "nobody", 1);
	assert_int_equal(ibsa_devices_read(&list), -ENODEV);
}

/* A host that the machine is not, and nothing else, means the first adapter. */
static void the_first_adapter_is_the_default(void **state)
{
	struct ibsa_device_list *list;

	(void)state;
	assert_int_equal(ibsa_devices_read(&list), 0);
	assert_int_equal(list->count, 1);
	assert_string_equal(ibsa_device_at(list, 0)->name, "ibsa0");
	assert_int_equal(ibsa_device_at(list, 0)->ports[0].state->lid, 1);
	ibsa_devices_free(list);
}

/* What a program sees of a port. */
struct sight {
	int err;
	struct ibsa_port_state port;
	struct ibsa_gid_entry gid;
	uint16_t pkey;
};

static struct sight see(const char *fabric, const char *device,
			unsigned int port)
{
	const struct ibsa_options options = {
		.fabric = fabric,
		.device = device,
		.port = port,
	};
	struct sight sight = { .err = 0 };
	struct ibsa_client *client;

	sight.err = ibsa_open(&options, NULL, &client);
	if (sight.err)
		return sight;
	assert_int_equal(ibsa_port_get(client, false, &sight.port), 0);
	assert_int_equal(ibsa_gid_get(client, 0, &sight.gid), 0);
	assert_int_equal(ibsa_pkey_get(client, 0, &sight.pkey), 0);
	assert_int_equal(ibsa_close(client), 0);
	return sight;
}

/*
 * A name means the same port of a fabric server as of the topology file, and is
 * refused in the same way. Only a port without a cable differs: its umad file can
 * be opened at a server, as on a machine.
 */
static void names_mean_the_same_ports_on_both_fabrics(void **state)
{
	static const char *const nodes[] = { "gpu1", "gpu1 mlx5_2", "twin",
					     "odd",  "bare",	    NULL };
	static const char *const devices[] = {
		NULL,	 "mlx5_0", "mlx5_2",	  "mlx5_10",
		"ibsa0", "ibsa1",  "gpu1/mlx5_0", "twin",
		"a2",	 "mlx4_0", "mlx9_9",	  "gpu1 mlx5_10"
	};
	unsigned int open_count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		if (nodes[i])
			setenv("IBSA_NODE", nodes[i], 1);
		else
			unsetenv("IBSA_NODE");
		for (size_t k = 0; k < sizeof(devices) / sizeof(devices[0]);
		     k++) {
			for (unsigned int port = 0; port <= 2; port++) {
				const struct sight file = see(world.file,
							      devices[k], port);
				const struct sight server =
					see(server_address(world.server),
					    devices[k], port);

				assert_int_equal(file.err, server.err);
				assert_memory_equal(&file, &server,
						    sizeof(file));
				open_count += !file.err;
			}
		}
	}
	assert_in_range(open_count, 50, 150);
}

static void host_name_counts_on_both_fabrics(void **state)
{
	struct sight file, server;

	(void)state;
	world.host_name = "gpu1.example";
	file = see(world.file, "mlx5_2", 2);
	server = see(server_address(world.server), "mlx5_2", 2);
	assert_int_equal(file.err, 0);
	assert_memory_equal(&file, &server, sizeof(file));
	file = see(world.file, NULL, 0);
	server = see(server_address(world.server), NULL, 0);
	assert_int_equal(file.err, 0);
	assert_memory_equal(&file, &server, sizeof(file));
}

/* libibumad's functions agree with the clients at the ports. */
static void libibumad_has_all_ports(void **state)
{
	static const char expected[][UMAD_CA_NAME_LEN] = { "mlx5_0", "mlx5_10",
							   "mlx5_2", "mlx5_3" };
	char names[8][UMAD_CA_NAME_LEN];
	struct umad_ca_pair pairs[8];
	umad_ca_t ca;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	assert_int_equal(umad_get_cas_names(names, 8), 4);

	assert_int_equal(umad_get_smi_gsi_pairs(pairs, 8), 4);
	for (int i = 0; i < 4; i++) {
		__be64 guids[3];

		assert_string_equal(names[i], expected[i]);
		assert_string_equal(pairs[i].smi_name, expected[i]);
		assert_string_equal(pairs[i].gsi_name, expected[i]);
		assert_int_equal(umad_get_ca(expected[i], &ca), 0);
		assert_int_equal(umad_get_ca_portguids(expected[i], guids, 3),
				 ca.numports + 1);
		for (int port = 1; port <= ca.numports; port++) {
			const struct sight sight =
				see(server_address(world.server), expected[i],
				    (unsigned int)port);

			assert_int_equal(sight.err, 0);
			assert_int_equal(ca.ports[port]->base_lid,
					 sight.port.lid);
			assert_memory_equal(&guids[port], sight.gid.gid.raw + 8,
					    8);
		}
		assert_int_equal(umad_release_ca(&ca), 0);
	}
}

enum { SMP_DIRECTED = 0x81, NODE_INFO = 0x11, LIDS_AT = 32, GUID_AT = 64 + 20 };

static int smp_agent(int portid)
{
	const int agent = umad_register(portid, SMP_DIRECTED, 1, 0, NULL);

	assert_true(agent >= 0);
	return agent;
}

struct packet {
	_Alignas(8) uint8_t bytes[64 + 256];
};

/* Ask the port's own SMA. Return: the status of the packet that comes back. */
static int smp_exchange(int portid, int agent, struct packet *packet)
{
	uint8_t *mad = umad_get_mad(packet->bytes);
	int length = 256;

	*packet = (struct packet){ .bytes = { 0 } };
	mad[MAD_BASE_VERSION] = 1;
	mad[MAD_CLASS] = SMP_DIRECTED;
	mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_METHOD] = IBSA_METHOD_GET;
	ibsa_put_be16(mad + MAD_ATTRIBUTE, NODE_INFO);
	memset(mad + LIDS_AT, 0xff, 4);
	assert_int_equal(umad_set_addr(packet->bytes, 0xffff, 0, 0, 0), 0);
	assert_int_equal(umad_send(portid, agent, packet->bytes, 256, 5000, 3),
			 0);
	assert_int_equal(umad_recv(portid, packet->bytes, &length, 60000),
			 agent);
	return umad_status(packet->bytes);
}

/*
 * Return: the GUID of the port of a umad file, in network byte order. A request
 * that is sent while there is no server times out.
 */
static __be64 guid_of(int portid, int agent)
{
	struct packet packet;
	int status = ETIMEDOUT;
	__be64 guid;

	for (int i = 0; i < 20 && status == ETIMEDOUT; i++)
		status = smp_exchange(portid, agent, &packet);
	assert_int_equal(status, 0);
	memcpy(&guid, (uint8_t *)umad_get_mad(packet.bytes) + GUID_AT,
	       sizeof(guid));
	return guid;
}

static void libibumad_opens_each_port(void **state)
{
	static const struct {
		const char *name;
		int port;
	} ports[] = { { "mlx5_10", 1 },
		      { "mlx5_0", 1 },
		      { "mlx5_2", 1 },
		      { "mlx5_2", 2 } };
	int portids[4];

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	for (int i = 0; i < 4; i++) {
		portids[i] = umad_open_port(ports[i].name, ports[i].port);
		assert_true(portids[i] >= 0);
	}
	for (int i = 0; i < 4; i++) {
		umad_port_t port;

		assert_int_equal(
			umad_get_port(ports[i].name, ports[i].port, &port), 0);
		assert_true(guid_of(portids[i], smp_agent(portids[i])) ==
			    port.port_guid);
		assert_int_equal(umad_release_port(&port), 0);
		assert_int_equal(umad_close_port(portids[i]), 0);
	}
	assert_true(umad_open_port("mlx5_2", 3) < 0);
	assert_true(umad_open_port("mlx5_1", 1) < 0);
}

static bool is_sm(const char *name, int number)
{
	umad_port_t port;
	bool is_set;

	assert_int_equal(umad_get_port(name, number, &port), 0);
	is_set = be32toh(port.capmask) & 2;
	assert_int_equal(umad_release_port(&port), 0);
	return is_set;
}

/* Wait until IsSM of the port has this value. */
static void sm_await(const char *name, int number, bool is_set)
{
	for (int i = 0; is_sm(name, number) != is_set; i++) {
		assert_in_range(i, 0, 30000);
		usleep(1000);
	}
}

/* Each port has an issm file of its own. */
static void issm_files_belong_to_ports(void **state)
{
	char first[256], second[256];
	FILE *file;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	assert_int_equal(umad_get_issm_path("mlx5_2", 1, first, sizeof(first)),
			 0);
	assert_int_equal(
		umad_get_issm_path("mlx5_2", 2, second, sizeof(second)), 0);
	assert_string_not_equal(first, second);
	file = fopen(second, "r");
	assert_non_null(file);
	sm_await("mlx5_2", 2, true);
	assert_false(is_sm("mlx5_2", 1));
	assert_false(is_sm("mlx5_0", 1));
	assert_int_equal(fclose(file), 0);
	sm_await("mlx5_2", 2, false);
}

/* Two processes, here two files, share a port as on one machine. */
static void one_of_two_receives_the_requests_of_a_class(void **state)
{
	long mask[16 / sizeof(long)] = { 1L << IBSA_METHOD_GET };
	const int vendor_class = 0x0a;
	int first, second, other;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	first = umad_open_port("mlx5_2", 2);
	setenv("IBSA_NODE", "gpu1 mlx5_2", 1);
	second = umad_open_port("mlx5_2", 2);
	other = umad_open_port("mlx5_2", 1);
	assert_true(first >= 0 && second >= 0 && other >= 0);
	assert_true(umad_register(first, vendor_class, 1, 0, mask) >= 0);
	assert_true(umad_register(second, vendor_class, 1, 0, mask) < 0);
	assert_true(umad_register(other, vendor_class, 1, 0, mask) >= 0);
	assert_int_equal(umad_close_port(first), 0);
	assert_true(umad_register(second, vendor_class, 1, 0, mask) >= 0);
	assert_int_equal(umad_close_port(second), 0);
	assert_int_equal(umad_close_port(other), 0);
}

static void contexts_and_devices_have_the_names_of_the_host(void **state)
{
	const struct ibsa_options options = { .device = "mlx5_2" };
	struct ibv_context *context = NULL;
	struct ibv_gid_entry entry;
	struct ibsa_gid_list *gids;
	struct sight sight;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	assert_int_equal(ibsa_verbs_open(NULL, NULL, &context), 0);
	assert_string_equal(context->device->name, "mlx5_0");
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(ibsa_verbs_open(&options, NULL, &context), 0);
	sight = see(server_address(world.server), "mlx5_2", 2);
	assert_int_equal(ibsa_query_gid_ex(context, 2, 0, &entry, 0), 0);
	assert_memory_equal(entry.gid.raw, sight.gid.gid.raw, 16);
	assert_int_equal(ibv_gid_reachable(context, 2, &entry.gid, 5000), 0);
	assert_int_equal(ibsa_verbs_close(context), 0);
	assert_int_equal(ibsa_gids_read("mlx5_2", 2, &gids), 0);
	assert_int_equal(gids->count, 1);
	ibsa_gids_free(gids);
}

static unsigned int descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Open and close ports. Return: whether only open ports took descriptors. */
static bool descriptors_are_few(void)
{
	const unsigned int none = descriptors();
	const int one = umad_open_port("mlx5_10", 1);
	const unsigned int each = descriptors() - none;
	const int two = umad_open_port("mlx5_2", 1);
	const int three = umad_open_port("mlx5_2", 2);
	const bool is_fine = one >= 0 && two >= 0 && three >= 0 && each <= 6 &&
			     descriptors() == none + 3 * each;

	check_devices("mlx5_0 mlx5_2 mlx5_3 mlx5_10 ");
	return is_fine && descriptors() == none + 3 * each &&
	       !umad_close_port(one) && !umad_close_port(two) &&
	       !umad_close_port(three) && descriptors() == none;
}

/*
 * A port takes descriptors when it is opened, and not before. A child counts
 * them, because those of the server are in this process.
 */
static void only_open_ports_have_descriptors(void **state)
{
	int status;
	pid_t child;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	child = fork();
	if (!child)
		_exit(descriptors_are_few() ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* After the server was opened again, each port is the same one. */
static void ports_stay_after_a_restart(void **state)
{
	const struct ibsa_options options = { .device = "mlx5_2", .port = 2 };
	struct ibsa_port_state before, after;
	struct ibsa_client *client;
	int portid, agent;
	__be64 guid;

	(void)state;
	setenv("IBSA_NODE", "gpu1", 1);
	portid = umad_open_port("mlx5_10", 1);
	agent = smp_agent(portid);
	guid = guid_of(portid, agent);
	assert_int_equal(ibsa_open(&options, NULL, &client), 0);
	assert_int_equal(ibsa_port_get(client, false, &before), 0);
	server_end(world.server);
	server_restart(world.server);
	for (int i = 0; ibsa_port_get(client, true, &after); i++) {
		assert_in_range(i, 0, 30000);
		usleep(1000);
	}
	assert_int_equal(after.lid, before.lid);
	assert_memory_equal(&after.gid, &before.gid, sizeof(after.gid));
	assert_true(guid_of(portid, agent) == guid);
	assert_int_equal(umad_close_port(portid), 0);
	assert_int_equal(ibsa_close(client), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ONE(name) cmocka_unit_test_setup_teardown(name, begin, end)
		ONE(the_adapters_of_a_host_have_their_names),
		ONE(a_process_sits_at_its_machine),
		ONE(the_first_adapter_is_the_default),
		ONE(names_mean_the_same_ports_on_both_fabrics),
		ONE(host_name_counts_on_both_fabrics),
		ONE(libibumad_has_all_ports),
		ONE(libibumad_opens_each_port),
		ONE(issm_files_belong_to_ports),
		ONE(one_of_two_receives_the_requests_of_a_class),
		ONE(contexts_and_devices_have_the_names_of_the_host),
		ONE(only_open_ports_have_descriptors),
		ONE(ports_stay_after_a_restart),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
