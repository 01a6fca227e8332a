/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the packets of an embedded fabric, or the MADs of the client at another
 * port as packets, to a pcap file of ERF records; type 21 is an InfiniBand
 * packet. Wireshark 4.0 does not support pcap's own link type for
 * InfiniBand, 247.
 *
 * Source: draft-ietf-opsawg-pcap (file and packet headers); Endace, ERF Types
 * Reference Guide (header, types).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/frame.h"
#include "common/segment.h"
#include "session/record.h"

enum {
	ERF_BYTES = 16,
	ERF_TYPE_INFINIBAND = 21,
	ERF_VARYING_LENGTH = 4,
	PACKET_BYTES_MAX = 512,
	PCAP_TYPE_ERF = 197,
};

/* The header of a file, in host byte order: times are in nanoseconds. */
struct pcap_file {
	uint32_t magic;
	uint16_t major, minor;
	uint32_t reserved[2];
	uint32_t packet_max;
	uint32_t type;
};

/* The header of a packet, all of whose bytes are in the file. */
struct pcap_packet {
	uint32_t s, ns;
	uint32_t len, len_on_link;
};

#define NS_PER_S UINT64_C(1000000000)
#define COUNTED_NS UINT64_C(1000000) /* between two packets */

struct record {
	struct ibsa_fabric *fabric;  /* NULL: the MADs of a client */
	struct ibsa_port_state port; /* of that client */
	uint16_t pkey;		     /* of its requests */
	FILE *file;
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
	const uint64_t time_ns = time_of(record, packet);
	const uint32_t len = (uint32_t)(ERF_BYTES + packet->len);
	const struct pcap_packet header = { (uint32_t)(time_ns / NS_PER_S),
					    (uint32_t)(time_ns % NS_PER_S), len,
					    len };
	uint8_t bytes[ERF_BYTES + PACKET_BYTES_MAX] = { 0 };

