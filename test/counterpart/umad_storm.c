/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * usage: umad-storm [-s] SEED ROUNDS socket
 *        umad-storm [-s] SEED ROUNDS DEVICE LID|GID
 *
 * Four threads make every call of libibumad at random. In each round a thread
 * is cancelled and replaced, or interrupted by a signal whose handler makes
 * calls too, or the process is forked and the child makes calls. Prints
 * how many descriptors and bytes are left in use when all threads have ended.
 * Exit status 1: something did not end.
 *
 * -s: calls that read devices are sheltered from cancellation: Debian 12's
 * libibumad loses descriptors and memory, and would run out of them.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_str.h>

#include "../support/descriptors.h"
#include "umad_port.h"

enum {
	THREADS = 4,
	NAMES = 16,
	GUIDS = 64,
	/* longest pause, in reads of a flag, between two rounds */
	PAUSES = 20000,
	CHILD_CALLS = 10,
	CHILD_S = 20,
	LIMIT_S = 60, /* time limit of the run, in seconds; the number of rounds
		       * divided by 100 is added */
	VENDOR_OUI = 0x33,
};

static struct port port;
static unsigned int seed;
static int rounds;
static bool shelters;
static atomic_bool is_over;

static void names_read(unsigned int *state)
{
	char names[NAMES][UMAD_CA_NAME_LEN];
	struct umad_device_node *head;

	umad_get_cas_names(names, NAMES);
	head = umad_get_ca_device_list();
	umad_sort_ca_device_list(&head, 0);
	umad_free_ca_device_list(head);
	(void)state;
}

static void devices_read(unsigned int *state)
{
	const char *name = rand_r(state) % 2 ? NULL : "no_such_ca";
	const int number = rand_r(state) % 3;
	__be64 guids[GUIDS];
	umad_port_t one;
	umad_ca_t ca;
	char path[64];

	memset(&ca, 0xee, sizeof(ca));
	memset(&one, 0xee, sizeof(one));
	if (!umad_get_ca(name, &ca))
		umad_release_ca(&ca);
	if (!umad_get_port(name, number, &one))
		umad_release_port(&one);
	umad_get_ca_portguids(name, guids, GUIDS);
	umad_get_issm_path(name, number, path, sizeof(path));
}

/*
 * The cleanup handler of a cancelled thread closes the files that the thread
 * has open.
 */
static void portid_close(void *arg)
{
	const volatile int *portid = arg;
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (*portid >= 0)
		umad_close_port(*portid);
	pthread_setcancelstate(cancel_state, NULL);
}

static void port_reopen(unsigned int *state)
{
	volatile int portid = -1;

	(void)state;
	pthread_cleanup_push(portid_close, (void *)&portid);
	portid = umad_open_port(port.device, 1);
	if (portid >= 0) {
		umad_poll(portid, 0);
		umad_get_fd(portid);
	}
	pthread_cleanup_pop(1);
}

static void agents_register(unsigned int *state)
{
	uint8_t oui[3] = { 0, 0x14, 5 };
	struct umad_reg_attr attr = {
		.mgmt_class = PORT_CLASS,
		.mgmt_class_version = 1,
		.oui = rand_r(state),
	};
	uint32_t agent;
	int number;

	port_agent(&port);
	if (!umad_register2(port.portid, &attr, &agent))
		umad_unregister(port.portid, (int)agent);
	number = umad_register_oui(port.portid, VENDOR_OUI, 0, oui, NULL);
	if (number >= 0)
		umad_unregister(port.portid, number);
}

static void packets_send(unsigned int *state)
{
	port_send(&port);
	if (rand_r(state) % 2)
		port_recv(&port, 1);
	umad_poll(port.portid, rand_r(state) % 2);
	port_recv(&port, 0);
}

/*
 * Print a packet to standard error. Cancellation is disabled meanwhile, because
 * a thread that is cancelled would keep the lock of stderr.
 */
static void packet_dump(union port_packet *packet)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	umad_dump(packet);
	umad_addr_dump(umad_get_mad_addr(packet));
	pthread_setcancelstate(cancel_state, NULL);
}

static void packet_fill(unsigned int *state)
{
	union port_packet packet = { .head.agent_id = 0 };
	ib_mad_addr_t from = { .hop_limit = 1 };

	umad_set_addr(&packet, 1, 1, 0, 1);
	umad_set_addr_net(&packet, 1, 1, 0, 1);
	umad_set_grh(&packet, &from);
	umad_set_pkey(&packet, rand_r(state) & 0x7fff);
	(void)umad_get_pkey(&packet);
	(void)umad_status(&packet);
	(void)umad_get_mad(&packet);
	packet_dump(&packet);
	(void)umad_class_str((uint8_t)rand_r(state));
	(void)umad_method_str(3, (uint8_t)rand_r(state));
	(void)umad_attribute_str(3, (uint16_t)rand_r(state));
	(void)umad_common_mad_status_str((uint16_t)rand_r(state));
	(void)umad_sa_mad_status_str((uint16_t)rand_r(state));
	umad_debug(-1);
	umad_init();
	umad_done();
}

