/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events as entries of the systemd journal, by its native
 * protocol: a datagram of lines "FIELD=value". The protocol is stable and needs
 * no library.
 *
 * Source: systemd, "Native Journal Protocol".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibsa/text.h>

#include "base/complain.h"
#include "names/journal_line.h"
#include "session/event_text.h"

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

static const struct sockaddr_un address = {
	.sun_family = AF_UNIX,
	.sun_path = "/run/systemd/journal/socket",
};

int journal_open(void)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	/*
	 * Disconnect the socket from the journal, so that entries also reach a
	 * journal that has restarted.
	 */
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) ==
		    0 &&
	    connect(fd, &none, sizeof(none)) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/*
 * Add a field to the entry. Line breaks in the value become blanks. If the
 * entry has no room for the field, the field is omitted.
 */
__attribute__((format(printf, 3, 4))) static void
journal_field(struct journal_entry *entry, const char *name, const char *format,
	      ...)
{
	char *start = entry->text + entry->len;
	const size_t room = sizeof(entry->text) - entry->len;
	int len = snprintf(start, room, "%s=", name);
	va_list args;
	int more;

	if (len < 0 || (size_t)len >= room)
		return;
	va_start(args, format);
	more = vsnprintf(start + len, room - (size_t)len, format, args);
	va_end(args);
	if (more < 0 || (size_t)(len + more) + 1 >= room)
		return;
	for (char *at = start; *at; at++)
		if (*at == '\n')
			*at = ' ';
	start[len + more] = '\n';
	entry->len += (size_t)(len + more) + 1;
}

static int journal_send(int fd, const struct journal_entry *entry)
{
	ssize_t sent = sendto(fd, entry->text, entry->len, MSG_NOSIGNAL,
			      (const struct sockaddr *)&address,
			      sizeof(address));

	return sent < 0 ? -errno : 0;
}

/* MESSAGE_ID and priority of each kind. The ids were chosen at random. */
static const struct message {
	enum ibsa_event_kind kind;
	const char *id;
	int priority;
} messages[] = {
	{ IBSA_EVENT_GID_IN, "b6a99c73c1954366a2466791f5b67e2a", JOURNAL_INFO },
	{ IBSA_EVENT_GID_OUT, "10cd78d8e72f4b4aa0dbb40f3d46a8ee",
	  JOURNAL_NOTICE },
	{ IBSA_EVENT_GROUP_CREATED, "72269e5c60564a20b2086ab95c7458db",
	  JOURNAL_INFO },
	{ IBSA_EVENT_GROUP_DELETED, "f81b4c5360ed461c9bbc4311e773eaf4",
	  JOURNAL_INFO },
	{ IBSA_EVENT_LINK_STATE, "f0aad44426704c9bb67dc3a50bf189a4",
	  JOURNAL_NOTICE },
	{ IBSA_EVENT_LOCAL_CHANGES, "1c05d19b2cec45b8bdd029700968a4ef",
	  JOURNAL_INFO },
	{ IBSA_EVENT_SYSTEM_IMAGE, "6c1aba13aa7848889bc6b9ca9f90e206",
	  JOURNAL_INFO },
	{ IBSA_EVENT_OTHER, "90de1b4ed3d0445cafa1c032e4b2e505", JOURNAL_INFO },
	{ IBSA_EVENT_SUBSCRIBED, "632806686b0d4b3eafc32b38c8e89077",
	  JOURNAL_INFO },
	{ IBSA_EVENT_LOST, "31f92307ed0849f89d0f2d507e4bc8ac",
	  JOURNAL_WARNING },
	{ IBSA_EVENT_FAILED, "7ec7f5130e3c4e9f9b2da97ed57ed849",
	  JOURNAL_WARNING },
	{ IBSA_EVENT_REFUSED, "5a504a0c229f4a62832f501ec971718d",
	  JOURNAL_WARNING },
	{ IBSA_EVENT_GAP, "6c12b3f0b52b41f98275913a120f88a2", JOURNAL_WARNING },
	{ IBSA_EVENT_ENDED, "5c6d348c817541408e21e40f3522034a", JOURNAL_INFO },
};

