/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs the fabric server as a process: ibsa fabric run. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibsa/server.h>

#include "server.h"

/* AddressSanitizer's quarantine of freed memory would look like a leak. */
static void sanitizer_limit_memory(void)
{
	const char *old = getenv("ASAN_OPTIONS");
	char options[512];

	snprintf(options, sizeof(options), "%s:quarantine_size_mb=1",
		 old ? old : "");
	setenv("ASAN_OPTIONS", options, 1);
}

static void server_exec(const char *ibsa, const char *folder,
			const char *socket, uint64_t seed, int out)
{
	char seed_text[32];
	char net[96];
	char log[96];

	snprintf(net, sizeof(net), "%s/net", folder);
	snprintf(log, sizeof(log), "%s/log", folder);
	snprintf(seed_text, sizeof(seed_text), "%" PRIu64, seed);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sanitizer_limit_memory();
	dup2(out, STDOUT_FILENO);
	dup2(open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), STDERR_FILENO);
	execl(ibsa, ibsa, "fabric", "run", net, "--socket", socket, "--seed",
	      seed_text, "--sa-at", MANY_SM, "-v", (char *)NULL);
	perror(ibsa);
	_exit(127);
}

/* Wait for the line that the server prints when it accepts clients. */
static bool is_ready(int from)
{
	char text[256];
	ssize_t got;

	do
		got = read(from, text, sizeof(text));
	while (got < 0 && errno == EINTR);
	return got > 0;
}

bool many_server_start(struct many_server *server, const char *ibsa,
		       const char *folder, uint64_t seed)
{
	bool ready;
	int ends[2];

	snprintf(server->fabric, sizeof(server->fabric), "unix:%s/s", folder);
	if (pipe2(ends, O_CLOEXEC))
		return false;
	server->pid = fork();
	if (server->pid == 0)
		server_exec(ibsa, folder, server->fabric + strlen("unix:"),
			    seed, ends[1]);
	close(ends[1]);
	ready = server->pid > 0 && is_ready(ends[0]);
	close(ends[0]);
	return ready;
}

bool many_server_stop(struct many_server *server)
{
	int status = 1;

	kill(server->pid, SIGTERM);
	while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0 &&
	       access(server->fabric + strlen("unix:"), F_OK) != 0;
}

bool many_command(const struct many_server *server, const char *format, ...)
{
	struct ibsa_error error = { .text = "" };
	char line[128];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (!ibsa_server_command(server->fabric, line, NULL, 0, &error))
		return true;
	fprintf(stderr, "%s: %s\n", line, error.text);
	return false;
}

uint64_t many_stat(const struct many_server *server, const char *name)
{
	const size_t len = strlen(name);
	char text[8192];
	char *rest = text;
	char *line;

	if (ibsa_server_command(server->fabric, "stats", text, sizeof(text),
				NULL))
		return UINT64_MAX;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, len) && line[len] == ' ')
			return strtoull(line + len, NULL, 10);
	return UINT64_MAX;
}

struct many_memory many_memory_get(const struct many_server *server)
{
	struct many_memory memory = { .own_kb = -1, .rings_kb = -1 };
	char line[256];
	long rss_kb = -1;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/status", server->pid);
	file = fopen(line, "re");
	if (!file)
		return memory;
	while (fgets(line, sizeof(line), file)) {
		(void)sscanf(line, "VmRSS: %ld", &rss_kb);
		(void)sscanf(line, "RssShmem: %ld", &memory.rings_kb);
	}
	fclose(file);
	memory.own_kb = rss_kb - memory.rings_kb;
	return memory;
}

int many_open_files(const struct many_server *server)
{
	char path[64];
	int count = -2; /* . and .. */
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", server->pid);
	folder = opendir(path);
	if (!folder)
		return -1;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}
