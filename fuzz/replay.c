/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs a fuzz harness over the files of its corpus, without libFuzzer. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Noreturn void fail(const char *path, const char *why)
{
	fprintf(stderr, "%s: %s\n", path, why);
	exit(1);
}

/*
 * Read the file into memory of exactly its size, so that the sanitizer detects
 * a read past its end.
 */
static uint8_t *file_read(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
		fail(path, strerror(errno));
	rewind(file);
	data = malloc((size_t)size);
	if ((size && !data) ||
	    fread(data, 1, (size_t)size, file) != (size_t)size)
		fail(path, "cannot read it");
	fclose(file);
	*out_size = (size_t)size;
	return data;
}

static void replay_file(const char *path)
{
	size_t size;
	uint8_t *data = file_read(path, &size);

	if (LLVMFuzzerTestOneInput(data, size))
		fail(path, "the harness says no");
	free(data);
}

/* Returns how many files there were. */
static unsigned int replay_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned int files = 0;

	if (!dir)
		fail(path, strerror(errno));
	while ((entry = readdir(dir))) {
		char name[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		replay_file(name);
		files++;
	}
	closedir(dir);
	return files;
}

int main(int argc, char **argv)
{
	unsigned int files = 0;

	/* As libFuzzer does. */
	if (LLVMFuzzerTestOneInput((const uint8_t *)"", 0))
		fail("no input", "the harness says no");
	for (int i = 1; i < argc; i++)
		files += replay_dir(argv[i]);
	printf("%u inputs\n", files);
	if (!files)
		fail(argc > 1 ? argv[1] : argv[0], "no inputs to replay");
	return 0;
}