static void device_call(unsigned int *state)
{
	static void (*const calls[])(unsigned int *state) = {
		names_read,
		devices_read,
		port_reopen,
	};
	int cancel_state;

	if (shelters)
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	calls[rand_r(state) % 3](state);
	if (shelters)
		pthread_setcancelstate(cancel_state, NULL);
}

static void any_call(unsigned int *state)
{
	switch (rand_r(state) % 8) {
	case 0:
		packet_fill(state);
		break;
	case 1:
		agents_register(state);
		break;
	case 2:
	case 3:
		device_call(state);
		break;
	default:
		packets_send(state);
	}
}

static void *worker_run(void *arg)
{
	unsigned int state = (unsigned int)(uintptr_t)arg;

	while (!atomic_load(&is_over)) {
		any_call(&state);
		pthread_testcancel();
	}
	return NULL;
}

/*
 * Signal handler: it makes only calls for which neither library allocates
 * memory. It disables cancellation, which would end the thread inside the
 * interrupted function, such as free().
 */
static void handler(int number)
{
	const int saved = errno;
	int cancel_state;

	(void)number;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	port_send(&port);
	umad_poll(port.portid, 0);
	port_recv(&port, 0);
	port_agent(&port);
	pthread_setcancelstate(cancel_state, NULL);
	errno = saved;
}

static bool child_run(unsigned int state)
{
	const pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < CHILD_CALLS; i++)
			any_call(&state);
		_exit(0);
	}
	return child_wait(pid, CHILD_S) == 0;
}

static void worker_start(pthread_t *worker, unsigned int *state)
{
	pthread_create(worker, NULL, worker_run,
		       (void *)(uintptr_t)rand_r(state));
}

static bool one_round(pthread_t *workers, unsigned int *state)
{
	pthread_t *worker = &workers[rand_r(state) % THREADS];

	for (int reads = rand_r(state) % PAUSES; reads; reads--)
		atomic_load(&is_over);
	switch (rand_r(state) % 4) {
	case 0:
		pthread_cancel(*worker);
		pthread_join(*worker, NULL);
		worker_start(worker, state);
		return true;
	case 1:
		return child_run((unsigned int)rand_r(state));
	default:
		pthread_kill(*worker, SIGUSR1);
		return true;
	}
}

static void workers_run(unsigned int *state, int count, int *out_lost)
{
	pthread_t workers[THREADS];

	atomic_store(&is_over, false);
	for (int i = 0; i < THREADS; i++)
		worker_start(&workers[i], state);
	for (int i = 0; i < count; i++)
		*out_lost += !one_round(workers, state);
	atomic_store(&is_over, true);
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i], NULL);
	port_drain(&port);
}

static int storm(void *arg)
{
	const struct sigaction action = { .sa_handler = handler,
					  .sa_flags = SA_RESTART };
	unsigned int state = seed;
	unsigned int descriptors_before;
	size_t bytes_before;
	int lost = 0;

	(void)arg;
	sigaction(SIGUSR1, &action, NULL);
	/*
	 * The first run lets libraries such as stdio allocate what they
	 * allocate only once.
	 */
	workers_run(&state, THREADS, &lost);
	descriptors_before = descriptors_count();
	bytes_before = mallinfo2().uordblks;
	workers_run(&state, rounds, &lost);
	printf("seed %u, %d rounds: %d children lost, %d descriptors and %ld "
	       "bytes left\n",
	       seed, rounds, lost,
	       (int)(descriptors_count() - descriptors_before),
	       (long)(mallinfo2().uordblks - bytes_before));
	return lost != 0;
}

int main(int argc, char **argv)
{
	int status;

	if (argc > 1 && !strcmp(argv[1], "-s")) {
		shelters = true;
		argv++;
		argc--;
	}
	if (argc < 4)
		return 2;
	seed = (unsigned int)strtoul(argv[1], NULL, 0);
	rounds = atoi(argv[2]);
	/* Discard what the calls print. */
	if (!freopen("/dev/null", "w", stderr))
		return 2;
	port_open(&port, argv[3], argc > 4 ? argv[4] : "");
	status = run_limited(storm, NULL, LIMIT_S + rounds / 100);
	if (status)
		printf("seed %u: status %d\n", seed, status);
	return status != 0;
}
