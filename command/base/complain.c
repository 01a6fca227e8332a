/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints messages on stderr. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/complain.h"
#include "common/clean.h"

enum { SENTENCE_BYTES = 16384 /* for two paths */ };

/*
 * Format a message. Newlines and terminal codes are removed, because text from
 * outside may contain them.
 */
static size_t sentence(char out[SENTENCE_BYTES], const char *text)
{
	size_t len = (size_t)sprintf(out, "ibsa: ");

	len += ibsa__text_clean(&text, out + len, SENTENCE_BYTES - len - 1);
	out[len++] = '\n';
	return len;
}

/* The first message of this process, without a line end. */
static char first_complaint[SENTENCE_BYTES];
static bool complaints_are_muted;

void complaints_mute(bool is_muted)
{
	complaints_are_muted = is_muted;
}

const char *complaint_first(void)
{
	return first_complaint;
}

/*
 * Print a message as a line on stderr. The line is written in one call, because
 * other processes may write to the same terminal.
 */
static void complain_list(const char *format, va_list args)
{
	char text[SENTENCE_BYTES];
	char line[SENTENCE_BYTES];

	vsnprintf(text, sizeof(text), format, args);
	if (!*first_complaint)
		strcpy(first_complaint, text);
	if (!complaints_are_muted)
		fwrite(line, 1, sentence(line, text), stderr);
}

/* A function that prints a message, and returns a status if it has a type. */
#define MESSAGE(type, name, status)          \
	type name(const char *format, ...)   \
	{                                    \
		va_list args;                \
                                             \
		va_start(args, format);      \
		complain_list(format, args); \
		va_end(args);                \
		return status;               \
	}
MESSAGE(void, complain, )
MESSAGE(int, fail_no, CLI_NO)
MESSAGE(int, fail_usage, CLI_USAGE)
MESSAGE(int, fail_silent, CLI_SILENT)
MESSAGE(int, fail_device, CLI_DEVICE)

int no_memory(void)
{
	return fail_device("out of memory");
}
