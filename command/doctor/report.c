/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa doctor --report: what the SA answers at a port, and the files of the
 * devices, in an archive from which a fabric can be loaded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <ibsa/text.h>

#include "base/clock.h"
#include "base/file_write.h"
#include "common/tar.h"
#include "doctor/device_files.h"
#include "doctor/private.h"
#include "doctor/query.h"
#include "doctor/report.h"
#include "output/fields.h"
#include "session/query_wait.h"
#include "session/record.h"
#include "session/scope.h"

enum {
	PAUSE_MS = 100, /* after each answer, for the load on the SA */
	HOSTS = 5,	/* with a query for the path to each */
	PKEYS = 4,	/* with a query for the paths of each */
	SILENT_MAX = 2, /* queries without a reply, before the rest is left */
};

struct report {
	struct doctor *doctor;
	struct cli *cli;
	struct private private;
	struct ibsa_port_state port;
	struct memory_text mads, text, files, all;
	struct record *record;
	uint64_t hosts[HOSTS]; /* port GUIDs of adapters in the NodeRecords */
	size_t host_count;
	/* A PortInfoRecord differs if the request is for extended speeds. */
	bool has_extended_speeds;
	size_t query_count;
	unsigned int silent; /* last queries that got no reply */
	size_t file_count;
	bool has_failed; /* a part of the archive could not be made */
};

/* Add a MAD to the capture, without its keys. */
static void mad_add(const struct ibsa_mad *mad, void *arg)
{
	struct report *report = arg;
	struct ibsa_mad edited = *mad;
	uint8_t *bytes = malloc(mad->len ? mad->len : 1);

	if (!bytes) {
		report->has_failed = true;
		return;
	}
	memcpy(bytes, mad->bytes, mad->len);
	edited.bytes = bytes;
	private_gid(&report->private, &edited.peer.gid);
	if (private_mad(&report->private, bytes, mad->len))
		record_mad(&edited, report->record);
	free(bytes);
}

/* Write how a query ended into the text of the report. */
static void answer_note(struct report *report, const struct ibsa_query *query,
			const struct answer *answer)
{
	report->query_count++;
	fprintf(report->text.file,
		"%-30s %-8s %016" PRIx64 "  %10.3f ms  %u %-5s  %7zu records  "
		"%s\n",
		query->record->name,
		ibsa_method_name(query->method ? query->method
					       : IBSA_METHOD_GET),
		query->mask, (double)answer->rtt_ns / 1e6, answer->tries,
		answer->tries == 1 ? "try" : "tries", answer->count,
		answer->err ? strerror(-answer->err)
			    : ibsa_status_text(answer->status));
}

/* Receive for PAUSE_MS, and drop what arrives. */
static void report_pause(const struct report *report)
{
	const int64_t until = now_ms() + PAUSE_MS;
	int64_t left = PAUSE_MS;

	while (left > 0 && !doctor_is_interrupted(report->doctor) &&
	       !ibsa_wait(report->cli->client, (int)left))
		left = until - now_ms();
}

/*
 * Send one query, wait for its reply, and pause. @use is called with the reply;
 * it may be NULL.
 */
static void report_query(struct report *report, const struct ibsa_query *query,
			 ibsa_reply_fn use)
{
	struct ibsa_client *client = report->cli->client;
	struct answer answer;

	if (doctor_is_interrupted(report->doctor) ||
	    report->silent == SILENT_MAX)
		return;
	answer = doctor_query(report->doctor, client, query, use, report);
	answer_note(report, query, &answer);
	report->silent = answer.err ? report->silent + 1 : 0;
	if (report->silent == SILENT_MAX)
		fprintf(report->text.file, "no more queries were sent\n");
	report_pause(report);
}

/* Choose hosts that are far apart in the table of nodes. */
static void hosts_choose(const struct ibsa_reply *reply, void *arg)
{
	struct report *report = arg;
	size_t adapters = 0, seen = 0;
	struct ibsa_node node;

	for (size_t i = 0; i < reply->count; i++)
		adapters += ibsa_reply_decode(reply, i, &node, sizeof(node)) ==
				    0 &&
			    node.node_type == IBSA_NODE_CA;
	for (size_t i = 0; i < reply->count && report->host_count < HOSTS; i++)
		if (ibsa_reply_decode(reply, i, &node, sizeof(node)) == 0 &&
		    node.node_type == IBSA_NODE_CA &&
		    seen++ * HOSTS >= report->host_count * adapters)
			report->hosts[report->host_count++] = node.port_guid;
}

