/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kinds of programs, also of damaged files: this program itself, changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "fabric/program.h"

enum {
	PART_MAX = 65536, /* most bytes of this program in a damaged file */
	HEADERS = 2048,
	HEADER_LEAST = 64,
};

static char path[] = "/tmp/ibsa-program-XXXXXX";
static uint8_t bytes[PART_MAX];
static size_t part;

static void file_write(size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	FILE *file = fopen("/proc/self/exe", "r");
	const int fd = mkstemp(path);

	(void)state;
	assert_non_null(file);
	part = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(part > HEADERS);
	assert_true(fd >= 0);
	assert_int_equal(fchmod(fd, 0700), 0);
	return close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static void programs_are_told_from_other_files(void **state)
{
	(void)state;
	assert_int_equal(program_kind("/proc/self/exe"), PROGRAM_USUAL);
	assert_int_equal(program_kind("sh"), PROGRAM_USUAL);
	assert_int_equal(program_kind("/"), PROGRAM_USUAL);
	assert_int_equal(program_kind("/dev/null"), PROGRAM_USUAL);
	assert_int_equal(program_kind(""), PROGRAM_USUAL);
	assert_int_equal(program_kind("there-is-no-such-program"),
			 PROGRAM_USUAL);
}

static void cut_files_are_read_safely(void **state)
{
	(void)state;
	for (size_t len = 0; len < HEADERS; len++) {
		file_write(len);
		if (len < HEADER_LEAST)
			assert_int_equal(program_kind(path), PROGRAM_USUAL);
		else
			(void)program_kind(path);
	}
}

/* All bits of a field set, and all cleared. */
static void odd_files_are_read_safely(void **state)
{
	uint8_t before[8];

	(void)state;
	for (size_t at = 0; at < HEADERS; at += 4) {
		memcpy(before, bytes + at, sizeof(before));
		for (int value = 0; value <= 0xff; value += 0xff) {
			memset(bytes + at, value, sizeof(before));
			file_write(part);
			(void)program_kind(path);
		}
		memcpy(bytes + at, before, sizeof(before));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_told_from_other_files),
		cmocka_unit_test(cut_files_are_read_safely),
		cmocka_unit_test(odd_files_are_read_safely),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
