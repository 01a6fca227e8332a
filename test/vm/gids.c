/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * GID tables by libibsa and by the system's libibverbs, entry by entry, on the
 * real kernel's soft RoCE devices. The program replaces ioctl(): it counts the
 * commands of each library, and makes the kernel look like an older one.
 *
 * usage: vm-gids [namesake]
 *
 * With "namesake", interfaces in the caller's name space have the names of the
 * devices' interfaces, but nothing else in common with them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <net/if.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include <ibsa/ib_sa.h>
#define IBSA_VERBS_NAMES
#include <ibsa/verbs.h>

enum { ROOM = 2048, DEVICES = 8, PAST_THE_END = 2 };

/*
 * All entries from DENSE on are empty: each STRIDE-th is compared, and the last
 * STRIDE.
 */
enum { DENSE = 64, STRIDE = 15 };

enum library { LIBIBVERBS, LIBIBSA, LIBRARIES };

/* The beginning of the names of libibsa and libibsa-compat. */
#define OURS "/libibsa"

/*
 * The errno of commands for GID tables, and the number of commands by each
 * library.
 */
static int refusal;
static unsigned int commands[LIBRARIES];

/* Which kinds of GIDs the devices have; each test needs some of them. */
static struct {
	unsigned int ipv4;
	unsigned int ipv6;
	unsigned int vlan;
	unsigned int holes;
} found;

/* Looked up in libibverbs itself. */
static struct {
	int (*entry)(struct ibv_context *, uint32_t, uint32_t,
		     struct ibv_gid_entry *, uint32_t, size_t);
	ssize_t (*table)(struct ibv_context *, struct ibv_gid_entry *, size_t,
			 uint32_t, size_t);
} theirs;

/*
 * A device opened by libibverbs, and the context of the same device that
 * libibsa uses.
 */
struct pair {
	struct ibv_context *theirs;
	struct ibv_context *ours;
	uint32_t ports;
	uint32_t table_len;
};

static bool is_in(uintptr_t address, const char *library)
{
	Dl_info info;

	return dladdr((const void *)address, &info) &&
	       strstr(info.dli_fname, library);
}

static bool is_about_gids(const struct ib_uverbs_ioctl_hdr *call)
{
	return call->object_id == UVERBS_OBJECT_DEVICE &&
	       (call->method_id == UVERBS_METHOD_QUERY_GID_TABLE ||
		call->method_id == UVERBS_METHOD_QUERY_GID_ENTRY);
}

/* Replaces the C library's function, for both libraries. */
int ioctl(int fd, unsigned long command, ...)
{
	const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (command == RDMA_VERBS_IOCTL && is_about_gids(arg)) {
		commands[LIBIBSA] += is_in(caller, OURS);
		commands[LIBIBVERBS] += is_in(caller, "libibverbs.so");
	}
	if (command == RDMA_VERBS_IOCTL && refusal &&
	    (refusal == ENOTTY || is_about_gids(arg))) {
		errno = refusal;
		return -1;
	}
	return (int)syscall(SYS_ioctl, fd, command, arg);
}

static void lookup(void *library, const char *name, void *out_function)
{
	void *function = dlvsym(library, name, "IBVERBS_1.11");

	assert_non_null(function);
	assert_true(is_in((uintptr_t)function, "libibverbs.so"));
	memcpy(out_function, &function, sizeof(function));
}

/* Each library's functions must be its own. */
static int bindings_find(void **state)
{
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);

	(void)state;
	assert_non_null(library);
	lookup(library, "_ibv_query_gid_ex", &theirs.entry);
	lookup(library, "_ibv_query_gid_table", &theirs.table);
	assert_true(is_in((uintptr_t)ibv_open_device, "libibverbs.so"));
	assert_true(is_in((uintptr_t)ibsa_query_gid_ex, OURS));
	assert_true(is_in((uintptr_t)ibsa_query_gid_table, OURS));
	return 0;
}

/*
 * Open all devices. If @err is not 0, their commands for GID tables fail with
 * it. Return: the number of devices.
 */
