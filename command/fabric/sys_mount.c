/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mounts a file system in memory at each of /sys/class and /sys/devices. They
 * contain the device files of a host of the fabric and the entries of the
 * machine, except the machine's RDMA devices and IPoIB interfaces in
 * /sys/class.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "fabric/fabric.h"
#include "fabric/sys_mount.h"

static int server_command(void *arg, const char *line, char *out, size_t room,
			  struct ibsa_error *error)
{
	return ibsa_fabric_server_command(arg, line, out, room, error);
}

int sys_mount_open(struct sys_mount *sys, struct ibsa_fabric_server *server)
{
	const char *folder = secure_getenv("TMPDIR");
	const char *host = secure_getenv("IBSA_NODE");
	int status;

	snprintf(sys->path, sizeof(sys->path), "%s/ibsa-sys-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	if (!mkdtemp(sys->path)) {
		complain("cannot create a directory for the device files in "
			 "%s: %s",
			 folder && *folder ? folder : "/tmp", strerror(errno));
		*sys->path = '\0';
		return CLI_DEVICE;
	}
	sys->tree = (struct tree){
		.path = sys->path,
		.host = host ? host : "",
		.command = server_command,
		.arg = server,
	};
	status = tree_open(&sys->tree);
	if (status != CLI_DONE) {
		rmdir(sys->path);
		*sys->path = '\0';
		return status;
	}
	sys->tree.is_ours = true;
	status = tree_update(&sys->tree);
	sys->is_open = status == CLI_DONE;
	sys->due_ms = now_ms() + FABRIC_SYSFS_MS;
	return status;
}

int sys_mount_update(struct sys_mount *sys)
{
	const int64_t now = sys->is_open ? now_ms() : 0;

	if (!sys->is_open)
		return -1;
	if (now < sys->due_ms)
		return (int)(sys->due_ms - now);
	sys->due_ms = now + FABRIC_SYSFS_MS;
	sys->is_open = tree_update(&sys->tree) == CLI_DONE;
	return sys->is_open ? FABRIC_SYSFS_MS : -1;
}

void sys_mount_close(struct sys_mount *sys)
{
	if (*sys->path)
		tree_close(&sys->tree);
}

