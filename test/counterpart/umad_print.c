/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-print LIBRARY
 *
 * Prints what a library's umad_* calls return for the devices of this machine,
 * one call a line. LIBRARY is the drop-in or libibumad.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

enum { NAMES = 300, GUIDS = 64 };

/* The calls, under their names. */
static struct {
	void *library;
	__typeof__(umad_init) *init;
	__typeof__(umad_done) *done;
	__typeof__(umad_get_cas_names) *get_cas_names;
	__typeof__(umad_get_ca_portguids) *get_ca_portguids;
	__typeof__(umad_get_ca) *get_ca;
	__typeof__(umad_release_ca) *release_ca;
	__typeof__(umad_get_port) *get_port;
	__typeof__(umad_release_port) *release_port;
	__typeof__(umad_get_issm_path) *get_issm_path;
	__typeof__(umad_get_ca_device_list) *get_ca_device_list;
	__typeof__(umad_sort_ca_device_list) *sort_ca_device_list;
	__typeof__(umad_free_ca_device_list) *free_ca_device_list;
} umad;

/* POSIX allows a function's address to be taken only through such a cast. */
#define FIND(name)                                                  \
	(*(void **)&umad.name = dlsym(umad.library, "umad_" #name), \
	 umad.name != NULL)

static int library_open(const char *path)
{
	umad.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return umad.library && FIND(init) && FIND(done) &&
	       FIND(get_cas_names) && FIND(get_ca_portguids) && FIND(get_ca) &&
	       FIND(release_ca) && FIND(get_port) && FIND(release_port) &&
	       FIND(get_issm_path) && FIND(get_ca_device_list) &&
	       FIND(sort_ca_device_list) && FIND(free_ca_device_list);
}

static const char *shown(const char *name)
{
	return name ? name : "NULL";
}

static void print_names(int max)
{
	char names[NAMES][UMAD_CA_NAME_LEN] = { 0 };
	int count = umad.get_cas_names(names, max);

	printf("names max %d: %d", max, count);
	for (int i = 0; i < count; i++)
		printf(" %.20s", names[i]);
	printf("\n");
}

static void print_port(const umad_port_t *port)
{
	printf("  port %d of %s: lid 0x%x lmc %u sm_lid 0x%x sm_sl %u state %u "
	       "phys %u rate %u capmask 0x%08x link_layer \"%s\" "
	       "prefix 0x%016" PRIx64 " guid 0x%016" PRIx64 " pkeys %u:",
	       port->portnum, port->ca_name, port->base_lid, port->lmc,
	       port->sm_lid, port->sm_sl, port->state, port->phys_state,
	       port->rate, be32toh(port->capmask), port->link_layer,
	       be64toh(port->gid_prefix), be64toh(port->port_guid),
	       port->pkeys_size);
	for (unsigned int i = 0; i < port->pkeys_size; i++)
		printf(" %04x", port->pkeys[i]);
	printf("\n");
}

static void print_ca(const char *name)
{
	umad_ca_t ca = { 0 };
	int err = umad.get_ca(name, &ca);

	printf("ca %s: %d\n", shown(name), err);
	if (err)
		return;
	printf("  %s type %u ports %d fw \"%s\" hw \"%s\" ca \"%s\" "
	       "node 0x%016" PRIx64 " system 0x%016" PRIx64 "\n",
	       ca.ca_name, ca.node_type, ca.numports, ca.fw_ver, ca.hw_ver,
	       ca.ca_type, be64toh(ca.node_guid), be64toh(ca.system_guid));
	for (int i = 0; i <= ca.numports; i++) {
		if (ca.ports[i])
			print_port(ca.ports[i]);
	}
	err = umad.release_ca(&ca);
	printf("  released %d, again %d\n", err, umad.release_ca(&ca));
}

static void print_portguids(const char *name, int max)
{
	__be64 guids[GUIDS];
	int count;

	memset(guids, 0xee, sizeof(guids));
	count = umad.get_ca_portguids(name, guids, max);
	printf("portguids %s max %d: %d", shown(name), max, count);
	for (int i = 0; i < (count > 0 ? count + 1 : 1); i++)
		printf(" 0x%016" PRIx64, be64toh(guids[i]));
	printf("\n");
}

static void print_get_port(const char *name, int number)
{
	umad_port_t port = { 0 };
	int err = umad.get_port(name, number, &port);

	printf("port %s %d: %d\n", shown(name), number, err);
	if (err)
		return;
	print_port(&port);
	err = umad.release_port(&port);
	printf("  released %d, again %d\n", err, umad.release_port(&port));
}

static void print_issm(const char *name, int number)
{
	char path[64] = "";
	int err = umad.get_issm_path(name, number, path, sizeof(path));

	printf("issm %s %d: %d \"%s\"\n", shown(name), number, err, path);
}

static void print_device(const char *name)
{
	static const int sizes[] = { -1, 0, 1, 2, 3, 10, GUIDS };

	print_ca(name);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		print_portguids(name, sizes[i]);
	printf("portguids %s NULL array: %d\n", shown(name),
	       umad.get_ca_portguids(name, NULL, 0));
	for (int number = -1; number <= 10; number++) {
		print_get_port(name, number);
		print_issm(name, number);
	}
}

static struct umad_device_node *devices_list(void)
{
	struct umad_device_node *head;
	size_t count = 0;

	errno = 0;
	head = umad.get_ca_device_list();
	printf("devices: %s errno %d\n", head ? "some" : "none", errno);
	for (struct umad_device_node *node = head; node; node = node->next) {
		printf("  %s\n", node->ca_name);
		count++;
	}
	printf("sort: two more %d", umad.sort_ca_device_list(&head, count + 2));
	if (count > 2)
		printf(", one fewer %d",
		       umad.sort_ca_device_list(&head, count - 1));
	printf(", as many %d\n", umad.sort_ca_device_list(&head, count));
	for (struct umad_device_node *node = head; node; node = node->next)
		printf("  %s\n", node->ca_name);
	return head;
}

int main(int argc, char **argv)
{
	struct umad_device_node *devices;

	if (argc != 2 || !library_open(argv[1])) {
		fprintf(stderr, "umad-print: %s\n",
			argc == 2 ? dlerror() : "?");
		return 2;
	}
	printf("init %d\n", umad.init());
	for (int max = 0; max < 4; max++)
		print_names(max);
	print_names(NAMES);
	print_device(NULL);
	print_device("no_such_ca");
	devices = devices_list();
	for (struct umad_device_node *node = devices; node; node = node->next)
		print_device(node->ca_name);
	umad.free_ca_device_list(devices);
	umad.free_ca_device_list(NULL);
	printf("done %d\n", umad.done());
	return 0;
}
