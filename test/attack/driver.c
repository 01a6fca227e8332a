/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Attacks a fabric server beside an innocent client, and prints for each attack
 * what the innocent client notices: the latency of its requests, and how long a
 * new client waits for its hello; also what the server uses, and how long it
 * takes to end after SIGTERM.
 *
 * usage: server-attack [-s SECONDS] [-l SLACK] [-m MB] [-t] [-n COUNT] IBSA FILE
 *                      [ATTACK...]
 *
 * IBSA is the command, FILE a topology of scripts/gen-fabric. The server runs
 * with --memory MB. Each limit below is multiplied by SLACK, for a machine that
 * is busy with other work. With -t, all clients use TCP; with -n, also COUNT
 * attacks of tcp.c take place, and no other attack that is not named.
 *
 * Exit status: 0 all attacks are within the limits; 1 one is not; 2 an error.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/types.h>

#include "attack.h"
#include "base/clock.h"

/* The limits. */
enum {
	LATENCY_MS = 20, /* of 99.9 % of requests, above that without attack */
	HELLO_MS = 200,	 /* of a new client */
	TERM_MS = 200,	 /* from SIGTERM to the end */
	MEMORY_MB = 128, /* above --memory */
	FILES = 600,	 /* descriptors in use more than before */
};

enum {
	SAMPLES_MAX = 1 << 20,
	THINK_US = 100,	 /* between two requests of the innocent client */
	LOST_MS = 15000, /* a request without answer */
	BEGIN_MS = 10000,
	PROCESSES_MAX = 8,
};

/* What the processes share. */
struct shared {
	atomic_int begun;	  /* attacks */
	atomic_ullong hello_ns;	  /* the longest hello */
	atomic_bool hello_failed; /* a new client was not served */
};

static struct shared *shared;

struct run {
	const char *command;
	const char *topology;
	unsigned int nodes;
	double seconds;
	double slack;
	unsigned int memory_mb;
	bool is_tcp;
	unsigned int count; /* of attacks of tcp.c */
	char folder[32];
	char path[64]; /* of the socket */
	char listen[32];
	char token[64];
	char address[128];
	pid_t server;
	pid_t pids[PROCESSES_MAX + 1];
	int pid_count;
};

/* Latencies in ms; max is LOST_MS if an answer is missing. */
struct latency {
	double p50, p99, p999, max;
	size_t count;
};

void attack_has_begun(void)
{
	atomic_fetch_add(&shared->begun, 1);
}

void pause_us(unsigned int us)
{
	const struct timespec pause = { .tv_nsec = us * 1000L };

	nanosleep(&pause, NULL);
}

static void fail(const char *what)
{
	fprintf(stderr, "server-attack: %s: %s\n", what, strerror(errno));
	exit(2);
}

struct packet packet_request(uint8_t method, uint16_t attribute, uint32_t agent,
			     uint32_t tid)
{
	struct packet packet = {
		.header = { .id = agent,
			    .length = sizeof(packet),
			    .timeout_ms = 60000 },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION, method },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32(packet.mad + MAD_TID_LOW, tid);
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	return packet;
}

int file_open(const char *address, unsigned int index,
	      struct remote_file *out_file, uint32_t *out_agent)
{
	struct umad_agent_request2 request = {
		.qpn = 1,
		.mgmt_class = IBSA_CLASS_SA,
		.mgmt_class_version = IBSA_CLASS_VERSION,
		.rmpp_version = 1,
	};
	struct remote_address to;
	char name[16];
	int err;

	snprintf(name, sizeof(name), "Hca%u", index + 1);
	err = ibsa__remote_address_find(address, name, NULL, 0, NULL, &to);
	if (!err)
		err = ibsa__remote_file_open(&to, NULL, out_file);
	if (!err)
		err = out_file->base.ops->register_agent2(&out_file->base,
							  &request);
	*out_agent = request.id;
	return err;
}

int attack_connect_try(const char *address, const char *node)
{
	struct {
		struct remote_head head;
		struct remote_greeting greeting;
	} frame = { .head = { .type = REMOTE_HELLO } };
	const ssize_t answer = sizeof(frame.head) +
			       sizeof(frame.greeting.hello);
	struct remote_connection connection;
	struct remote_address to;
	int fd;

	if (ibsa__remote_address_find(address, node, NULL, 0, NULL, &to) ||
	    ibsa__remote_connect_begin(&connection, &to, true, NULL))
		return -1;
	fd = connection.fd;
	if (!node)
		return fd;
	frame.head.length = (uint32_t)ibsa__remote_hello_put(&to,
							     &frame.greeting);
	if (fcntl(fd, F_SETFL, 0) == 0 &&
	    send(fd, &frame, sizeof(frame.head) + frame.head.length,
		 MSG_NOSIGNAL) > 0 &&
	    recv(fd, &frame, (size_t)answer, MSG_WAITALL) == answer)
		return fd;
	close(fd);
	return -1;
}

