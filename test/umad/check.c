/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether a port's device files can be used. The files are in a directory of
 * the test; open() and ioctl() are replaced by the linker's --wrap.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <ibsa/device.h>
#include <ibsa/ibsa.h>

#include "umad/header.h"
#include "test/support/device_tree.h"

#define FOLDER "/dev/infiniband/"

enum { SIMULATED_FD = 5000 };

/* What the replaced system calls do. */
static struct {
	struct tree tree;
	int open_errno;	 /* of opening for reading and writing */
	int ioctl_errno; /* of registering */
	bool is_simulated;
	bool lacks_errno; /* fails like ibsim */
	unsigned int opens;
	unsigned int issm_opens;
	unsigned int agents;
} kernel;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long command, ...);
int __wrap_ioctl(int fd, unsigned long command, ...);

static int device_open(const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/dev/%s", kernel.tree.path, name);
	if (flags & O_PATH)
		return __real_open(path, flags);
	kernel.opens++;
	kernel.issm_opens += strncmp(name, "issm", strlen("issm")) == 0;
	if (kernel.open_errno) {
		errno = kernel.open_errno;
		return -1;
	}
	return __real_open(path, flags);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (strncmp(path, FOLDER, strlen(FOLDER)) != 0)
		return __real_open(path, flags, mode);
	if (kernel.lacks_errno)
		return -1;
	if (kernel.is_simulated) {
		kernel.issm_opens += strstr(path, "issm") != NULL;
		return SIMULATED_FD;
	}
	return device_open(path + strlen(FOLDER), flags);
}

int __wrap_ioctl(int fd, unsigned long command, ...)
{
	(void)fd;
	if (kernel.ioctl_errno) {
		errno = kernel.ioctl_errno;
		return -1;
	}
	kernel.agents += command == UMAD_REGISTER_AGENT;
	return 0;
}

/* Create a file in the device directory. */
static void device_add(const char *name, mode_t mode)
{
	char path[512];

	snprintf(path, sizeof(path), "dev/%s", name);
	tree_write(&kernel.tree, path, "");
	snprintf(path, sizeof(path), "%s/dev/%s", kernel.tree.path, name);
	assert_int_equal(chmod(path, mode), 0);
}

static int start(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	tree_make(&kernel.tree);
	unsetenv("IBSA_FABRIC");
	return 0;
}

static int end(void **state)
{
	(void)state;
	tree_remove(&kernel.tree);
	return 0;
}

static const struct ibsa_port port = { .number = 1, .umad = "umad7" };

static struct ibsa_port_access found(void)
{
	struct ibsa_port_access access;

	memset(&access, 0xee, sizeof(access));
	assert_int_equal(ibsa_port_access_get(&port, &access), 0);
	return access;
}

static void files_are_those_of_the_port(void **state)
{
	struct ibsa_port_access access;

	(void)state;
	device_add("umad7", 0660);
	device_add("issm7", 0604);
	access = found();
	assert_string_equal(access.umad.path, "/dev/infiniband/umad7");
	assert_int_equal(access.umad.err, 0);
	assert_int_equal(access.umad.mode, 0660);
	assert_int_equal(access.umad.uid, geteuid());
	assert_int_equal(access.umad.gid, getegid());
	assert_string_equal(access.issm.path, "/dev/infiniband/issm7");
	assert_int_equal(access.issm.err, 0);
	assert_int_equal(access.issm.mode, 0604);
}

/*
 * That the umad file can be opened does not prove that it works: the check also
 * registers an agent.
 */
static void umad_file_is_opened_and_registered_with(void **state)
{
	(void)state;
	device_add("umad7", 0600);
	device_add("issm7", 0600);
	assert_int_equal(found().open_err, 0);
	assert_int_equal(kernel.opens, 1);
	assert_int_equal(kernel.agents, 1);
	assert_int_equal(kernel.issm_opens, 0);
	kernel.ioctl_errno = ENOTTY;
	assert_int_equal(found().open_err, -ENODEV);
	kernel.ioctl_errno = EINVAL;
	assert_int_equal(found().open_err, -EINVAL);
}

static void file_not_permitted_is_still_described(void **state)
{
	struct ibsa_port_access access;

	(void)state;
	device_add("umad7", 0600);
	kernel.open_errno = EACCES;
	access = found();
	assert_int_equal(access.open_err, -EACCES);
	assert_int_equal(access.umad.err, 0);
	assert_int_equal(access.umad.mode, 0600);
	kernel.open_errno = EPERM;
	assert_int_equal(found().open_err, -EACCES);
}

