/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a program finds its shared libraries, from its ELF file. Nothing in the
 * file is trusted: it is read in pieces of fixed size.
 *
 * Source: System V ABI, chapters 4 and 5; ld.so(8).
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fabric/program.h"

/* Maximum number of entries that are read of an ELF file's dynamic section. */
enum { ENTRIES_MAX = 4096 };

/* What was found in an ELF file. */
struct elf_facts {
	bool has_interpreter;
	/*
	 * The file has DT_SONAME: it is a shared library, such as the dynamic
	 * linker.
	 */
	bool has_name;
	bool has_rpath;
	bool has_runpath;
};

/* Open @path if execvp() can run it. Return: the descriptor, or -1. */
static int program_open_at(const char *path)
{
	struct stat found;

	if (stat(path, &found) || !S_ISREG(found.st_mode) || access(path, X_OK))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Find @name in PATH, as execvp() does: an empty entry is this directory. */
static int program_open(const char *name)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];
	int fd = -1;

	if (strchr(name, '/'))
		return program_open_at(name);
	for (at = at ? at : "/bin:/usr/bin"; at && fd < 0;) {
		const int len = (int)strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s%s%s", len, at,
			     len ? "/" : "", name) < (int)sizeof(path))
			fd = program_open_at(path);
		at = at[len] ? at + len + 1 : NULL;
	}
	return fd;
}

static bool bytes_read(int fd, void *out, size_t len, uint64_t at)
{
	return at <= (uint64_t)INT64_MAX - len &&
	       pread(fd, out, len, (off_t)at) == (ssize_t)len;
}

/* Read the dynamic section whose program header is @part. */
static void dynamic_read(int fd, const ElfW(Phdr) * part,
			 struct elf_facts *facts)
{
	const uint64_t count = part->p_filesz / sizeof(ElfW(Dyn));
	ElfW(Dyn) entry;

	for (uint64_t i = 0; i < count && i < ENTRIES_MAX; i++) {
		if (!bytes_read(fd, &entry, sizeof(entry),
				part->p_offset + i * sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		facts->has_name |= entry.d_tag == DT_SONAME;
		facts->has_rpath |= entry.d_tag == DT_RPATH;
		facts->has_runpath |= entry.d_tag == DT_RUNPATH;
	}
}

/* Return: false if @fd is not a program of this word size. */
static bool elf_read(int fd, struct elf_facts *facts)
{
	ElfW(Ehdr) head;
	ElfW(Phdr) part;

	if (!bytes_read(fd, &head, sizeof(head), 0) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] !=
		    (sizeof(part.p_vaddr) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head.e_phentsize != sizeof(part))
		return false;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		if (!bytes_read(fd, &part, sizeof(part),
				head.e_phoff + i * sizeof(part)))
			return false;
		facts->has_interpreter |= part.p_type == PT_INTERP;
		if (part.p_type == PT_DYNAMIC)
			dynamic_read(fd, &part, facts);
	}
	return true;
}

enum program_kind program_kind(const char *name)
{
	struct elf_facts facts = { .has_name = false };
	const int fd = program_open(name);
	bool is_elf;

	if (fd < 0)
		return PROGRAM_USUAL;
	is_elf = elf_read(fd, &facts);
	close(fd);
	if (!is_elf || facts.has_name)
		return PROGRAM_USUAL;
	if (!facts.has_interpreter)
		return PROGRAM_STATIC;
	/* The dynamic linker ignores DT_RPATH beside DT_RUNPATH. */
	return facts.has_rpath && !facts.has_runpath ? PROGRAM_RPATH
						     : PROGRAM_USUAL;
}