int attack_connect(const char *address, const char *node)
{
	const int fd = attack_connect_try(address, node);

	if (fd < 0)
		exit(1);
	return fd;
}

/* Send a request and wait for its answer. Return: false: none in LOST_MS. */
static bool request_pass(struct remote_file *file, const struct packet *request)
{
	struct pollfd fd = { .fd = file->shared->data.fd, .events = POLLIN };
	const uint64_t start_ns = clock_now_ns();
	struct packet answer;

	if (ibsa__remote_file_write(file, request, sizeof(*request)))
		return false;
	while (ibsa__clock_left_ms(LOST_MS, start_ns)) {
		if (poll(&fd, 1, ibsa__clock_left_ms(LOST_MS, start_ns)) <= 0)
			return false;
		if (ibsa__remote_file_read(file, &answer, sizeof(answer)) > 0 &&
		    !memcmp(answer.mad + MAD_TID_LOW,
			    request->mad + MAD_TID_LOW, 4))
			return !answer.header.status;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static struct latency latency_of(float *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare);
	return (struct latency){
		.p50 = samples[count / 2],
		.p99 = samples[count * 99 / 100],
		.p999 = samples[count * 999 / 1000],
		.max = samples[count - 1],
		.count = count,
	};
}

/* Be an innocent client for some time: read NodeRecords by LID. */
static struct latency innocent(const struct run *run, struct remote_file *file,
			       uint32_t agent)
{
	static float samples[SAMPLES_MAX];
	static uint32_t tid;
	const uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
	size_t count = 0;

	while (clock_now_ns() < end_ns && count < SAMPLES_MAX) {
		struct packet packet = packet_request(
			IBSA_METHOD_GET, NODE_RECORD, agent, ++tid);
		const uint64_t start_ns = clock_now_ns();
		bool is_answered;

		packet.mad[MAD_COMPONENT_MASK + 7] = 1;
		ibsa_put_be16(packet.mad + IBSA_SA_HEADER_BYTES,
			      (uint16_t)(1 + tid % run->nodes));
		is_answered = request_pass(file, &packet);
		samples[count++] =
			is_answered ? (float)(clock_now_ns() - start_ns) / 1e6F
				    : LOST_MS;
		if (!is_answered)
			break;
		pause_us(THINK_US);
	}
	return latency_of(samples, count);
}

/* Connect as a new client again and again, and note the longest hello. */
static void newcomer(const char *address)
{
	struct remote_address to;

	for (;;) {
		struct remote_connection connection;
		const uint64_t start_ns = clock_now_ns();
		uint64_t hello_ns;

		if (ibsa__remote_address_find(address, "Hca9", NULL, 0, NULL,
					      &to) ||
		    ibsa__remote_connect(&connection, &to, NULL)) {
			atomic_store(&shared->hello_failed, true);
			pause();
		}
		hello_ns = clock_now_ns() - start_ns;
		if (hello_ns > atomic_load(&shared->hello_ns))
			atomic_store(&shared->hello_ns, hello_ns);
		ibsa__remote_disconnect(&connection);
		pause_us(10000);
	}
}

/* Return: a port of 127.0.0.1 that no program uses. */
static unsigned int port_free(void)
{
	union tcp_name name;
	socklen_t len = sizeof(name);
	int fd;

	if (ibsa__tcp_name_parse("0", 1, &name))
		fail("no address");
	fd = ibsa__tcp_socket(&name);
	if (fd < 0 || bind(fd, &name.any, sizeof(name.in)) ||
	    getsockname(fd, &name.any, &len))
		fail("no free port");
	close(fd);
	return ntohs(name.in.sin_port);
}

static void addresses_set(struct run *run)
{
	snprintf(run->path, sizeof(run->path), "%s/s", run->folder);
	snprintf(run->token, sizeof(run->token), "%s/t", run->folder);
	snprintf(run->listen, sizeof(run->listen), "tcp:%u", port_free());
	if (run->is_tcp)
		snprintf(run->address, sizeof(run->address), "%s,token=%s",
			 run->listen, run->token);
	else
		snprintf(run->address, sizeof(run->address), "unix:%s",
			 run->path);
}

static void server_exec(const struct run *run)
{
	char memory[16];
	const char *words[16] = { run->command,	 "fabric",   "run",
				  run->topology, "--socket", run->path };
	size_t count = 6;

	snprintf(memory, sizeof(memory), "%u", run->memory_mb);
	if (run->memory_mb) {
		words[count++] = "--memory";
		words[count++] = memory;
	}
	if (run->is_tcp) {
		words[count++] = "--listen";
		words[count++] = run->listen;
		words[count++] = "--token";
		words[count++] = run->token;
	}
	execv(run->command, (char *const *)(uintptr_t)words);
}

static void server_start(struct run *run)
{
	addresses_set(run);
	fflush(stdout);
	run->server = fork();
	if (run->server < 0)
		fail("fork");
	if (run->server)
		return;
	fclose(stdout);
	if (open("/dev/null", O_WRONLY) != STDOUT_FILENO)
		_exit(2);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	server_exec(run);
	_exit(2);
}

/* Open the innocent client, as soon as the server listens. */
static void server_await(struct run *run, struct remote_file *file,
			 uint32_t *agent)
{
	const uint64_t start_ns = clock_now_ns();

	while (file_open(run->address, 0, file, agent)) {
		if (!ibsa__clock_left_ms(BEGIN_MS, start_ns))
			fail("the server does not start");
		pause_us(10000);
	}
}

/* @number: of an attack of tcp.c, if there is no @attack */
static void attacker_add(struct run *run, const struct attack *attack,
			 unsigned int number)
{
	const pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid) {
		run->pids[run->pid_count++] = pid;
		return;
	}
	if (attack)
		attack->run(run->address, run->nodes);
	else if (number)
		attack_over_tcp(run->address, number);
	else
		newcomer(run->address);
	_exit(1);
}