static void files_that_are_not_there_are_told_apart(void **state)
{
	struct ibsa_port_access access;

	(void)state;
	access = found();
	assert_int_equal(access.umad.err, -ENOENT);
	assert_int_equal(access.issm.err, -ENOENT);
	assert_int_equal(access.open_err, -ENODEV);
	assert_int_equal(access.umad.uid, 0);
	assert_int_equal(access.umad.mode, 0);
	device_add("umad7", 0600);
	access = found();
	assert_int_equal(access.umad.err, 0);
	assert_int_equal(access.open_err, 0);
	assert_int_equal(access.issm.err, -ENOENT);
	/* The driver was unloaded, but its device file still exists. */
	kernel.open_errno = ENXIO;
	assert_int_equal(found().open_err, -ENODEV);
	kernel.open_errno = EMFILE;
	assert_int_equal(found().open_err, -EMFILE);
}

/*
 * The files of a simulated port are not opened: ibsim would treat the port as
 * one with an SM as soon as the issm file is open.
 */
static void simulated_file_has_no_owner(void **state)
{
	struct ibsa_port_access access;

	(void)state;
	kernel.is_simulated = true;
	access = found();
	assert_int_equal(access.umad.err, -EOPNOTSUPP);
	assert_int_equal(access.issm.err, -EOPNOTSUPP);
	assert_int_equal(access.open_err, 0);
	assert_int_equal(kernel.issm_opens, 0);
	kernel.lacks_errno = true;
	access = found();
	assert_int_equal(access.umad.err, -EMFILE);
	assert_int_equal(access.open_err, -EMFILE);
}

static void port_without_mad_device_has_no_files(void **state)
{
	static const char *const names[] = { NULL, "", "issm0",
					     "umad_dev/../x" };
	struct ibsa_port none = { .number = 1 };
	struct ibsa_port_access access = { .open_err = 7 };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		none.umad = names[i];
		assert_int_equal(ibsa_port_access_get(&none, &access), -ENODEV);
	}
	assert_int_equal(access.open_err, 7);
	assert_int_equal(kernel.opens, 0);
}

static int open_err(const char *device, unsigned int number,
		    struct ibsa_error *error)
{
	const struct ibsa_options options = { .device = device,
					      .port = number };
	struct ibsa_client *client;

	return ibsa_open(&options, error, &client);
}

static void assert_text_has(const struct ibsa_error *error, const char *words)
{
	if (!strstr(error->text, words))
		fail_msg("\"%s\" does not say \"%s\"", error->text, words);
}

/* libibumad has room for 32 names of 19 characters. */
static void forty_devices_and_a_long_name_are_read(void **state)
{
	static const char name[] = "an_adapter_with_a_long_name__0";
	struct ibsa_port_access access;
	struct ibsa_device_list *list;
	struct ibsa_error error;
	char text[32];

	(void)state;
	assert_int_equal(strlen(name), 30);
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "mlx5_%u", i);
		tree_add_device(&kernel.tree, i < 39 ? text : name);
		tree_add_umad(&kernel.tree, i, i < 39 ? text : name, 1);
		snprintf(text, sizeof(text), "umad%u", i);
		device_add(text, 0600);
	}
	tree_remove_file(&kernel.tree, "dev/umad20");
	assert_int_equal(ibsa_devices_read(&list), 0);
	assert_int_equal(list->count, 40);
	for (size_t i = 0; i < list->count; i++) {
		assert_int_equal(
			ibsa_port_access_get(ibsa_device_at(list, i)->ports,
					     &access),
			0);
		assert_int_equal(access.open_err,
				 strcmp(access.umad.path, FOLDER "umad20")
					 ? 0
					 : -ENODEV);
	}
	ibsa_devices_free(list);
	kernel.open_errno = EACCES;
	assert_int_equal(open_err(name, 1, &error), -EACCES);
	assert_text_has(&error,
			"not permitted to open " FOLDER "umad39: run as root");
	kernel.open_errno = EPERM;
	assert_int_equal(open_err(name, 1, &error), -EACCES);
	assert_text_has(&error, "umad39: the device is in another network "
				"namespace");
	assert_int_equal(open_err(name, 2, &error), -ENXIO);
	assert_text_has(&error, "an_adapter_with_a_long_name__0 has no port 2");
	assert_int_equal(open_err("mlx5_39", 1, &error), -ENODEV);
	assert_text_has(&error, "there is no device \"mlx5_39\"");
}