	if (packet->len > PACKET_BYTES_MAX)
		return;
	put_erf_time(bytes, time_ns);
	bytes[8] = ERF_TYPE_INFINIBAND;
	bytes[9] = ERF_VARYING_LENGTH;
	ibsa_put_be16(bytes + 10, (uint16_t)len);
	ibsa_put_be16(bytes + 14, (uint16_t)packet->len);
	memcpy(bytes + ERF_BYTES, packet->bytes, packet->len);
	fwrite(&header, sizeof(header), 1, record->file);
	fwrite(bytes, len, 1, record->file);
	/*
	 * Flush the file after each packet, so that another program that reads
	 * it finds whole packets.
	 */
	fflush(record->file);
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

static void header_write(FILE *file)
{
	static const struct pcap_file header = {
		.magic = 0xa1b23c4d,
		.major = 2,
		.minor = 4,
		.packet_max = ERF_BYTES + PACKET_BYTES_MAX,
		.type = PCAP_TYPE_ERF,
	};

	fwrite(&header, sizeof(header), 1, file);
}

static int open_file(struct record *record)
{
	/* Child processes must not inherit the descriptor. */
	record->file = fopen(record->path, "we");
	if (!record->file)
		return fail_device("--record: cannot write: %s: %s",
				   record->path, strerror(errno));
	header_write(record->file);
	return CLI_DONE;
}

static void free_record(struct record *record)
{
	if (record->file)
		fclose(record->file);
	free(record);
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

static int record_new(const char *path, struct record **out)
{
	struct record *record;
	int status;

	if (strcmp(path, "-") == 0)
		return fail_usage("--record: '-' cannot be used, because the "
				  "answer is written to standard output; name "
				  "a file");
	record = calloc(1, sizeof(*record));
	if (!record)
		return no_memory();
	record->path = path;
	record->epoch_ns = epoch_of_real_clock();
	status = open_file(record);
	if (status == CLI_DONE)
		*out = record;
	else
		free_record(record);
	return status;
}

int record_start(const char *path, struct ibsa_fabric *fabric, bool is_counted,
		 struct record **out)
{
	struct record *record;
	int status = record_new(path, &record);

	if (status != CLI_DONE)
		return status;
	record->fabric = fabric;
	record->is_counted = is_counted;
	status = tap(record);
	if (status == CLI_DONE)
		*out = record;
	else
		free_record(record);
	return status;
}

static int record_end(struct record *record)
{
	int status = CLI_DONE;

	if (!record)
		return CLI_DONE;
	if (record->fabric)
		(void)!ibsa_fabric_tap(record->fabric, NULL, NULL);
	if (ferror(record->file)) {
		complain("--record: cannot write all packets to '%s': a write "
			 "failed; check the free space",
			 record->path);
		status = CLI_DEVICE;
	}
	free_record(record);
	return status;
}

/* A MAD that a client has sent or received, as packets. */
struct packets {
	struct record *record;
	struct frame frame;
	uint64_t time_ns;
	bool is_sent;
};

static void segment_write(const uint8_t *mad, void *arg)
{
	struct packets *packets = arg;
	uint8_t copy[IBSA_MAD_BYTES];
	uint8_t bytes[FRAME_BYTES_MAX];
	struct ibsa_packet packet = {
		.time_ns = packets->time_ns,
		.bytes = bytes,
	};

	memcpy(copy, mad, sizeof(copy));
	ibsa__tid_own(copy, packets->is_sent);
	packets->frame.mad = copy;
	packets->frame.psn = packets->record->count & 0xffffff;
	packet.len = ibsa__frame_put(&packets->frame, bytes);
	packet_write(&packet, packets->record);
}

void record_mad(const struct ibsa_mad *mad, void *arg)
{
	struct record *record = arg;
	const struct ibsa_address *peer = &mad->peer;
	const struct ibsa_gid *own = &record->port.gid;
	const uint16_t lid = (uint16_t)record->port.lid;
	struct packets packets = {
		.record = record,
		.frame = {
			.slid = mad->is_sent ? lid : (uint16_t)peer->lid,
			.dlid = mad->is_sent ? (uint16_t)peer->lid : lid,
			.src_qp = mad->is_sent ? IBSA_QPN_GSI : peer->qpn,
			.dst_qp = mad->is_sent ? peer->qpn : IBSA_QPN_GSI,
			.pkey = record->pkey,
			.sl = peer->sl,
			.has_grh = peer->has_grh,
			.hop_limit = peer->hop_limit,
			.traffic_class = peer->traffic_class,
			.flow_label = peer->flow_label,
			.sgid = mad->is_sent ? *own : peer->gid,
			.dgid = mad->is_sent ? peer->gid : *own,
		},
		.time_ns = mad->time_ns,
		.is_sent = mad->is_sent,
	};

	ibsa__segments_put(mad->bytes, mad->len, IBSA_SA_HEADER_BYTES,
			   segment_write, &packets);
}

int record_client_start(struct cli *cli)
{
	struct record *record;
	int status;

	if (!cli->record.path)
		return CLI_DONE;
	status = record_new(cli->record.path, &record);
	if (status != CLI_DONE)
		return status;
	cli->record.recording = record;
	if (ibsa_port_get(cli->client, false, &record->port) == 0 &&
	    record->port.link == IBSA_LINK_OPA)
		return fail_usage("--record: cannot write the packets of an "
				  "Omni-Path fabric");
	if (ibsa_pkey_get(cli->client, record->port.pkey_index,
			  &record->pkey) != 0)
		record->pkey = IBSA_PKEY_DEFAULT;
	ibsa_tap(cli->client, record_mad, record);
	return CLI_DONE;
}

struct record *record_to(FILE *file, const struct ibsa_port_state *port,
			 uint16_t pkey)
{
	struct record *record = calloc(1, sizeof(*record));

	if (!record)
		return NULL;
	record->file = file;
	record->port = *port;
	record->pkey = pkey;
	record->epoch_ns = epoch_of_real_clock();
	header_write(file);
	return record;
}

void record_to_end(struct record *record)
{
	free(record);
}

int record_close(struct cli *cli)
{
	const int status = record_end(cli->record.recording);

	ibsa_fabric_put(cli->loaded);
	cli->record.recording = NULL;
	cli->loaded = NULL;
	return status;
}
