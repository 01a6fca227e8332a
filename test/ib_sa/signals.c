/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signals in the thread of callbacks: it receives those of its own faults and
 * no others.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test/ib_sa/rig.h"

static const int faults[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP
};

enum { FAULTS = sizeof(faults) / sizeof(faults[0]), LAST_SIGNAL = 64 };

/*
 * A page that is unreadable until the fault's handler has run, as garbage
 * collectors use them.
 */
static volatile char *page;
static volatile sig_atomic_t handled;

static size_t page_len(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void open_page(int number)
{
	(void)number;
	handled++;
	if (mprotect((void *)(uintptr_t)page, page_len(), PROT_READ))
		_exit(3);
}

/* The signal state in the callback. */
struct seen {
	sigset_t blocked;
	char byte;
	atomic_bool done;
};

static void note_mask(int status, struct sa_path_rec *resp, void *context)
{
	struct seen *seen = context;

	(void)status;
	(void)resp;
	pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
	atomic_store(&seen->done, true);
}

static void read_page(int status, struct sa_path_rec *resp, void *context)
{
	struct seen *seen = context;

	(void)status;
	(void)resp;
	seen->byte = *page;
	atomic_store(&seen->done, true);
}

/* Let a worker call @callback. */
static void call_back(void (*callback)(int, struct sa_path_rec *, void *),
		      struct seen *seen)
{
	struct ibsa_fabric *fabric = rig_fabric(false);
	struct ib_device *device = rig_open(fabric, "node1", false);
	struct ib_sa_client client;
	struct ib_sa_query *query;

	atomic_init(&seen->done, false);
	ib_sa_register_client(&client);
	assert_true(rig_query_on(&client, device, 1, 2, RIG_TIMEOUT_MS,
				 callback, seen, &query) >= 0);
	while (!atomic_load(&seen->done))
		sched_yield();
	ib_sa_unregister_client(&client);
	ibsa_ib_device_put(device);
	ibsa_fabric_put(fabric);
}

static bool is_fault(int number)
{
	for (int i = 0; i < FAULTS; i++) {
		if (faults[i] == number)
			return true;
	}
	return false;
}

/*
 * Signals that cannot be blocked, or that the C library reserves, are not
 * tested.
 */
static bool is_blockable(int number)
{
	sigset_t all;

	sigfillset(&all);
	return number != SIGKILL && number != SIGSTOP &&
	       sigismember(&all, number) == 1;
}

static void worker_blocks_all_but_faults(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	call_back(note_mask, &seen);
	for (int number = 1; number <= LAST_SIGNAL; number++) {
		const bool is_blocked = sigismember(&seen.blocked, number) == 1;

		if (is_blockable(number) && is_blocked == is_fault(number))
			fail_msg("signal %d: %d", number, is_blocked);
	}
}

static void fault_in_a_callback_has_its_handler_called(void **state)
{
	struct sigaction action = { .sa_handler = open_page };
	struct sigaction before;
	struct seen seen = { .byte = 1 };

	(void)state;
	page = mmap(NULL, page_len(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	assert_true((void *)(uintptr_t)page != MAP_FAILED);
	assert_int_equal(sigaction(SIGSEGV, &action, &before), 0);
	call_back(read_page, &seen);
	assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
	assert_int_equal(handled, 1);
	assert_int_equal(seen.byte, 0);
	assert_int_equal(munmap((void *)(uintptr_t)page, page_len()), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worker_blocks_all_but_faults),
		cmocka_unit_test(fault_in_a_callback_has_its_handler_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