enum { MESSAGES = sizeof(messages) / sizeof(messages[0]) };

static const struct message *message_find(enum ibsa_event_kind kind)
{
	for (size_t i = 0; i < MESSAGES; i++)
		if (messages[i].kind == kind)
			return &messages[i];
	return NULL;
}

static void number_field(struct journal_entry *entry, const char *name,
			 uint64_t number)
{
	if (number)
		journal_field(entry, name, "%" PRIu64, number);
}

static void text_field(struct journal_entry *entry, const char *name,
		       const char *text)
{
	if (text && *text)
		journal_field(entry, name, "%s", text);
}

static void message_field(struct journal_entry *entry,
			  const struct event_line *line, const char *gid,
			  const char *name)
{
	const struct ibsa_event *event = &line->event;
	const char *reason = event_reason(event);
	char lid[24] = "";
	char change[LINK_CHANGE_TEXT];

	if (line->has_change)
		reason = link_change_text(&line->change, change);

	if (event->lid)
		snprintf(lid, sizeof(lid), " LID %" PRIu32, event->lid);
	journal_field(entry, "MESSAGE", "%s%s%s%s%s%s%s%s",
		      ibsa_event_name(event->kind), *gid ? " " : "", gid, lid,
		      name ? " " : "", name ? name : "", reason ? ": " : "",
		      reason ? reason : "");
}

/*
 * Whether standard output leads to the journal. A program that a service starts
 * inherits JOURNAL_STREAM, but may have another standard output. Source:
 * systemd.exec(5).
 */
bool journal_is_output(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat is;
	char end;

	return stream &&
	       sscanf(stream, "%ju:%ju%c", &device, &inode, &end) == 2 &&
	       fstat(STDOUT_FILENO, &is) == 0 && is.st_dev == device &&
	       is.st_ino == inode;
}

int journal_option_open(int *out)
{
	const int fd = journal_open();

	if (fd < 0)
		return fail_device("--journal: cannot connect to the systemd "
				   "journal: %s",
				   strerror(-fd));
	*out = fd;
	return CLI_DONE;
}

void journal_line(int fd, const struct event_line *line, const char *device,
		  const char *name)
{
	const struct ibsa_event *event = &line->event;
	const struct message *message = message_find(event->kind);
	struct journal_entry entry = { .len = 0 };
	char gid[IBSA_GID_TEXT] = "";
	int err;

	if (*line->left_out)
		complain("%s", line->left_out);
	if (event_has_gid(event))
		ibsa_gid_format(&event->gid, gid, sizeof(gid));
	message_field(&entry, line, gid, name);
	if (message) {
		journal_field(&entry, "MESSAGE_ID", "%s", message->id);
		journal_field(&entry, "PRIORITY", "%d", message->priority);
	}
	journal_field(&entry, "SYSLOG_IDENTIFIER", "ibsa");
	text_field(&entry, "IBSA_EVENT", ibsa_event_name(event->kind));
	journal_field(&entry, "IBSA_SEQUENCE", "%" PRIu64, event->sequence);
	text_field(&entry, "IBSA_GID", gid);
	number_field(&entry, "IBSA_LID", event->lid);
	text_field(&entry, "IBSA_NODE", name);
	text_field(&entry, "IBSA_DEVICE", device);
	number_field(&entry, "IBSA_PORT", event->port_num);
	if (event->kind & IBSA_EVENT_ALL)
		number_field(&entry, "IBSA_TRAP", event->trap);
	number_field(&entry, "IBSA_AUDITED", event->audited);
	if (line->has_change) {
		number_field(&entry, "IBSA_LINK_PORT", line->change.port);
		text_field(&entry, "IBSA_LINK_BEFORE", line->change.before);
		text_field(&entry, "IBSA_LINK_AFTER", line->change.after);
	}
	text_field(&entry, "IBSA_REASON", event_reason(event));
	if (event->status)
		journal_field(&entry, "IBSA_STATUS", "0x%04x", event->status);
	err = journal_send(fd, &entry);
	if (err)
		complain("cannot write an event to the journal: %s",
			 strerror(-err));
}