static void attack_start(struct run *run, const struct attack *attack,
			 unsigned int number)
{
	const int processes = attack ? attack->processes : 1;
	const uint64_t start_ns = clock_now_ns();

	run->pid_count = 0;
	atomic_store(&shared->begun, 0);
	atomic_store(&shared->hello_ns, 0);
	atomic_store(&shared->hello_failed, false);
	for (int i = 0; i < processes; i++)
		attacker_add(run, attack, number);
	while (atomic_load(&shared->begun) < processes &&
	       ibsa__clock_left_ms(BEGIN_MS, start_ns))
		pause_us(1000);
	attacker_add(run, NULL, 0);
}

static void attack_end(struct run *run)
{
	for (int i = 0; i < run->pid_count; i++)
		kill(run->pids[i], SIGKILL);
	for (int i = 0; i < run->pid_count; i++)
		waitpid(run->pids[i], NULL, 0);
}

/* Return: the largest resident memory of the server so far, in MB. */
static unsigned int server_memory(const struct run *run)
{
	char path[64];
	char line[256];
	unsigned int kb = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)run->server);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %u", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb / 1024;
}

static unsigned int server_files(const struct run *run)
{
	char path[64];
	unsigned int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)run->server);
	folder = opendir(path);
	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

/* Send SIGTERM. Return: ms until the server has ended; LOST_MS: not by then. */
static double server_end(const struct run *run)
{
	const uint64_t start_ns = clock_now_ns();

	kill(run->server, SIGTERM);
	while (ibsa__clock_left_ms(LOST_MS, start_ns)) {
		if (waitpid(run->server, NULL, WNOHANG) == run->server)
			return (double)(clock_now_ns() - start_ns) / 1e6;
		pause_us(1000);
	}
	kill(run->server, SIGKILL);
	waitpid(run->server, NULL, 0);
	return LOST_MS;
}

struct result {
	struct latency quiet, attacked;
	double hello_ms, term_ms;
	unsigned int memory_mb, files_before, files_after;
};

/* The latency that is limited: of few requests, p999 is that of one. */
static double judged(const struct latency *latency)
{
	enum { MANY = 5000 };

	return latency->count < MANY ? latency->p99 : latency->p999;
}

/* Return: the limit that a result exceeds, or NULL. */
static const char *result_check(const struct run *run, const struct result *got)
{
	if (judged(&got->attacked) - judged(&got->quiet) >
	    LATENCY_MS * run->slack)
		return "latency";
	if (got->hello_ms > HELLO_MS * run->slack)
		return "hello";
	if (got->term_ms > TERM_MS * run->slack)
		return "SIGTERM";
	if (run->memory_mb && got->memory_mb > run->memory_mb + MEMORY_MB)
		return "memory";
	if (got->files_after > got->files_before + FILES)
		return "files";
	return NULL;
}