static size_t pairs_open(int err, bool ours_is_own, struct pair pairs[DEVICES])
{
	struct ibv_device **list;
	int count;

	refusal = err;
	list = ibv_get_device_list(&count);
	assert_non_null(list);
	assert_in_range(count, 2, DEVICES);
	for (int i = 0; i < count; i++) {
		const struct ibsa_options options = { .device = list[i]->name };
		struct ibv_device_attr device;
		struct ibv_port_attr port;
		struct pair *pair = &pairs[i];

		pair->theirs = ibv_open_device(list[i]);
		assert_non_null(pair->theirs);
		assert_int_equal(ibv_query_device(pair->theirs, &device), 0);
		assert_int_equal(ibv_query_port(pair->theirs, 1, &port), 0);
		pair->ports = device.phys_port_cnt;
		pair->table_len = (uint32_t)port.gid_tbl_len;
		pair->ours = pair->theirs;
		if (ours_is_own)
			assert_int_equal(ibsa_verbs_open(&options, NULL,
							 &pair->ours),
					 0);
	}
	ibv_free_device_list(list);
	memset(commands, 0, sizeof(commands));
	memset(&found, 0, sizeof(found));
	return (size_t)count;
}

static void pairs_close(struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (pairs[i].ours != pairs[i].theirs)
			assert_int_equal(ibsa_verbs_close(pairs[i].ours), 0);
		assert_int_equal(ibv_close_device(pairs[i].theirs), 0);
	}
	refusal = 0;
}

static uint32_t index_after(uint32_t index, uint32_t len)
{
	return index < DENSE || index + STRIDE >= len ? index + 1
						      : index + STRIDE;
}

static void entry_note(const struct ibv_gid_entry *entry, bool *was_empty)
{
	static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
	char name[IF_NAMESIZE] = "";

	if (memcmp(&entry->gid, mapped, sizeof(mapped)) == 0)
		found.ipv4++;
	else if (entry->gid.raw[0] == 0xfd)
		found.ipv6++;
	if (entry->ndev_ifindex && if_indextoname(entry->ndev_ifindex, name))
		found.vlan += strchr(name, '.') != NULL;
	found.holes += *was_empty;
	*was_empty = false;
}

static void entry_compare(const struct pair *pair, uint32_t port,
			  uint32_t index, uint32_t flags, bool *was_empty)
{
	struct ibv_gid_entry a = { .gid_index = 77 };
	struct ibv_gid_entry b = { .gid_index = 88 };
	int want = theirs.entry(pair->theirs, port, index, &a, flags,
				sizeof(a));
	int seen = ibsa_query_gid_ex(pair->ours, port, index, &b, flags);

	if (want != seen)
		fail_msg("%s port %u index %u flags %u: %d, not %d",
			 pair->theirs->device->name, port, index, flags, seen,
			 want);
	*was_empty |= want == ENODATA;
	if (want)
		return;
	assert_memory_equal(&a, &b, sizeof(a));
	entry_note(&a, was_empty);
}

/* The command for one entry calls the kernel's rdma_get_gid_attr(). */
static void attr_compare(const struct pair *pair, struct ib_device *device,
			 uint32_t port, uint32_t index)
{
	struct ibv_gid_entry entry;
	const struct ib_gid_attr *attr;
	int want = theirs.entry(pair->theirs, port, index, &entry, 0,
				sizeof(entry));

	attr = rdma_get_gid_attr(device, port, (int)index);
	if (!ibsa_is_err(attr)) {
		assert_int_equal(want, 0);
		assert_memory_equal(&attr->gid, &entry.gid, sizeof(attr->gid));
		assert_int_equal(attr->gid_type, entry.gid_type);
		assert_int_equal(attr->ndev_ifindex, entry.ndev_ifindex);
		rdma_put_gid_attr(attr);
	} else if (ibsa_ptr_err(attr) != -want) {
		fail_msg("%s port %u index %u: %d, not %d",
			 pair->theirs->device->name, port, index,
			 ibsa_ptr_err(attr), -want);
	}
}