/*
 * As ibsa_topology_read(), for extended speeds. Without one, the records are the
 * same, and a fabric that is loaded from the report has them, too.
 */
static void speeds_query(struct report *report)
{
	const struct ibsa_port_info speeds = { .options = 0x80 };
	const struct ibsa_query ports = {
		.record = &ibsa_port_info_record,
		.match = &speeds,
		.mask = IBSA_PORT_INFO_CM(options),
		.method = IBSA_METHOD_GET_TABLE,
	};

	if (report->has_extended_speeds)
		report_query(report, &ports, NULL);
}

static void speeds_note(const struct ibsa_reply *reply, void *arg)
{
	struct report *report = arg;
	struct ibsa_port_info port;

	for (size_t i = 0; i < reply->count; i++)
		if (ibsa_reply_decode(reply, i, &port, sizeof(port)) == 0 &&
		    port.link_speed_ext_active)
			report->has_extended_speeds = true;
}

static ibsa_reply_fn table_use(const struct ibsa_record *record)
{
	if (record == &ibsa_node_record)
		return hosts_choose;
	return record == &ibsa_port_info_record ? speeds_note : NULL;
}

/* Ask for each table of the SA. */
static void tables_query(struct report *report)
{
	static const struct ibsa_record *const tables[] = {
		&ibsa_node_record,	  &ibsa_port_info_record,
		&ibsa_switch_info_record, &ibsa_link_record,
		&ibsa_sm_info_record,	  &ibsa_guid_info_record,
		&ibsa_pkey_table_record,  &ibsa_mcmember_record,
		&ibsa_service_record,	  &ibsa_inform_info_rec_record,
		&ibsa_lft_record,	  &ibsa_mft_record,
		&ibsa_sl_to_vl_record,	  &ibsa_vl_arbitration_record,
	};
	const struct ibsa_query info = { .record =
						 &ibsa_class_port_info_record };

	report_query(report, &info, NULL);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct ibsa_query query = {
			.record = tables[i],
			.method = IBSA_METHOD_GET_TABLE,
		};

		report_query(report, &query, table_use(tables[i]));
	}
	speeds_query(report);
}

/*
 * Query the paths from this port to all others; only those in the partition
 * @pkey if it is not 0.
 */
static void paths_query(struct report *report, uint16_t pkey)
{
	const struct ibsa_path match = {
		.sgid = report->port.gid,
		.pkey = pkey,
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(reversible) |
			IBSA_PATH_CM(numb_path) |
			(pkey ? IBSA_PATH_CM(pkey) : 0),
		.method = IBSA_METHOD_GET_TABLE,
	};

	report_query(report, &query, NULL);
}

static void path_query(struct report *report, uint64_t guid)
{
	const struct ibsa_path match = {
		.sgid = report->port.gid,
		.dgid = fields_guid_gid(&report->port.gid, guid),
		.reversible = 1,
		.numb_path = 1,
	};
	const struct ibsa_query query = {
		.record = &ibsa_path_record,
		.match = &match,
		.mask = IBSA_PATH_CM(sgid) | IBSA_PATH_CM(dgid) |
			IBSA_PATH_CM(reversible) | IBSA_PATH_CM(numb_path),
	};

	report_query(report, &query, NULL);
}

/*
 * Query the paths in each partition of this port. If there is only one partition,
 * its paths are those that the SA returns without a P_Key.
 */
static void partitions_query(struct report *report)
{
	uint16_t pkeys[PKEYS];
	size_t count = 0;

	for (uint32_t i = 0; i < PKEYS; i++)
		if (ibsa_pkey_get(report->cli->client, i, &pkeys[count]) == 0 &&
		    pkeys[count])
			count++;
	for (size_t i = 0; count > 1 && i < count; i++)
		paths_query(report, pkeys[i]);
}