static bool result_print(const struct run *run, const char *name,
			 const struct result *got)
{
	const char *const exceeded = result_check(run, got);

	printf("%-16s %6.2f %6.2f %6.1f %6.1f  %8.2f %8.2f %8.1f %8.1f  %8.0f "
	       "%8.0f %6u %5u %5u  %s\n",
	       name, got->quiet.p50, got->quiet.p99, got->quiet.p999,
	       got->quiet.max, got->attacked.p50, got->attacked.p99,
	       got->attacked.p999, got->attacked.max, got->hello_ms,
	       got->term_ms, got->memory_mb, got->files_before,
	       got->files_after, exceeded ? exceeded : "ok");
	fflush(stdout);
	return !exceeded;
}

/*
 * Play one attack, or, without one, that of tcp.c with this number. Return:
 * whether it is within the limits.
 */
static bool attack_play(struct run *run, const struct attack *attack,
			unsigned int number)
{
	char name[16];
	struct result got;
	struct remote_file file;
	uint32_t agent;

	server_start(run);
	server_await(run, &file, &agent);
	got.quiet = innocent(run, &file, agent);
	got.files_before = server_files(run);
	attack_start(run, attack, number);
	got.attacked = innocent(run, &file, agent);
	got.memory_mb = server_memory(run);
	got.files_after = server_files(run);
	got.hello_ms = atomic_load(&shared->hello_failed)
			       ? LOST_MS
			       : (double)atomic_load(&shared->hello_ns) / 1e6;
	got.term_ms = server_end(run);
	attack_end(run);
	ibsa__remote_file_close(&file);
	snprintf(name, sizeof(name), "tcp-%u", number);
	return result_print(run, attack ? attack->name : name, &got);
}

static bool is_wanted(const struct run *run, const struct attack *attack,
		      int count, char **names)
{
	if (run->is_tcp && attack->passes_descriptors)
		return false;
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], attack->name))
			return true;
	return !count && !run->count;
}

/* Return: the number of hosts in a topology file. */
static unsigned int hosts_count(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	unsigned int count = 0;

	if (!file)
		fail(path);
	while (fgets(line, sizeof(line), file))
		count += !strncmp(line, "Ca\t", 3) || !strncmp(line, "Ca ", 3);
	fclose(file);
	return count;
}

static void options_read(struct run *run, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "s:l:m:tn:")) != -1) {
		if (option == 's')
			run->seconds = strtod(optarg, NULL);
		else if (option == 'l')
			run->slack = strtod(optarg, NULL);
		else if (option == 'm')
			run->memory_mb = (unsigned int)strtoul(optarg, NULL,
							       10);
		else if (option == 't')
			run->is_tcp = true;
		else if (option == 'n')
			run->count = (unsigned int)strtoul(optarg, NULL, 10);
		else
			exit(2);
	}
	if (argc - optind < 2) {
		fprintf(stderr, "usage: server-attack [-s SECONDS] [-l SLACK] "
				"[-m MB] [-t] [-n COUNT] IBSA FILE "
				"[ATTACK...]\n");
		exit(2);
	}
	run->command = argv[optind++];
	run->topology = argv[optind++];
}

int main(int argc, char **argv)
{
	struct run run = { .seconds = 5, .slack = 1 };
	bool is_good = true;

	options_read(&run, argc, argv);
	run.nodes = hosts_count(run.topology);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(run.folder, "/tmp/ibsa-attack-XXXXXX");
	if (shared == MAP_FAILED || !mkdtemp(run.folder))
		fail("cannot begin");
	unsetenv("IBSA_FABRIC");
	signal(SIGPIPE, SIG_IGN);
	printf("%-16s %27s  %35s  %8s %8s %6s %11s\n%-16s %6s %6s %6s %6s  %8s "
	       "%8s %8s %8s\n",
	       "", "quiet (ms)", "attacked (ms)", "hello", "SIGTERM", "MB",
	       "descriptors", "", "50", "99", "99.9", "max", "50", "99", "99.9",
	       "max");
	for (int i = 0; i < attack_count; i++)
		if (is_wanted(&run, &attacks[i], argc - optind, argv + optind))
			is_good &= attack_play(&run, &attacks[i], 0);
	for (unsigned int i = 1; i <= run.count; i++)
		is_good &= attack_play(&run, NULL, i);
	unlink(run.token);
	rmdir(run.folder);
	return is_good ? 0 : 1;
}
