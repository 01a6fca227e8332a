/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the files of a host's adapters to a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/tree.h"
#include "output/cli.h"

enum {
	NAME_CHARS = 64,
	CONTENT_BYTES = 4096,
	/* The most that the server sends in an answer, and a NUL. */
	ANSWER_BYTES = 65537,
	LINE_CHARS = 512,
	DEPTH_MAX = 16,
};

/* The file that is renamed to the one that it replaces. */
#define NEW ".new"

/*
 * A directory that is being written, and the file in it to which the next lines
 * of the text may belong.
 */
struct folder {
	struct tree *tree;
	int fd; /* -1: none yet */
	int depth;
	char name[NAME_CHARS + 1];
	char content[CONTENT_BYTES];
	size_t len;
};

/* Whether @len characters are the name of a file that /sys could have. */
static bool name_is_valid(const char *name, size_t len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.:";

	return len && len <= NAME_CHARS && !strchr("_-.:", *name) &&
	       strspn(name, letters) >= len;
}

/*
 * Whether a link at @depth below the root points to a place below the root: "../"
 * at most @depth times, then names.
 */
static bool target_is_valid(const char *target, int depth)
{
	while (!strncmp(target, "../", 3) && depth-- > 0)
		target += 3;
	for (;;) {
		const size_t len = strcspn(target, "/");

		if (!name_is_valid(target, len))
			return false;
		if (!target[len])
			return true;
		target += len + 1;
	}
}

static int content_read(int folder, const char *name, char *out, size_t room)
{
	const int fd = openat(folder, name,
			      O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, out, room);
	close(fd);
	return len < 0 ? -errno : (int)len;
}