static void all_query(struct report *report)
{
	tables_query(report);
	paths_query(report, 0);
	partitions_query(report);
	for (size_t i = 0; i < report->host_count; i++)
		path_query(report, report->hosts[i]);
}

/* Ask the SA, and record what it answers. */
static int mads_make(struct report *report)
{
	struct ibsa_client *client = report->cli->client;
	struct ibsa_port_state edited;
	uint16_t pkey = IBSA_PKEY_DEFAULT;
	const int err = ibsa_port_get(client, false, &report->port);

	if (err)
		return fail_device("cannot read the port: %s", strerror(-err));
	edited = report->port;
	private_gid(&report->private, &edited.gid);
	(void)!ibsa_pkey_get(client, edited.pkey_index, &pkey);
	report->record = record_to(report->mads.file, &edited, pkey);
	if (!report->record)
		return no_memory();
	ibsa_tap(client, mad_add, report);
	all_query(report);
	ibsa_tap(client, NULL, NULL);
	record_to_end(report->record);
	return CLI_DONE;
}

static void versions_write(struct report *report)
{
	const time_t now = time(NULL);
	struct utsname system;
	struct tm utc;
	char text[32] = "";

	if (gmtime_r(&now, &utc))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	fprintf(report->text.file, "report of ibsa doctor %s, %s%s\n",
		ibsa_version(), text,
		report->private.is_anonymous ? ", anonymous" : "");
	if (uname(&system) == 0)
		fprintf(report->text.file, "%s %s %s\n\n", system.sysname,
			system.release, system.machine);
}

/* Append a member to an archive. */
static void member_add(struct report *report, struct memory_text *archive,
		       const char *name, const char *bytes, size_t len)
{
	static const char zeros[TAR_BLOCK_BYTES];
	uint8_t header[TAR_BLOCK_BYTES];

	if (!ibsa__tar_put(name, len, (uint64_t)time(NULL), header)) {
		complain("--report: '%s' is left out: its name is too long",
			 name);
		return;
	}
	report->file_count++;
	fwrite(header, sizeof(header), 1, archive->file);
	fwrite(bytes, 1, len, archive->file);
	fwrite(zeros, 1, -len % TAR_BLOCK_BYTES, archive->file);
}

static void device_file_add(const char *path, const char *text, size_t len,
			    void *arg)
{
	struct report *report = arg;
	char name[4096];

	snprintf(name, sizeof(name), "sys/%s", path);
	member_add(report, &report->files, name, text, len);
}

/* Complete the texts of the parts. Return: the exit status. */
static int parts_close(struct report *report)
{
	struct memory_text *const parts[] = { &report->mads, &report->text,
					      &report->files };
	int status = CLI_DONE;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const int closed = parts[i]->file ? memory_text_close(parts[i])
						  : CLI_DEVICE;

		status = status == CLI_DONE ? closed : status;
	}
	if (status == CLI_DONE &&
	    (report->has_failed || report->private.out_of_memory))
		status = no_memory();
	return status;
}

static int archive_make(struct report *report)
{
	static const char zeros[2 * TAR_BLOCK_BYTES];
	const size_t device_files = report->file_count;
	int status = memory_text_open(&report->all);

	if (status != CLI_DONE)
		return status;
	member_add(report, &report->all, "report.txt", report->text.text,
		   report->text.len);
	member_add(report, &report->all, TAR_MADS, report->mads.text,
		   report->mads.len);
	report->file_count = device_files;
	fwrite(report->files.text, 1, report->files.len, report->all.file);
	fwrite(zeros, sizeof(zeros), 1, report->all.file);
	return memory_text_close(&report->all);
}

static void contents_show(const struct report *report)
{
	complain("the report has %.1f kB: report.txt (versions, and the time "
		 "of each answer), " TAR_MADS " (%zu queries and their "
		 "replies), sys/ (%zu device files)",
		 (double)report->all.len / 1e3, report->query_count,
		 report->file_count);
	complain(
		"keys and the data of services in it are zero; GUIDs, GIDs "
		"and names %s",
		report->private.is_anonymous
			? "are replaced"
			: "are those of the fabric: --anonymous replaces them");
}