static void attrs_are_the_kernel_s(void **state)
{
	struct pair pairs[DEVICES];
	const size_t count = pairs_open(0, false, pairs);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const uint32_t len = pairs[i].table_len + PAST_THE_END;
		struct ib_device *device;

		assert_int_equal(
			ibsa_ib_device_get(pairs[i].theirs->device->name,
					   &device),
			0);
		for (uint32_t port = 0; port <= pairs[i].ports + 1; port++) {
			for (uint32_t index = 0; index < len;
			     index = index_after(index, len))
				attr_compare(&pairs[i], device, port, index);
			attr_compare(&pairs[i], device, port, UINT32_MAX);
		}
		ibsa_ib_device_put(device);
	}
	pairs_close(pairs, count);
}

static void entries_compare(const struct pair *pair)
{
	for (uint32_t port = 0; port <= pair->ports + 1; port++) {
		const bool is_port = port && port <= pair->ports;
		const uint32_t len = (is_port ? pair->table_len : 0) +
				     PAST_THE_END;
		bool was_empty = false;

		for (uint32_t i = 0; i < len; i = index_after(i, len))
			entry_compare(pair, port, i, 0, &was_empty);
		entry_compare(pair, port, UINT32_MAX, 0, &was_empty);
		entry_compare(pair, port, 0, 1, &was_empty);
	}
}

static ssize_t table_compare(const struct pair *pair, size_t room,
			     uint32_t flags)
{
	static struct ibv_gid_entry a[ROOM];
	static struct ibv_gid_entry b[ROOM];
	ssize_t want = theirs.table(pair->theirs, a, room, flags, sizeof(*a));
	ssize_t seen = ibsa_query_gid_table(pair->ours, b, room, flags);

	if (want != seen)
		fail_msg("%s room %zu flags %u: %zd, not %zd",
			 pair->theirs->device->name, room, flags, seen, want);
	if (want > 0) {
		assert_memory_equal(a, b, (size_t)want * sizeof(*a));
		assert_true(a[want - 1].gid_index < DENSE);
	}
	return want;
}

static void tables_compare(const struct pair *pair)
{
	const ssize_t count = table_compare(pair, ROOM - 1, 0);
	const ssize_t rooms[] = { 0, 1, count - 1, count, count + 1 };

	assert_true(count > 1);
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		assert_true((table_compare(pair, (size_t)rooms[i], 0) ==
			     count) == (rooms[i] >= count));
	assert_true(table_compare(pair, ROOM - 1, 1) < 0);
}

static size_t all_compare(int err, bool ours_is_own)
{
	struct pair pairs[DEVICES];
	const size_t count = pairs_open(err, ours_is_own, pairs);

	for (size_t i = 0; i < count; i++) {
		entries_compare(&pairs[i]);
		tables_compare(&pairs[i]);
	}
	pairs_close(pairs, count);
	assert_true(found.ipv4 && found.ipv6 && found.vlan && found.holes);
	return count;
}

static void kernel_s_commands_give_the_same(void **state)
{
	(void)state;
	assert_true(all_compare(0, false) > 0);
	assert_true(commands[LIBIBVERBS] > 0);
	assert_int_equal(commands[LIBIBSA], commands[LIBIBVERBS]);
}

static void files_give_the_same_without_the_commands(void **state)
{
	(void)state;
	assert_true(all_compare(EPROTONOSUPPORT, false) > 0);
	assert_true(commands[LIBIBSA] > 0);
}

static void files_give_the_same_without_any_commands(void **state)
{
	(void)state;
	assert_true(all_compare(ENOTTY, false) > 0);
}

static void context_of_our_own_gives_the_same(void **state)
{
	(void)state;
	assert_true(all_compare(EPROTONOSUPPORT, true) > 0);
	assert_int_equal(commands[LIBIBSA], 0);
}

/* Find an entry as the kernel does, by all properties that identify it. */
static void entry_find(struct ib_device *device,
		       const struct ibv_gid_entry *entry)
{
	const enum ib_gid_type type = (enum ib_gid_type)entry->gid_type;
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	memcpy(&gid, &entry->gid, sizeof(gid));
	attr = rdma_find_gid_by_port(device, &gid, type, entry->port_num,
				     entry->ndev_ifindex);
	if (ibsa_is_err(attr))
		fail_msg("index %u, interface %u: %d", entry->gid_index,
			 entry->ndev_ifindex, ibsa_ptr_err(attr));
	assert_int_equal(attr->index, entry->gid_index);
	assert_int_equal(attr->ndev_ifindex, entry->ndev_ifindex);
	rdma_put_gid_attr(attr);
}

