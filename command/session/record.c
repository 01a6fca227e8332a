/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the packets of a fabric to a pcap file of ERF records; type 21 is an
 * InfiniBand packet. Wireshark 4.0 does not support pcap's own link type for
 * InfiniBand, 247.
 *
 * Source: Endace, ERF Types Reference Guide (header, types).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibsa/types.h>

#include "session/pcap_load.h"
#include "session/record.h"
#include "session/scope.h"

enum {
	ERF_BYTES = 16,
	ERF_TYPE_INFINIBAND = 21,
	ERF_VARYING_LENGTH = 4,
	PACKET_BYTES_MAX = 512,
};

#define NS_PER_S UINT64_C(1000000000)
#define COUNTED_NS UINT64_C(1000000) /* between two packets */

struct record {
	struct ibsa_fabric *fabric;
	struct libpcap libpcap;
	pcap_t *pcap;
	pcap_dumper_t *file;
	const char *path;
	uint64_t epoch_ns; /* the fabric's time 0, in ns since 1970 */
	bool is_counted;
	uint64_t count; /* packets so far */
};

/*
 * Write a time as seconds and a binary fraction, in little-endian byte order.
 */
static void put_erf_time(uint8_t *out, uint64_t time_ns)
{
	const uint64_t fraction = ((time_ns % NS_PER_S) << 32) / NS_PER_S;
	const uint64_t stamp = time_ns / NS_PER_S << 32 | fraction;

	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(stamp >> 8 * i);
}

static uint64_t time_of(struct record *record, const struct ibsa_packet *packet)
{
	record->count++;
	if (record->is_counted)
		return record->count * COUNTED_NS;
	return packet->time_ns + record->epoch_ns;
}

static void packet_write(const struct ibsa_packet *packet, void *arg)
{
	struct record *record = arg;
	const struct libpcap *pcap = &record->libpcap;
	const uint64_t time_ns = time_of(record, packet);
	const struct pcap_pkthdr header = {
		.ts.tv_sec = (time_t)(time_ns / NS_PER_S),
		.ts.tv_usec = (suseconds_t)(time_ns % NS_PER_S),
		.caplen = (bpf_u_int32)(ERF_BYTES + packet->len),
		.len = (bpf_u_int32)(ERF_BYTES + packet->len),
	};
	uint8_t bytes[ERF_BYTES + PACKET_BYTES_MAX] = { 0 };

	if (packet->len > PACKET_BYTES_MAX)
		return;
	put_erf_time(bytes, time_ns);
	bytes[8] = ERF_TYPE_INFINIBAND;
	bytes[9] = ERF_VARYING_LENGTH;
	ibsa_put_be16(bytes + 10, (uint16_t)header.len);
	ibsa_put_be16(bytes + 14, (uint16_t)packet->len);
	memcpy(bytes + ERF_BYTES, packet->bytes, packet->len);
	pcap->pcap_dump((u_char *)record->file, &header, bytes);
	/*
	 * Flush the file after each packet, so that another program that reads
	 * it finds whole packets.
	 */
	pcap->pcap_dump_flush(record->file);
}

/*
 * Return: the time of day in ns at which CLOCK_MONOTONIC, the real clock of a
 * fabric, was 0.
 */
static uint64_t epoch_of_real_clock(void)
{
	struct timespec real;
	struct timespec monotonic;

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	return (uint64_t)(real.tv_sec - monotonic.tv_sec) * NS_PER_S +
	       (uint64_t)real.tv_nsec - (uint64_t)monotonic.tv_nsec;
}

static void free_record(struct record *record)
{
	if (record->file)
		record->libpcap.pcap_dump_close(record->file);
	if (record->pcap)
		record->libpcap.pcap_close(record->pcap);
	if (record->libpcap.library)
		dlclose(record->libpcap.library);
	free(record);
}