/* Programs print the text, so it says what to do. */
static void each_hindrance_has_a_sentence_of_its_own(void **state)
{
	struct ibsa_error error;

	(void)state;
	tree_write(&kernel.tree, "class/", "");
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENOSYS);
	assert_text_has(&error, "RDMA modules are not loaded: run \"modprobe");
	tree_add_device(&kernel.tree, "mlx5_0");
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENOSYS);
	assert_text_has(&error, "umad module is not loaded: try \"modprobe");
	tree_add_umad(&kernel.tree, 7, "mlx5_0", 1);
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENODEV);
	assert_text_has(&error, FOLDER "umad7 does not exist: if this is");
	device_add("umad7", 0600);
	kernel.ioctl_errno = ENOTTY;
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENODEV);
	assert_text_has(&error,
			FOLDER "umad7 is not a device of ib_umad: remove");
	kernel.open_errno = ENXIO;
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENODEV);
	assert_text_has(&error,
			FOLDER "umad7 is not a device of ib_umad: remove");
	kernel.open_errno = EACCES;
	assert_int_equal(open_err("mlx5_0", 1, &error), -EACCES);
	assert_text_has(&error, FOLDER "umad7: run as root, or have");
	assert_int_equal(open_err("mlx5_1", 1, &error), -ENODEV);
	assert_text_has(&error, "no device \"mlx5_1\"; there are: mlx5_0");
	assert_int_equal(open_err("mlx5_0", 2, &error), -ENXIO);
	assert_text_has(&error, "has no port 2; it has: 1");
	tree_set_port(&kernel.tree, "mlx5_0", 1, "state", "1: DOWN\n");
	assert_int_equal(open_err("mlx5_0", 1, &error), -ENETDOWN);
	assert_text_has(&error, "is down: check the cable");
}

static void version_is_the_kernels(void **state)
{
	static const char file[] = "class/infiniband_mad/abi_version";
	struct ibsa_error error;
	unsigned int version = 1;

	(void)state;
	assert_int_equal(ibsa_umad_version(&error, &version), -ENOSYS);
	assert_non_null(strstr(error.text, "modprobe ib_umad"));
	tree_write(&kernel.tree, file, "4\n");
	assert_int_equal(ibsa_umad_version(&error, &version), -EOPNOTSUPP);
	assert_non_null(
		strstr(error.text, "version 4; version 5 or later is needed"));
	tree_write(&kernel.tree, file, "five\n");
	assert_int_equal(ibsa_umad_version(NULL, &version), -EOPNOTSUPP);
	assert_int_equal(version, 1);
	tree_write(&kernel.tree, file, "6\n");
	assert_int_equal(ibsa_umad_version(NULL, &version), 0);
	assert_int_equal(version, 6);
}

static void unreadable_version_is_not_an_old_one(void **state)
{
	struct ibsa_error error = { .text = "" };
	unsigned int version = 1;
	struct rlimit limit;
	struct rlimit none;
	int err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = ibsa_umad_version(&error, &version);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err, -EMFILE);
	assert_text_has(&error, "cannot be read: Too many open files");
	assert_int_equal(version, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)

/*
 * A port that cannot be opened does not hide the next one: in a container, the
 * first device may be one that the container may not use.
 */
static void port_that_cannot_be_opened_does_not_hide_the_next(void **state)
{
	struct ibsa_options options = { .device = NULL };
	struct ibsa_port_state first;
	struct ibsa_client *client;
	struct ibsa_error error;
	char path[512];

	(void)state;
	tree_add_device(&kernel.tree, "mlx5_0");
	tree_add_umad(&kernel.tree, 0, "mlx5_0", 1);
	tree_add_device(&kernel.tree, "mlx5_1");
	tree_add_umad(&kernel.tree, 1, "mlx5_1", 1);
	tree_write(&kernel.tree, "class/infiniband_mad/abi_version", "5\n");
	tree_set_port(&kernel.tree, "mlx5_1", 1, "lid", "0x77\n");
	assert_int_equal(ibsa_open(NULL, &error, &client), -ENODEV);
	assert_non_null(strstr(error.text, FOLDER "umad0"));
	device_add("issm1", 0600);
	snprintf(path, sizeof(path), "%s/dev/umad1", kernel.tree.path);
	/* It can be polled like a device. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(ibsa_open(NULL, NULL, &client), 0);
	assert_int_equal(ibsa_port_get(client, false, &first), 0);
	assert_int_equal(first.lid, 0x77);
	assert_int_equal(ibsa_close(client), 0);
	options.device = "mlx5_0";
	assert_int_equal(ibsa_open(&options, NULL, &client), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(files_are_those_of_the_port),
		CASE(umad_file_is_opened_and_registered_with),
		CASE(file_not_permitted_is_still_described),
		CASE(files_that_are_not_there_are_told_apart),
		CASE(simulated_file_has_no_owner),
		CASE(port_without_mad_device_has_no_files),
		CASE(forty_devices_and_a_long_name_are_read),
		CASE(each_hindrance_has_a_sentence_of_its_own),
		CASE(version_is_the_kernels),
		CASE(unreadable_version_is_not_an_old_one),
		CASE(port_that_cannot_be_opened_does_not_hide_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
