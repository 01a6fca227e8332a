/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shows progress on a terminal while the user waits for an answer. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"

enum { PATIENCE_MS = 1000, STEP_MS = 250 };

/* Whether the progress line is shown; the signal handler reads this. */
static volatile sig_atomic_t shown;

static const char erase[] = "\r\033[K";

/*
 * Erase the progress line, and end the process by the signal: SA_RESETHAND has
 * restored its default action.
 */
static void end_by_signal(int number)
{
	if (shown && write(STDERR_FILENO, erase, sizeof(erase) - 1) < 0)
		shown = 0;
	raise(number);
}

void progress_start(struct progress *progress)
{
	progress->counted_ms = 0;
	progress->start_ms = now_ms();
}

static int64_t passed_ms(const struct progress *progress)
{
	return now_ms() - progress->start_ms;
}

int progress_pause_ms(const struct progress *progress)
{
	const int64_t passed = passed_ms(progress);

	if (passed < PATIENCE_MS)
		return (int)(PATIENCE_MS - passed);
	return isatty(STDERR_FILENO) ? STEP_MS : -1;
}

/*
 * Prepare for a line on the terminal. Return: false: stderr is not a terminal,
 * and no line is printed.
 */
static bool line_begin(void)
{
	struct sigaction action = { .sa_handler = end_by_signal,
				    .sa_flags = SA_RESETHAND };
	struct sigaction old;

	if (!isatty(STDERR_FILENO))
		return false;
	if (!shown && sigaction(SIGINT, NULL, &old) == 0 &&
	    old.sa_handler == SIG_DFL)
		sigaction(SIGINT, &action, NULL);
	shown = 1;
	return true;
}

void progress_show(const struct progress *progress, unsigned long long tries)
{
	if (passed_ms(progress) < PATIENCE_MS || !line_begin())
		return;
	fprintf(stderr, "%swaiting for the SA (try %llu)...", erase, tries);
	fflush(stderr);
}

/*
 * Whether it is time to print a new progress line. If it is, the next line is
 * due STEP_MS later.
 */
static bool takes_turn(struct progress *progress)
{
	const int64_t passed = passed_ms(progress);

	if (passed < PATIENCE_MS || passed < progress->counted_ms + STEP_MS)
		return false;
	progress->counted_ms = passed;
	return line_begin();
}

void progress_count(struct progress *progress, size_t done, size_t total)
{
	if (!takes_turn(progress))
		return;
	fprintf(stderr, "%s%zu of %zu...", erase, done, total);
	fflush(stderr);
}

void progress_text(struct progress *progress, const char *what)
{
	if (!takes_turn(progress))
		return;
	fprintf(stderr, "%s%s (%lld s)...", erase, what,
		(long long)progress->counted_ms / 1000);
	fflush(stderr);
}

void progress_end(void)
{
	if (shown)
		fputs(erase, stderr);
	shown = 0;
}
