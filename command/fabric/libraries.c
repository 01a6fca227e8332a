/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The libraries with which the command of ibsa fabric exec uses the fabric. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/complain.h"
#include "base/installed.h"
#include "fabric/libraries.h"
#include "fabric/program.h"

/*
 * Where a library may be: in an installed tree, in a build tree, or at the
 * configured path.
 */
struct library_paths {
	const char *name;
	const char *from_bin;
	const char *from_build;
	const char *configured;
};

static const struct library_paths umad = {
	"libibumad.so.3",
	IBSA_DROPIN_FROM_BIN,
	IBSA_DROPIN_FROM_BUILD,
	IBSA_DROPIN,
};

static const struct library_paths verbs = {
	"libibsa-verbs-preload.so",
	IBSA_PRELOAD_FROM_BIN,
	"..",
	IBSA_PRELOAD,
};

/*
 * Find the folder of a library: in the tree of this executable, in its build,
 * or where it is configured to be installed.
 */
static bool folder_find(const struct library_paths *paths, char out[PATH_MAX])
{
	const char *const folders[][2] = {
		{ paths->from_bin, "" },
		{ paths->from_build, paths->configured },
	};
	char file[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		installed_folder(folders[i][0], folders[i][1], out);
		snprintf(file, sizeof(file), "%s/%s", out, paths->name);
		if (*out && access(file, R_OK) == 0)
			return true;
	}
	return false;
}

static int verbs_find(char out[PATH_MAX])
{
	char folder[PATH_MAX];

	if (!folder_find(&verbs, folder))
		return fail_device("--verbs: %s/%s does not exist; install the "
				   "package libibsa-compat1",
				   verbs.configured, verbs.name);
	if (snprintf(out, PATH_MAX, "%s/%s", folder, verbs.name) >= PATH_MAX)
		return fail_device("--verbs: the path of %s is too long",
				   verbs.name);
	return CLI_DONE;
}

int libraries_find(struct libraries *out, bool has_verbs)
{
	*out->umad_folder = '\0';
	*out->verbs = '\0';
	if (!folder_find(&umad, out->umad_folder)) {
		*out->umad_folder = '\0';
		complain("%s/%s does not exist; programs that use libibumad "
			 "need it to use the fabric: install the package "
			 "ibsa-umad",
			 umad.configured, umad.name);
	}
	return has_verbs ? verbs_find(out->verbs) : CLI_DONE;
}

/* Put a path in front of those in the environment variable @name. */
static bool paths_prepend(const char *name, const char *path)
{
	const char *old = getenv(name);
	char *all;
	bool is_set;

	if (!old || !*old)
		return setenv(name, path, 1) == 0;
	if (asprintf(&all, "%s:%s", path, old) < 0)
		return false;
	is_set = setenv(name, all, 1) == 0;
	free(all);
	return is_set;
}

/*
 * Set the environment so that @command uses the drop-in libibumad. LD_PRELOAD
 * is set only where LD_LIBRARY_PATH has no effect: a program with a sanitizer
 * fails if another library is loaded before that of the sanitizer.
 */
static bool umad_export(const char *command, const char *folder)
{
	const enum program_kind kind = program_kind(command);
	char file[2 * PATH_MAX];

	if (kind == PROGRAM_STATIC)
		complain("'%s' is linked statically: if it uses libibumad or "
			 "libibverbs, it uses this machine's devices, not the "
			 "fabric; link it dynamically",
			 command);
	snprintf(file, sizeof(file), "%s/%s", folder, umad.name);
	return paths_prepend("LD_LIBRARY_PATH", folder) &&
	       (kind != PROGRAM_RPATH || paths_prepend("LD_PRELOAD", file));
}

bool libraries_export(const struct libraries *libraries, const char *command)
{
	return (!*libraries->umad_folder ||
		umad_export(command, libraries->umad_folder)) &&
	       (!*libraries->verbs ||
		paths_prepend("LD_PRELOAD", libraries->verbs));
}