static int open_file(struct record *record)
{
	const struct libpcap *pcap = &record->libpcap;

	if (libpcap_load(&record->libpcap) < 0)
		return fail_device(
			"--record: cannot load libpcap: %s; install the "
			"package libpcap0.8 (Debian) or libpcap (Enterprise "
			"Linux)",
			dlerror());
	record->pcap = pcap->pcap_open_dead_with_tstamp_precision(
		DLT_ERF, ERF_BYTES + PACKET_BYTES_MAX,
		PCAP_TSTAMP_PRECISION_NANO);
	if (!record->pcap)
		return no_memory();
	record->file = pcap->pcap_dump_open(record->pcap, record->path);
	if (record->file) {
		/* Child processes must not inherit the descriptor. */
		(void)fcntl(fileno(pcap->pcap_dump_file(record->file)), F_SETFD,
			    FD_CLOEXEC);
		return CLI_DONE;
	}
	return fail_device("--record: cannot write: %s",
			   pcap->pcap_geterr(record->pcap));
}

static int tap(struct record *record)
{
	const int err = ibsa_fabric_tap(record->fabric, packet_write, record);

	if (err == 0)
		return CLI_DONE;
	if (err == -EOPNOTSUPP)
		return fail_usage("--record: cannot write the packets of an "
				  "Omni-Path fabric");
	return fail_device("--record: cannot record the fabric's packets: %s",
			   strerror(-err));
}

int record_start(const char *path, struct ibsa_fabric *fabric, bool is_counted,
		 struct record **out)
{
	struct record *record;
	int status;

	/* libpcap would write "-" to standard output. */
	if (strcmp(path, "-") == 0)
		return fail_usage("--record: '-' cannot be used, because the "
				  "answer is written to standard output; name "
				  "a file");
	record = calloc(1, sizeof(*record));
	if (!record)
		return no_memory();
	record->path = path;
	record->fabric = fabric;
	record->is_counted = is_counted;
	record->epoch_ns = epoch_of_real_clock();
	status = open_file(record);
	if (status == CLI_DONE)
		status = tap(record);
	if (status == CLI_DONE)
		*out = record;
	else
		free_record(record);
	return status;
}

int record_end(struct record *record)
{
	int status = CLI_DONE;

	if (!record)
		return CLI_DONE;
	(void)!ibsa_fabric_tap(record->fabric, NULL, NULL);
	if (ferror(record->libpcap.pcap_dump_file(record->file))) {
		complain("--record: cannot write all packets to '%s': a write "
			 "failed; check the free space",
			 record->path);
		status = CLI_DEVICE;
	}
	free_record(record);
	return status;
}

/*
 * Make IBSA_NODE the default of --device. ibsa_open() does so only for a fabric
 * that it loads itself.
 */
static int node_choose(struct cli *cli)
{
	const char *node = secure_getenv("IBSA_NODE");
	struct scope scope = { .device = NULL };
	int status;

	if (cli->open.device || !node || !*node)
		return CLI_DONE;
	status = scope_parse(node, &scope);
	cli->record.node = scope.owned;
	cli->open.device = scope.device;
	if (!cli->open.port)
		cli->open.port = scope.port;
	return status;
}

int record_open(struct cli *cli)
{
	struct ibsa_error error = { .text = "" };
	const char *file = fabric_file(cli);
	int status;
	int err;

	if (!cli->record.path || cli->record.recording)
		return CLI_DONE;
	if (!file)
		return fail_usage(
			"--record needs an embedded fabric; name one with "
			"--fabric, or record at a fabric server with ibsa "
			"fabric run --record");
	err = ibsa_fabric_load(file, NULL, &error, &cli->loaded);
	if (err)
		return error_explain(err, &error);
	cli->open.on = cli->loaded;
	status = node_choose(cli);
	if (status != CLI_DONE)
		return status;
	return record_start(cli->record.path, cli->loaded, false,
			    &cli->record.recording);
}

int record_close(struct cli *cli)
{
	const int status = record_end(cli->record.recording);

	ibsa_fabric_put(cli->loaded);
	free(cli->record.node);
	cli->record.node = NULL;
	cli->record.recording = NULL;
	cli->loaded = NULL;
	return status;
}