/* Ask on a terminal whether to write the file. */
static bool is_confirmed(const char *path)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return true;
	fprintf(stderr, "Write it to %s? [y/N] ", path);
	fflush(stderr);
	return fgets(line, sizeof(line), stdin) &&
	       (*line == 'y' || *line == 'Y');
}

static int archive_write(const struct report *report)
{
	const char *path = doctor_own(report->cli)->report;

	contents_show(report);
	if (!is_confirmed(path)) {
		complain("--report: nothing is written");
		return CLI_NO;
	}
	return file_write(path, report->all.text, report->all.len);
}

/* Open a client at the port of the report. Return: the exit status. */
static int port_open(struct cli *cli, const struct scope *scope)
{
	if (scope->device)
		cli->open.device = scope->device;
	if (scope->port)
		cli->open.port = scope->port;
	return client_open(cli);
}

/*
 * Make the parts of the report. If no port can be opened, or the SA does not
 * answer, the report contains the error.
 */
static int parts_make(struct report *report, const struct scope *scope)
{
	struct cli *cli = report->cli;
	int status = memory_text_open(&report->mads);

	if (status == CLI_DONE)
		status = memory_text_open(&report->text);
	if (status == CLI_DONE)
		status = memory_text_open(&report->files);
	if (status != CLI_DONE)
		return status;
	versions_write(report);
	if (port_open(cli, scope) == CLI_DONE)
		status = mads_make(report);
	else
		record_to_end(record_to(report->mads.file, &report->port, 0));
	if (!fabric_file(cli) && !secure_getenv("IBSA_FABRIC"))
		device_files_each(&report->private, device_file_add, report);
	return status;
}

/* Check that the file can be written, before the SA is queried. */
static int path_check(const char *path)
{
	const char *slash = strrchr(path, '/');
	const size_t len = slash ? (size_t)(slash - path) : 0;
	char folder[4096];
	struct stat is;

	if (stat(path, &is) == 0)
		return S_ISDIR(is.st_mode)
			       ? fail_device("--report: '%s' is a directory; "
					     "name a file in it",
					     path)
			       : CLI_DONE;
	snprintf(folder, sizeof(folder), "%.*s", len ? (int)len : 1,
		 slash ? path : ".");
	return access(folder, W_OK) == 0
		       ? CLI_DONE
		       : fail_device("--report: cannot write '%s': %s", path,
				     strerror(errno));
}

int report_check(const struct cli *cli, const struct scope *scope)
{
	if (!doctor_own(cli)->report)
		return doctor_own(cli)->anonymous
			       ? fail_usage("--anonymous changes a report: "
					    "give --report FILE, too")
			       : CLI_DONE;
	if (strcmp(doctor_own(cli)->report, "-") == 0)
		return fail_usage("--report: '-' cannot be used, because the "
				  "checks are written to standard output; name "
				  "a file");
	if (cli->record.path)
		return fail_usage("--report contains a capture; remove "
				  "--record");
	if (scope->device && scope_is_set(scope->device))
		return fail_usage("--report is about one port, and '%s' may "
				  "stand for several; name one device",
				  scope->device);
	return path_check(doctor_own(cli)->report);
}

int report_write(struct doctor *doctor, const struct scope *scope)
{
	struct report report = {
		.doctor = doctor,
		.cli = doctor->cli,
		.private = { .is_anonymous =
				     doctor_own(doctor->cli)->anonymous },
	};
	int status = parts_make(&report, scope);
	const int closed = parts_close(&report);

	if (status == CLI_DONE)
		status = closed;
	if (status == CLI_DONE && doctor_is_interrupted(doctor))
		status = fail_silent("--report: nothing is written");
	if (status == CLI_DONE && !report.query_count && !report.file_count)
		status = fail_device("--report: nothing is written: no port "
				     "can be opened, and there are no device "
				     "files");
	if (status == CLI_DONE)
		status = archive_make(&report);
	if (status == CLI_DONE)
		status = archive_write(&report);
	free(report.all.text);
	free(report.mads.text);
	free(report.text.text);
	free(report.files.text);
	private_free(&report.private);
	return status;
}