/* Create the file NEW in the root with the content of @folder's file. */
static int new_write(const struct folder *folder)
{
	const int fd = openat(
		folder->tree->root, NEW,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
	ssize_t len;
	int err;

	if (fd < 0)
		return -errno;
	len = write(fd, folder->content, folder->len);
	err = len < 0 ? -errno : (size_t)len < folder->len ? -ENOSPC : 0;
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

/* Put NEW in the place of a file or link. */
static int new_rename(const struct folder *folder, const char *name)
{
	const int root = folder->tree->root;
	int err = renameat(root, NEW, folder->fd, name) < 0 ? -errno : 0;

	if (err)
		unlinkat(root, NEW, 0);
	return err;
}

/*
 * Write the file whose lines have been read, unless it has this content
 * already.
 */
static int file_end(struct folder *folder)
{
	char old[CONTENT_BYTES];
	int err;

	if (!*folder->name)
		return 0;
	err = content_read(folder->fd, folder->name, old, sizeof(old));
	if (err != (int)folder->len ||
	    memcmp(old, folder->content, folder->len)) {
		unlinkat(folder->tree->root, NEW, 0);
		err = new_write(folder);
		if (!err)
			err = new_rename(folder, folder->name);
	} else {
		err = 0;
	}
	return err;
}

static int link_write(struct folder *folder, const char *name,
		      const char *target)
{
	char old[PATH_MAX];
	const ssize_t len = readlinkat(folder->fd, name, old, sizeof(old));

	if (!target_is_valid(target, folder->depth))
		return -EPROTO;
	if (len == (ssize_t)strlen(target) && !memcmp(old, target, (size_t)len))
		return 0;
	unlinkat(folder->tree->root, NEW, 0);
	if (symlinkat(target, folder->tree->root, NEW) < 0)
		return -errno;
	return new_rename(folder, name);
}

/*
 * A table, such as that of the P_Keys, may have become shorter: remove the files
 * after the last one.
 */
static int entries_end(const struct folder *folder)
{
	char name[32];
	char *end;
	unsigned long last = strtoul(folder->name, &end, 10);

	if (!*folder->name || *end)
		return 0;
	do
		snprintf(name, sizeof(name), "%lu", ++last);
	while (unlinkat(folder->fd, name, 0) == 0);
	return errno == ENOENT ? 0 : -errno;
}

static int folder_end(struct folder *folder)
{
	int err = file_end(folder);

	if (!err)
		err = entries_end(folder);
	if (folder->fd >= 0)
		close(folder->fd);
	folder->fd = -1;
	*folder->name = '\0';
	return err;
}

/*
 * Open the directory @name in the directory @at, and create it if it does not
 * exist. @at is closed.
 */
static int folder_enter(int at, const char *name, size_t len)
{
	char text[NAME_CHARS + 1];
	int fd;

	if (!name_is_valid(name, len) || at < 0) {
		if (at >= 0)
			close(at);
		return at < 0 ? at : -EPROTO;
	}
	memcpy(text, name, len);
	text[len] = '\0';
	fd = mkdirat(at, text, 0755) < 0 && errno != EEXIST
		     ? -1
		     : openat(at, text,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(at);
	return fd;
}

/*
 * Open the directory at @path below the root: each directory of the path in
 * turn, so that no link is followed.
 */
static int folder_begin(struct folder *folder, const char *path)
{
	int err = folder_end(folder);
	int fd;

	if (err)
		return err;
	fd = fcntl(folder->tree->root, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (folder->depth = 0; fd >= 0 && path; folder->depth++) {
		const size_t len = strcspn(path, "/");

		fd = folder->depth < DEPTH_MAX ? folder_enter(fd, path, len)
					       : -ELOOP;
		path = path[len] ? path + len + 1 : NULL;
	}
	folder->fd = fd;
	return fd < 0 ? fd : 0;
}

/* Add a line to the file that has this name. */
static int line_add(struct folder *folder, const char *name, const char *text)
{
	int err = 0;
	int len;

	if (strcmp(folder->name, name) != 0) {
		err = file_end(folder);
		snprintf(folder->name, sizeof(folder->name), "%s", name);
		folder->len = 0;
	}
	if (err)
		return err;
	len = snprintf(folder->content + folder->len,
		       sizeof(folder->content) - folder->len, "%s\n", text);
	if (len < 0 || (size_t)len >= sizeof(folder->content) - folder->len)
		return -EPROTO;
	folder->len += (size_t)len;
	return 0;
}

static int line_write(struct folder *folder, char *line)
{
	const size_t len = strcspn(line, " >");
	const char what = line[len];

	if (*line == '/')
		return folder_begin(folder, line + 1);
	if (*line == '+')
		return 0;
	if (!name_is_valid(line, len) || !what || folder->fd < 0)
		return -EPROTO;
	line[len] = '\0';
	return what == '>' ? link_write(folder, line, line + len + 1)
			   : line_add(folder, line, line + len + 1);
}

int tree_write(struct tree *tree, char *text)
{
	struct folder folder = { .tree = tree, .fd = -1 };
	int err = 0;
	int end_err;
	char *line;

	while (!err && (line = strsep(&text, "\n")) && text)
		err = line_write(&folder, line);
	if (err)
		*folder.name = '\0';
	end_err = folder_end(&folder);
	return err ? err : end_err;
}

/*
 * Append the answer to "sysfs FIRST HOST" to *@text. @first: the adapter with
 * which the next answer begins, or 0.
 */
static int text_append(struct tree *tree, unsigned long *first, char **text,
		       struct ibsa_error *error)
{
	char line[LINE_CHARS];
	const size_t len = *text ? strlen(*text) : 0;
	char *grown = realloc(*text, len + ANSWER_BYTES);
	const char *next;
	int err;

	if (!grown)
		return -ENOMEM;
	*text = grown;
	grown[len] = '\0';
	if (snprintf(line, sizeof(line), "sysfs %lu %s", *first, tree->host) >=
	    LINE_CHARS) {
		snprintf(error->text, sizeof(error->text),
			 "the fabric has no node %.32s...", tree->host);
		return -ENODEV;
	}
	err = tree->command(tree->arg, line, grown + len, ANSWER_BYTES, error);
	if (err)
		return err;
	next = strstr(grown + len, "\n+");
	*first = next ? strtoul(next + 2, NULL, 10) : 0;
	return 0;
}

static int text_read(struct tree *tree, char **out, struct ibsa_error *error)
{
	unsigned long first = 0;
	unsigned long next = 0;
	int err;

	do {
		first = next;
		err = text_append(tree, &next, out, error);
	} while (!err && next > first);
	return err;
}

/*
 * Remove the contents of the directory @fd, and close it. Directories deeper
 * than DEPTH_MAX are not entered.
 */
static void folder_clear(int fd, int depth)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;

	if (!folder) {
		close(fd);
		return;
	}
	while ((entry = readdir(folder))) {
		const char *name = entry->d_name;
		int below;

		if (!strcmp(name, ".") || !strcmp(name, "..") ||
		    unlinkat(fd, name, 0) == 0 || depth == DEPTH_MAX)
			continue;
		below = openat(fd, name,
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			folder_clear(below, depth + 1);
		unlinkat(fd, name, AT_REMOVEDIR);
	}
	closedir(folder);
}

/*
 * Return: the first line, from @text on, that names a directory or a link; "":
 * there is none.
 */
static const char *next_name(const char *text)
{
	while (*text && *text != '/' && text[strcspn(text, " >\n")] != '>') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

/* Whether two texts have the same directories and links. */
static bool has_same_names(const char *a, const char *b)
{
	for (;;) {
		size_t len;

		a = next_name(a);
		b = next_name(b);
		len = strcspn(a, "\n");
		if (len != strcspn(b, "\n") || memcmp(a, b, len) != 0)
			return false;
		if (!len)
			return true;
		a += len;
		b += len;
	}
}

/*
 * Empty the directory: another fabric server, with other directories, has
 * replaced the one that sent the last text.
 */
static int tree_clear(const struct tree *tree)
{
	const int fd = openat(tree->root, ".",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	folder_clear(fd, 0);
	return 0;
}

/*
 * Write the files of a text. If it has other directories or links than the last
 * text, empty the directory first.
 */
static int text_write(struct tree *tree, const char *text)
{
	char *copy = strdup(text);
	int err = copy ? 0 : -ENOMEM;

	if (!err && tree->text && !has_same_names(tree->text, text))
		err = tree_clear(tree);
	if (!err)
		err = tree_write(tree, copy);
	free(copy);
	if (!err)
		return CLI_DONE;
	return fail_device(
		"cannot write the device files to '%s': %s", tree->path,
		err == -EPROTO ? "the fabric server sent a name that is not "
				 "that of a device file"
			       : strerror(-err));
}

int tree_update(struct tree *tree)
{
	struct ibsa_error error = { .text = "" };
	char *text = NULL;
	int err = text_read(tree, &text, &error);
	int status = err ? error_explain(err, &error) : CLI_DONE;

	if (status == CLI_DONE && (!tree->text || strcmp(tree->text, text))) {
		status = text_write(tree, text);
		free(tree->text);
		tree->text = text;
	} else {
		free(text);
	}
	return status;
}

/* Whether a directory has no files. */
static bool is_empty(int fd)
{
	const int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	size_t count = 0;

	if (!folder) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	while (readdir(folder))
		count++;
	closedir(folder);
	return count <= 2;
}

/* Return: the exit status; a failure is printed. */
static int directory_use(struct tree *tree)
{
	if (tree->root < 0)
		return fail_device("cannot use the directory '%s': %s",
				   tree->path, strerror(errno));
	/* Two programs would remove each other's files. */
	if (flock(tree->root, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return fail_usage("another ibsa fabric sysfs uses '%s'; name "
				  "another directory",
				  tree->path);
	if (is_empty(tree->root))
		return CLI_DONE;
	return fail_usage("'%s' is not empty; name an empty directory, or one "
			  "that does not exist",
			  tree->path);
}

int tree_open(struct tree *tree)
{
	int status;

	tree->text = NULL;
	tree->is_ours = mkdir(tree->path, 0755) == 0;
	tree->root = -1;
	if (tree->is_ours || errno == EEXIST)
		tree->root = open(tree->path, O_RDONLY | O_DIRECTORY |
						      O_NOFOLLOW | O_CLOEXEC);
	status = directory_use(tree);
	if (status != CLI_DONE && tree->root >= 0) {
		close(tree->root);
		tree->root = -1;
	}
	return status;
}

void tree_close(struct tree *tree)
{
	free(tree->text);
	tree->text = NULL;
	if (tree->root < 0)
		return;
	folder_clear(tree->root, 0);
	tree->root = -1;
	if (tree->is_ours)
		rmdir(tree->path);
}
