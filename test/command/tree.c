/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The directory of device files: a text from a hostile server, and another
 * process that puts links into the directory, change nothing outside of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fabric/sys_mount.h"
#include "fabric/tree.h"

/* A directory with a tree, "in", and a file beside it, "out/file". */
struct site {
	char path[64];
	char in[80];
	struct tree tree;
};

static void text_put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void text_is(const char *path, const char *wanted)
{
	char text[256] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(text, wanted);
}

static int site_make(void **state)
{
	static struct site site;

	snprintf(site.path, sizeof(site.path), "/tmp/ibsa-tree-XXXXXX");
	assert_non_null(mkdtemp(site.path));
	assert_int_equal(chdir(site.path), 0);
	assert_int_equal(mkdir("out", 0755), 0);
	text_put("out/file", "outside\n");
	snprintf(site.in, sizeof(site.in), "%s/in", site.path);
	site.tree = (struct tree){ .path = site.in, .host = "" };
	assert_int_equal(tree_open(&site.tree), 0);
	*state = &site;
	return 0;
}

/* All that is outside of the tree is as it was. */
static int site_end(void **state)
{
	struct site *site = *state;

	tree_close(&site->tree);
	text_is("out/file", "outside\n");
	assert_int_equal(access(site->in, F_OK), -1);
	assert_int_equal(unlink("out/file"), 0);
	assert_int_equal(rmdir("out"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(site->path), 0);
	return 0;
}

static int text_write(struct site *site, const char *text)
{
	char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return tree_write(&site->tree, copy);
}

static void files_and_links_are_written(void **state)
{
	assert_int_equal(text_write(*state, "/class/x\nlid 0x1\n"
					    "uevent A=1\nuevent B=2\n"
					    "dev>../../devices/d\n/devices/d\n"
					    "0 a\n1 b\n2 c\n"),
			 0);
	text_is("in/class/x/lid", "0x1\n");
	text_is("in/class/x/uevent", "A=1\nB=2\n");
	text_is("in/class/x/dev/2", "c\n");
}

/* A file whose content is the same is left alone, as its number shows. */
static void only_what_changed_is_replaced(void **state)
{
	struct stat before[2];
	struct stat after[2];

	assert_int_equal(text_write(*state, "/a\nlid 0x1\nsm 0x1\n"), 0);
	assert_int_equal(stat("in/a/lid", &before[0]), 0);
	assert_int_equal(stat("in/a/sm", &before[1]), 0);
	assert_int_equal(text_write(*state, "/a\nlid 0x1\nsm 0x2\n"), 0);
	assert_int_equal(stat("in/a/lid", &after[0]), 0);
	assert_int_equal(stat("in/a/sm", &after[1]), 0);
	assert_true(before[0].st_ino == after[0].st_ino);
	assert_true(before[1].st_ino != after[1].st_ino);
	text_is("in/a/sm", "0x2\n");
}

static void entries_of_a_shorter_table_go(void **state)
{
	assert_int_equal(text_write(*state, "/a\n0 x\n1 y\n2 z\n/b\n0 x\n"), 0);
	assert_int_equal(text_write(*state, "/a\n0 x\n/b\n0 x\n"), 0);
	text_is("in/a/0", "x\n");
	assert_int_equal(access("in/a/1", F_OK), -1);
	assert_int_equal(access("in/a/2", F_OK), -1);
}

static void names_that_leave_the_directory_are_refused(void **state)
{
	static const char *const texts[] = {
		"/..\nfile x\n",
		"/../out\nfile x\n",
		"/a/../../out\nfile x\n",
		"/a/./b\nfile x\n",
		"//out\nfile x\n",
		"/a/\nfile x\n",
		"/\nfile x\n",
		"/.new\nfile x\n",
		"/a\n.. x\n",
		"/a\n../../out/file x\n",
		"/a\n/../out\nfile x\n",
		"/a\n.new x\n",
		"/a\n-rf x\n",
		"/a\nb\n",
		"/a\n x\n",
		"file x\n",
		"/a\nb\001 x\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (text_write(*state, texts[i]) != -EPROTO)
			fail_msg("not refused: %s", texts[i]);
}

static void links_that_leave_the_directory_are_refused(void **state)
{
	static const char *const texts[] = {
		"/a\nl>/etc\n",
		"/a\nl>../../out\n",
		"/a\nl>..\n",
		"/a\nl>../b/../../out\n",
		"/a/b\nl>../../../o\n",
		"/a\nl>\n",
		"/a\nl>.\n",
		"/a\nl>b//c\n",
		"/a\nl>../.new\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (text_write(*state, texts[i]) != -EPROTO)
			fail_msg("not refused: %s", texts[i]);
	assert_int_equal(text_write(*state, "/a/b\nl>../../c\n"), 0);
}

static void content_that_is_too_long_is_refused(void **state)
{
	char text[9000];
	struct site *site = *state;

	memset(text, 'x', sizeof(text));
	memcpy(text, "/a\nf ", 5);
	strcpy(text + sizeof(text) - 2, "\n");
	assert_int_equal(tree_write(&site->tree, text), -EPROTO);
	memset(text, 'x', sizeof(text));
	memcpy(text, "/", 1);
	strcpy(text + sizeof(text) - 2, "\n");
	assert_int_equal(tree_write(&site->tree, text), -EPROTO);
}

/* Another process replaces a directory, a file and .new by links. */
static void links_are_not_followed(void **state)
{
	static const char text[] = "/a/b\nfile x\n";

	assert_int_equal(text_write(*state, text), 0);
	assert_int_equal(unlink("in/a/b/file"), 0);
	assert_int_equal(symlink("../../../out/file", "in/a/b/file"), 0);
	assert_int_equal(symlink("../out/file", "in/.new"), 0);
	assert_int_equal(text_write(*state, text), 0);
	text_is("in/a/b/file", "x\n");
	assert_int_equal(unlink("in/a/b/file"), 0);
	assert_int_equal(rmdir("in/a/b"), 0);
	assert_int_equal(symlink("../../out", "in/a/b"), 0);
	assert_int_equal(text_write(*state, text), -ENOTDIR);
}

/* A FIFO does not block, and a directory is not replaced. */
static void other_files_do_not_block(void **state)
{
	assert_int_equal(text_write(*state, "/a\nfile x\n"), 0);
	assert_int_equal(unlink("in/a/file"), 0);
	assert_int_equal(mkfifo("in/a/file", 0600), 0);
	assert_int_equal(text_write(*state, "/a\nfile x\n"), 0);
	text_is("in/a/file", "x\n");
	assert_int_equal(unlink("in/a/file"), 0);
	assert_int_equal(mkdir("in/a/file", 0700), 0);
	assert_int_equal(text_write(*state, "/a\nfile x\n"), -EISDIR);
}

/* What is removed at the end does not include the targets of links. */
static void removal_does_not_follow_links(void **state)
{
	assert_int_equal(text_write(*state, "/a\nfile x\n"), 0);
	assert_int_equal(symlink("../../out", "in/a/link"), 0);
	assert_int_equal(symlink("../out", "in/link"), 0);
}

static void directory_goes_if_it_cannot_be_opened(void **state)
{
	struct sys_mount sys = { .is_open = false };
	struct rlimit limit;
	int status;

	(void)state;
	assert_int_equal(mkdir("temporary", 0755), 0);
	assert_int_equal(setenv("TMPDIR", "temporary", 1), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE,
				   &(struct rlimit){ 0, limit.rlim_max }),
			 0);
	status = sys_mount_open(&sys, NULL);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	assert_int_not_equal(status, 0);
	assert_int_equal(sys_mount_update(&sys), -1);
	sys_mount_close(&sys);
	assert_int_equal(rmdir("temporary"), 0);
}

static void directory_must_be_empty(void **state)
{
	struct site *site = *state;
	struct tree tree = { .path = site->path, .host = "" };
	char link[80];

	assert_int_not_equal(tree_open(&tree), 0);
	tree_close(&tree);
	snprintf(link, sizeof(link), "%s/link", site->path);
	assert_int_equal(symlink("in", link), 0);
	tree.path = link;
	assert_int_not_equal(tree_open(&tree), 0);
	tree_close(&tree);
	assert_int_equal(unlink(link), 0);
}

/* A second tree in the directory would remove the files of the first. */
static void directory_has_one_tree(void **state)
{
	struct site *site = *state;
	struct tree tree = { .path = site->in, .host = "" };

	assert_int_not_equal(tree_open(&tree), 0);
	tree_close(&tree);
	assert_int_equal(text_write(site, "/a\nfile x\n"), 0);
	text_is("in/a/file", "x\n");
}

/*
 * What is deeper than all device files is not of the tree: removing it could take
 * any number of descriptors.
 */
static void removal_has_a_limit(void **state)
{
	enum { LEVELS = 40 };
	struct tree tree = { .path = "deep", .host = "" };
	char path[8 + 2 * LEVELS] = "deep";

	(void)state;
	assert_int_equal(tree_open(&tree), 0);
	for (size_t len = strlen(path), i = 0; i < LEVELS; i++, len += 2) {
		strcpy(path + len, "/d");
		assert_int_equal(mkdir(path, 0755), 0);
	}
	tree_close(&tree);
	for (size_t len = strlen(path); len >= 4; len -= 2, path[len] = '\0')
		assert_int_equal(rmdir(path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, site_make, site_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_and_links_are_written),
		TEST(only_what_changed_is_replaced),
		TEST(entries_of_a_shorter_table_go),
		TEST(names_that_leave_the_directory_are_refused),
		TEST(links_that_leave_the_directory_are_refused),
		TEST(content_that_is_too_long_is_refused),
		TEST(links_are_not_followed),
		TEST(other_files_do_not_block),
		TEST(removal_does_not_follow_links),
		TEST(directory_goes_if_it_cannot_be_opened),
		TEST(directory_must_be_empty),
		TEST(directory_has_one_tree),
		TEST(removal_has_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
