/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Mounts the device files of a host at /sys/class and /sys/devices: file systems
 * in memory that have the host's directories, and of the machine's those with
 * other names.
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
	if (status == CLI_DONE)
		status = tree_update(&sys->tree);
	sys->tree.is_ours = true;
	sys->is_open = true;
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

/* Give @to what is at @from: a copy of a link, or a mount of all else. */
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
 * Add the entries of @from to @to, unless @to has them already. @shared: the name
 * of a directory whose own entries are added, because both have entries for it
 */
static int entries_add(const char *from, const char *to, const char *shared)
{
	DIR *folder = opendir(from);
	const struct dirent *entry;
	char source[2 * PATH_MAX];
	char target[2 * PATH_MAX];
	int err = folder ? 0 : -errno;

	while (!err && (entry = readdir(folder))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
		snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
		if (shared && !strcmp(entry->d_name, shared)) {
			(void)mkdir(target, 0755);
			err = entries_add(source, target, NULL);
		} else {
			err = entry_add(source, target);
		}
		err = err == -EEXIST ? 0 : err;
	}
	if (folder)
		closedir(folder);
	return err;
}

/*
 * Make the file system for /sys/@name in the directory of the same name with a
 * dot.
 */
static int stage_make(const char *path, const char *name, const char *shared)
{
	char stage[PATH_MAX + 16];
	char own[PATH_MAX + 16];
	char machine[32];
	int err;

	snprintf(stage, sizeof(stage), "%s/.%s", path, name);
	snprintf(own, sizeof(own), "%s/%s", path, name);
	snprintf(machine, sizeof(machine), "/sys/%s", name);
	if (mkdir(stage, 0755) < 0 ||
	    mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755"))
		return -errno;
	err = entries_add(own, stage, shared);
	return err ? err : entries_add(machine, stage, shared);
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
		err = stage_make(sys->path, "class", "net");
	if (!err)
		err = stage_make(sys->path, "devices", NULL);
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
