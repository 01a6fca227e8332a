/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of the systemd journal, by its native protocol: a datagram of lines
 * "FIELD=value". The protocol is stable and needs no library.
 *
 * Source: systemd, "Native Journal Protocol".
 */
#ifndef COMMAND_JOURNAL_H
#define COMMAND_JOURNAL_H

#include <stddef.h>

enum {
	JOURNAL_ENTRY_BYTES = 4096,
	JOURNAL_WARNING = 4, /* of syslog(3) */
	JOURNAL_NOTICE = 5,
	JOURNAL_INFO = 6,
};

struct journal_entry {
	char text[JOURNAL_ENTRY_BYTES];
	size_t len;
};

/* Open a socket for entries. Return: a file descriptor, or a negative errno. */
int journal_open(void);

/*
 * Add a field to the entry. Line breaks in the value become blanks. If the
 * entry has no room for the field, the field is omitted.
 */
void journal_field(struct journal_entry *entry, const char *name,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Return: 0, or the negative errno of sending the entry. */
int journal_send(int fd, const struct journal_entry *entry);

#endif