/* Write to a file of /proc. Return: 0 or a negative errno. */
static int proc_write(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

/* Enter a user namespace in which this user has the same ID. */
static int user_namespace_enter(void)
{
	const unsigned int uid = geteuid();
	const unsigned int gid = getegid();
	char map[64];
	int err;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	err = proc_write("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!err)
		err = proc_write("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return err ? err : proc_write("/proc/self/gid_map", map);
}

static int namespace_enter(void)
{
	int err = 0;

	if (unshare(CLONE_NEWNS) < 0)
		err = user_namespace_enter();
	if (!err && mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		err = -errno;
	return err;
}

/*
 * Make the content of @from available at @to: copy a link; mount any other
 * file, or a directory.
 */
static int entry_add(const char *from, const char *to)
{
	char target[PATH_MAX];
	const ssize_t len = readlink(from, target, sizeof(target) - 1);
	struct stat found;
	int fd;

	if (len >= 0) {
		target[len] = '\0';
		return symlink(target, to) < 0 ? -errno : 0;
	}
	if (stat(from, &found) < 0)
		return -errno;
	if (!S_ISDIR(found.st_mode)) {
		fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (fd < 0)
			return -errno;
		close(fd);
	} else if (mkdir(to, 0755) < 0) {
		return -errno;
	}
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0 ? -errno : 0;
}

/*
 * Whether an entry of the directory @machine is left out, because it is a
 * network interface of an adapter of the machine.
 */
static bool is_left_out(const char *machine, const char *name)
{
	static const char infiniband[] = "32\n"; /* ARPHRD_INFINIBAND */
	char text[sizeof(infiniband)] = "";
	char path[PATH_MAX];
	int fd;

	if (strcmp(machine, "/sys/class/net") != 0)
		return false;
	snprintf(path, sizeof(path), "%s/%s/type", machine, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	return strcmp(text, infiniband) == 0;
}

/* A directory that has the entries of two others. */
struct merge {
	char to[PATH_MAX];
	char own[PATH_MAX];	/* of the adapters */
	char machine[PATH_MAX]; /* where @own does not have the name */
};

/* Return: false: a path is too long. */
static bool merge_below(const struct merge *merge, const char *name,
			struct merge *out)
{
	return snprintf(out->to, PATH_MAX, "%s/%s", merge->to, name) <
		       PATH_MAX &&
	       snprintf(out->own, PATH_MAX, "%s/%s", merge->own, name) <
		       PATH_MAX &&
	       snprintf(out->machine, PATH_MAX, "%s/%s", merge->machine, name) <
		       PATH_MAX;
}

static int merge_make(const struct merge *merge, bool is_top);

/*
 * Add an entry. A directory at the top that exists in both @own and @machine,
 * such as that of the network interfaces or of a PCI bus, gets the entries of
 * both; but each directory whose name begins with "infiniband" gets only those
 * of @own.
 */
static int merge_add(const struct merge *merge, const char *name, bool is_own,
		     bool is_top)
{
	struct merge below;
	int err;

	if (!merge_below(merge, name, &below))
		return -ENAMETOOLONG;
	if (is_own && is_top && access(below.machine, F_OK) == 0 &&
	    strncmp(name, "infiniband", strlen("infiniband")) != 0)
		return mkdir(below.to, 0755) < 0 ? -errno
						 : merge_make(&below, false);
	err = entry_add(is_own ? below.own : below.machine, below.to);
	return err == -EEXIST && !is_own ? 0 : err;
}

static int entries_add(const struct merge *merge, bool is_own, bool is_top)
{
	const char *from = is_own ? merge->own : merge->machine;
	DIR *folder = opendir(from);
	const struct dirent *entry;
	int err = folder ? 0 : -errno;

	while (!err && (entry = readdir(folder)))
		if (*entry->d_name != '.' &&
		    (is_own || !is_left_out(from, entry->d_name)))
			err = merge_add(merge, entry->d_name, is_own, is_top);
	if (folder)
		closedir(folder);
	return err;
}

static int merge_make(const struct merge *merge, bool is_top)
{
	const int err = entries_add(merge, true, is_top);

	return err ? err : entries_add(merge, false, is_top);
}

/*
 * Make the file system for /sys/@name at @path/.@name; it is moved to /sys
 * later.
 */
static int stage_make(const char *path, const char *name)
{
	struct merge merge;

	snprintf(merge.to, PATH_MAX, "%s/.%s", path, name);
	snprintf(merge.own, PATH_MAX, "%s/%s", path, name);
	snprintf(merge.machine, PATH_MAX, "/sys/%s", name);
	if (mkdir(merge.to, 0755) < 0 ||
	    mount("tmpfs", merge.to, "tmpfs", MS_NOSUID | MS_NODEV,
		  "mode=0755"))
		return -errno;
	return merge_make(&merge, true);
}

static int stage_move(const char *path, const char *name)
{
	char stage[PATH_MAX + 16];
	char machine[32];

	snprintf(stage, sizeof(stage), "%s/.%s", path, name);
	snprintf(machine, sizeof(machine), "/sys/%s", name);
	return mount(stage, machine, NULL, MS_MOVE, NULL) < 0 ? -errno : 0;
}

void sys_mount_enter(const struct sys_mount *sys)
{
	int err;

	if (!*sys->path)
		return;
	err = namespace_enter();
	if (!err)
		err = stage_make(sys->path, "class");
	if (!err)
		err = stage_make(sys->path, "devices");
	if (!err)
		err = stage_move(sys->path, "devices");
	if (!err)
		err = stage_move(sys->path, "class");
	if (!err) {
		unsetenv("SYSFS_PATH");
		return;
	}
	complain("--sysfs: cannot mount the device files at /sys for the "
		 "command: %s; only programs that read SYSFS_PATH find them",
		 strerror(-err));
	(void)setenv("SYSFS_PATH", sys->path, 1);
}