/*
 * Return: how many of the @count entries have the GID and type of an earlier
 * entry.
 */
static unsigned int twins_count(const struct ibv_gid_entry *entries,
				ssize_t count)
{
	unsigned int twins = 0;

	for (ssize_t i = 0; i < count; i++) {
		for (ssize_t j = 0; j < i; j++)
			twins += !memcmp(&entries[i].gid, &entries[j].gid,
					 sizeof(entries[i].gid)) &&
				 entries[i].gid_type == entries[j].gid_type;
	}
	return twins;
}

/* A VLAN's default GID is that of the interface below it. */
static void entry_is_found_by_its_interface(void **state)
{
	static struct ibv_gid_entry entries[ROOM];
	struct pair pairs[DEVICES];
	const size_t count = pairs_open(0, false, pairs);
	unsigned int twins = 0;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const ssize_t len = theirs.table(pairs[i].theirs, entries,
						 ROOM - 1, 0, sizeof(*entries));
		struct ib_device *device;

		assert_true(len > 0);
		twins += twins_count(entries, len);
		assert_int_equal(
			ibsa_ib_device_get(pairs[i].theirs->device->name,
					   &device),
			0);
		for (ssize_t j = 0; j < len; j++)
			entry_find(device, &entries[j]);
		ibsa_ib_device_put(device);
	}
	pairs_close(pairs, count);
	assert_true(twins > 0);
}

/*
 * A buffer with room for more entries than one command can return is accepted.
 */
static void more_room_than_a_command_takes_is_accepted(void **state)
{
	static struct ibv_gid_entry many[4 * ROOM];
	static struct ibv_gid_entry few[ROOM];
	struct pair pairs[DEVICES];
	const size_t count = pairs_open(0, false, pairs);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		ssize_t want = theirs.table(pairs[i].theirs, few, ROOM - 1, 0,
					    sizeof(*few));

		assert_true(want > 0);
		assert_int_equal(ibsa_query_gid_table(pairs[i].ours, many,
						      4 * ROOM, 0),
				 want);
		assert_memory_equal(many, few, (size_t)want * sizeof(*few));
	}
	pairs_close(pairs, count);
}

/*
 * The caller's name space has an interface with the name of the GID's
 * interface: libibverbs returns this one for the GID, libibsa none.
 */
static void namesake_of_an_interface_is_not_taken_for_it(void **state)
{
	struct ibv_gid_entry a[ROOM];
	struct ibv_gid_entry b[ROOM];
	struct pair pairs[DEVICES];
	const size_t count = pairs_open(EPROTONOSUPPORT, false, pairs);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		ssize_t len;

		/*
		 * Without the VLAN's namesake, libibverbs fails for the whole
		 * table.
		 */
		assert_int_equal(theirs.entry(pairs[i].theirs, 1, 0, a, 0,
					      sizeof(*a)),
				 0);
		assert_true(a->ndev_ifindex > 0);
		len = ibsa_query_gid_table(pairs[i].ours, b, ROOM, 0);
		assert_true(len > 0);
		a->ndev_ifindex = 0;
		assert_memory_equal(a, b, sizeof(*a));
		for (ssize_t j = 0; j < len; j++)
			assert_int_equal(b[j].ndev_ifindex, 0);
	}
	pairs_close(pairs, count);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_s_commands_give_the_same),
		cmocka_unit_test(files_give_the_same_without_the_commands),
		cmocka_unit_test(files_give_the_same_without_any_commands),
		cmocka_unit_test(context_of_our_own_gives_the_same),
		cmocka_unit_test(attrs_are_the_kernel_s),
		cmocka_unit_test(entry_is_found_by_its_interface),
		cmocka_unit_test(more_room_than_a_command_takes_is_accepted),
	};
	const struct CMUnitTest elsewhere[] = {
		cmocka_unit_test(namesake_of_an_interface_is_not_taken_for_it),
	};

	if (argc == 2 && !strcmp(argv[1], "namesake"))
		return cmocka_run_group_tests(elsewhere, bindings_find, NULL);
	return cmocka_run_group_tests(tests, bindings_find, NULL);
}
