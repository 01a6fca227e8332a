/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a fabric server with a client that writes anything to its rings: the
 * input contains what the client does to positions, flags, bytes, the eventfd,
 * the memory's file and the data socket, also while the server runs. After each
 * step, another client sends a packet to a third one, which must receive it
 * unchanged. The server must end a client with an invalid position or length.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibsa/types.h>
#include <ibsa/server.h>

#include "base/clock.h"
#include "ring_client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	ROUNDS = 16, /* rounds of the server's event loop in each step */
	SCRIBBLES = 2000,
	SUBJECT_CLASS = 0x0a, /* vendor-specific */
	MAD_DATA = 64,
	/* A step with this bit in its first byte does not run the server. */
	NO_ROUNDS = 0x80,
};

/* Until then, the server has done what a step requires. */
#define PATIENCE_NS (20 * NS_PER_S)

/* Kinds of steps; the low bits of the next byte of the input select one. */
enum {
	WRITE_WORD,
	MOVE_POSITION,
	PUT_BYTES,
	PUT_PACKET,
	PUT_PACKET_PART,
	READ_ALL,
	READ_SOME,
	BELL_ADD,
	BELL_FILL,
	BELL_CLEAR,
	BELL_BLOCKING,
	DATA_SEND,
	DATA_SHUTDOWN,
	CLOSE,
	DETACH,
	SEAL,
	RESIZE,
	HOLE,
	SCRIBBLE,
	PUT_TABLE_REQUEST,
	INVALID_HEAD,
	INVALID_TAIL,
	INVALID_LENGTH,
	KINDS
};

struct packet {
	struct umad_header header;
	uint8_t mad[IBSA_MAD_BYTES];
};

struct fuzz {
	struct ibsa_fabric_server *server;
	struct ring_client hostile;
	struct ring_client sender;
	struct ring_client receiver;
	uint32_t count; /* packets that @sender has sent */
	const uint8_t *input;
	size_t size;
};

/*
 * A switch with so many hosts that the SA's table of their paths is larger than
 * two rings.
 */
enum { HOSTS = 132 };

struct topology {
	char text[32768];
	size_t len;
};

static struct topology topology_make(void)
{
	static const char *const names[] = { "left", "right", "third" };
	struct topology topology = { .len = 0 };
	FILE *out = fmemopen(topology.text, sizeof(topology.text), "w");

	must(out);
	fprintf(out, "Switch %d \"S\"\n", HOSTS);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(out, "[%d] \"H%d\"[1]\n", i, i);
	for (int i = 1; i <= HOSTS; i++)
		fprintf(out, "Ca 1 \"H%d\" # \"%s\"\n[1] \"S\"[%d]\n", i,
			i <= 3 ? names[i - 1] : "other", i);
	topology.len = (size_t)ftell(out);
	must(!fclose(out) && topology.len < sizeof(topology.text));
	return topology;
}

static uint8_t take(struct fuzz *fuzz)
{
	if (!fuzz->size)
		return 0;
	fuzz->size--;
	return *fuzz->input++;
}

static uint32_t take_word(struct fuzz *fuzz)
{
	uint32_t word = 0;

	for (int i = 0; i < 4; i++)
		word = word << 8 | take(fuzz);
	return word;
}

/* Take as many bytes from the input as its next byte says, at most the rest. */
static const uint8_t *take_bytes(struct fuzz *fuzz, size_t *len)
{
	const uint8_t *at;

	*len = take(fuzz);
	if (*len > fuzz->size)
		*len = fuzz->size;
	at = fuzz->input;
	fuzz->input += *len;
	fuzz->size -= *len;
	return at;
}

static bool is_readable(const struct ring_client *client)
{
	struct pollfd end = { .fd = client->data.fd, .events = POLLIN };

	return poll(&end, 1, 0) == 1;
}

static struct packet subject_packet(struct fuzz *fuzz)
{
	struct packet packet = {
		.header = { .id = fuzz->sender.agent,
			    .length = sizeof(packet) },
		.mad = { 1, SUBJECT_CLASS, 1, RING_METHOD_SEND },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 3);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qkey, 0x80010000);
	fuzz->count++;
	for (size_t i = MAD_DATA; i < sizeof(packet.mad); i += 4)
		ibsa_put_be32(packet.mad + i, fuzz->count);
	return packet;
}

/*
 * The receiver reads its packets. Return: whether the sender's packet was among
 * them; packets of the hostile client may be, too.
 */
static bool packet_arrived(struct fuzz *fuzz, const struct packet *sent)
{
	struct ring_client *receiver = &fuzz->receiver;
	struct packet got;
	bool has_arrived = false;

	while (is_readable(receiver)) {
		must(ibsa__data_recv(&receiver->data, &got, sizeof(got)) ==
		     sizeof(got));
		must(got.header.length == sizeof(got) && !got.header.status);
		if (ibsa_be16((uint8_t *)&got.header.lid) != 1)
			continue;
		must(!has_arrived && got.header.id == receiver->agent);
		must(!memcmp(got.mad + MAD_DATA, sent->mad + MAD_DATA,
			     sizeof(got.mad) - MAD_DATA));
		has_arrived = true;
	}
	must(ibsa__data_recv(&receiver->data, &got, 1) == -EAGAIN);
	return has_arrived;
}

/*
 * A round of the server has a limited time: how many it needs for a step depends
 * on the load of the machine.
 */
static void serve_by(const struct fuzz *fuzz, uint64_t end_ns)
{
	must(clock_now_ns() < end_ns);
	ring_serve(fuzz->server);
}

/* A packet between the other two clients arrives once, unchanged. */
static void check_others(struct fuzz *fuzz)
{
	const uint64_t end_ns = clock_now_ns() + PATIENCE_NS;
	const struct packet packet = subject_packet(fuzz);
	size_t sent = 0;

	must(!ibsa__data_send(&fuzz->sender.data, &packet, sizeof(packet), NULL,
			      0, &sent));
	do
		serve_by(fuzz, end_ns);
	while (!packet_arrived(fuzz, &packet));
	must(!is_readable(&fuzz->sender));
}

/*
 * The word of the shared memory that the input selects: a position or a flag.
 */
static _Atomic uint32_t *word_find(struct fuzz *fuzz)
{
	struct ring_memory *memory = fuzz->hostile.data.rings.memory;
	const uint8_t which = take(fuzz);
	struct ring_shared *ring = which & 4 ? &memory->to_client
					     : &memory->to_server;
	_Atomic uint32_t *const words[] = { &ring->head, &ring->is_full,
					    &ring->tail, &ring->is_idle };

	return words[which & 3];
}

/* Copy bytes to the ring behind its head, without moving the head. */
static uint32_t bytes_put(struct fuzz *fuzz, const void *bytes, size_t len)
{
	struct ring_memory *memory = fuzz->hostile.data.rings.memory;
	const uint32_t head = atomic_load(&memory->to_server.head);

	for (size_t i = 0; i < len; i++)
		memory->to_server_bytes[(head + i) % RING_BYTES] =
			((const uint8_t *)bytes)[i];
	return head;
}

static void bell_set_blocking(const struct fuzz *fuzz, bool on)
{
	const int fd = fuzz->hostile.data.bell_fd;
	const int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* Add to the eventfd without waiting, although it may be set to block. */
static void bell_add(const struct fuzz *fuzz, uint64_t count)
{
	const int fd = fuzz->hostile.data.bell_fd;
	const bool is_blocking = !(fcntl(fd, F_GETFL) & O_NONBLOCK);

	bell_set_blocking(fuzz, false);
	(void)!write(fd, &count, sizeof(count));
	bell_set_blocking(fuzz, is_blocking);
}

static void bytes_send(struct fuzz *fuzz, const void *bytes, size_t len)
{
	struct ring_memory *memory = fuzz->hostile.data.rings.memory;

	atomic_store(&memory->to_server.head,
		     bytes_put(fuzz, bytes, len) + (uint32_t)len);
	bell_add(fuzz, 1);
}

/* Return: a request for all records of an attribute. */
static struct packet table_request(struct fuzz *fuzz, uint16_t attribute)
{
	struct packet packet = {
		.header = { .id = fuzz->hostile.agent,
			    .length = sizeof(packet),
			    .timeout_ms = 100 },
		.mad = { 1, IBSA_CLASS_SA, IBSA_CLASS_VERSION,
			 IBSA_METHOD_GET_TABLE },
	};

	ibsa_put_be16((uint8_t *)&packet.header.lid, 1);
	ibsa_put_be32((uint8_t *)&packet.header.qpn, 1);
	ibsa_put_be32(packet.mad + MAD_TID_LOW, take(fuzz));
	ibsa_put_be16(packet.mad + MAD_ATTRIBUTE, attribute);
	return packet;
}

/*
 * Send a request for all NodeRecords, of which the input changes bytes; only
 * its first bytes if @is_part.
 */
static void packet_send(struct fuzz *fuzz, bool is_part)
{
	const size_t part = is_part ? take_word(fuzz) % sizeof(struct packet)
				    : sizeof(struct packet);
	struct packet packet = table_request(fuzz, 0x0011);
	const uint8_t *bytes;
	size_t len;

	bytes = take_bytes(fuzz, &len);
	for (size_t i = 0; i < len && i < sizeof(packet); i++)
		((uint8_t *)&packet)[i] ^= bytes[i];
	bytes_send(fuzz, &packet, part);
}

/* Send a request for all PathRecords, whose reply is larger than the ring. */
static void table_request_send(struct fuzz *fuzz)
{
	struct packet packet = table_request(fuzz, ibsa_path_record.attribute);

	packet.header.timeout_ms = PATIENCE_NS / NS_PER_MS;
	bytes_send(fuzz, &packet, sizeof(packet));
}

static void tail_move(struct fuzz *fuzz, uint32_t most)
{
	struct ring_shared *ring = &fuzz->hostile.data.rings.memory->to_client;
	const uint32_t tail = atomic_load(&ring->tail);
	const uint32_t used = atomic_load(&ring->head) - tail;

	atomic_store(&ring->tail, tail + (used < most ? used : most));
	bell_add(fuzz, 1);
}

/* What a thread writes to a word again and again while the server runs. */
struct scribble {
	_Atomic uint32_t *word;
	uint8_t *byte;
	uint32_t values[2];
};

static void *scribble_run(void *arg)
{
	const struct scribble *scribble = arg;

	for (int i = 0; i < SCRIBBLES; i++) {
		atomic_store(scribble->word, scribble->values[i & 1]);
		*(volatile uint8_t *)scribble->byte = (uint8_t)i;
	}
	return NULL;
}

/*
 * Write values near the word's present value, because these may be valid
 * positions.
 */
static void scribble_step(struct fuzz *fuzz)
{
	struct ring_memory *memory = fuzz->hostile.data.rings.memory;
	struct scribble scribble = { .word = word_find(fuzz) };
	const uint32_t now = atomic_load(scribble.word);
	pthread_t thread;

	scribble.values[0] = now + take_word(fuzz) % (2 * RING_CLIENT_BYTES);
	scribble.values[1] = now + take(fuzz);
	scribble.byte = memory->to_server_bytes +
			(atomic_load(&memory->to_server.tail) + take(fuzz)) %
				RING_BYTES;
	must(!pthread_create(&thread, NULL, scribble_run, &scribble));
	bell_add(fuzz, 1);
	ring_serve(fuzz->server);
	check_others(fuzz);
	pthread_join(thread, NULL);
}

/* Steps that use the ring. */
static void ring_step(struct fuzz *fuzz, uint8_t kind)
{
	_Atomic uint32_t *word;
	const uint8_t *bytes;
	size_t len;

	switch (kind) {
	case WRITE_WORD:
		word = word_find(fuzz);
		atomic_store(word, take_word(fuzz));
		break;
	case MOVE_POSITION:
		word = word_find(fuzz);
		atomic_fetch_add(word, (uint32_t)(int8_t)take(fuzz));
		break;
	case PUT_BYTES:
		bytes = take_bytes(fuzz, &len);
		bytes_send(fuzz, bytes, len);
		break;
	case PUT_PACKET:
	case PUT_PACKET_PART:
		packet_send(fuzz, kind == PUT_PACKET_PART);
		break;
	case READ_ALL:
	case READ_SOME:
		tail_move(fuzz,
			  kind == READ_ALL ? RING_CLIENT_BYTES : take(fuzz));
		break;
	case PUT_TABLE_REQUEST:
		table_request_send(fuzz);
		break;
	default:
		scribble_step(fuzz);
		break;
	}
}

/* Steps that use the eventfd. */
static void bell_step(struct fuzz *fuzz, uint8_t kind)
{
	uint64_t count;

	switch (kind) {
	case BELL_ADD:
		bell_add(fuzz, take_word(fuzz));
		break;
	case BELL_FILL:
		bell_add(fuzz, UINT64_MAX - 1);
		break;
	case BELL_CLEAR:
		bell_set_blocking(fuzz, false);
		(void)!read(fuzz->hostile.data.bell_fd, &count, sizeof(count));
		break;
	default:
		bell_set_blocking(fuzz, true);
		break;
	}
}

/* Steps that use the file of the shared memory. */
static void memory_step(struct fuzz *fuzz, uint8_t kind)
{
	const int fd = fuzz->hostile.memory_fd;

	if (kind == SEAL)
		(void)!fcntl(fd, F_ADD_SEALS, take(fuzz));
	else if (kind == RESIZE)
		must(ftruncate(fd, take_word(fuzz) % 4096) < 0);
	else
		(void)!madvise(fuzz->hostile.data.rings.memory,
			       sizeof(struct ring_memory), MADV_REMOVE);
}

/* Steps that use the sockets. */
static void socket_step(struct fuzz *fuzz, uint8_t kind)
{
	static const int how[] = { SHUT_RD, SHUT_WR, SHUT_RDWR };
	struct ring_client *hostile = &fuzz->hostile;
	struct remote_fds fds = remote_fds_none();
	const uint8_t *bytes;
	size_t len;

	switch (kind) {
	case DATA_SEND:
		bytes = take_bytes(fuzz, &len);
		(void)!send(hostile->data.fd, bytes, len,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case DATA_SHUTDOWN:
		shutdown(hostile->data.fd, how[take(fuzz) % 3]);
		break;
	case CLOSE:
		ring_client_unmap(hostile);
		break;
	default:
		(void)ring_client_request(hostile, REMOTE_DETACH, NULL, 0, NULL,
					  &fds);
		ring_client_unmap(hostile);
		break;
	}
}

/* Get new rings. Return: false: the server has closed the connection. */
static bool hostile_renew(struct fuzz *fuzz)
{
	struct ring_client *hostile = &fuzz->hostile;
	struct remote_fds fds = remote_fds_none();

	(void)!ring_client_request(hostile, REMOTE_DETACH, NULL, 0, NULL, &fds);
	ring_client_unmap(hostile);
	return ring_client_attach(hostile) &&
	       ring_client_register(hostile, IBSA_CLASS_SA);
}

/*
 * Fill the ring with packets: however much of it the server reads, it finds a
 * packet with a valid length there.
 */
static void ring_fill(struct fuzz *fuzz)
{
	enum { PACKET_BYTES = 128 };
	const struct umad_header header = { .length = PACKET_BYTES };
	uint8_t *bytes = fuzz->hostile.data.rings.memory->to_server_bytes;

	for (size_t at = 0; at < RING_BYTES; at += PACKET_BYTES)
		memcpy(bytes + at, &header, sizeof(header));
}

/* Write a position that the server must not use, or a packet's length. */
static void invalid_write(struct fuzz *fuzz, uint8_t kind)
{
	struct ring_memory *memory = fuzz->hostile.data.rings.memory;
	struct umad_header header = { .id = fuzz->hostile.agent };
	const uint32_t word = take_word(fuzz);

	switch (kind) {
	case INVALID_HEAD:
		ring_fill(fuzz);
		atomic_store(&memory->to_server.head,
			     RING_BYTES + 1 + word % (UINT32_MAX - RING_BYTES));
		bell_add(fuzz, 1);
		break;
	case INVALID_TAIL:
		/*
		 * The server reads the position after it has written as many
		 * bytes as the ring has.
		 */
		atomic_store(
			&memory->to_client.tail,
			RING_CLIENT_BYTES + 1 +
				word % (UINT32_MAX - 2 * RING_CLIENT_BYTES));
		table_request_send(fuzz);
		break;
	default:
		header.length =
			word & 1 ? REMOTE_PACKET_MAX + 1 + word / 2
				 : word % (UMAD_HEADER_BYTES + REMOTE_MAD_MIN);
		bytes_send(fuzz, &header, sizeof(header));
		break;
	}
}

/* A client with new rings writes an invalid value: the server must end it. */
static void invalid_step(struct fuzz *fuzz, uint8_t kind)
{
	const uint64_t end_ns = clock_now_ns() + PATIENCE_NS;
	ssize_t got = -1;
	char byte;

	if (hostile_renew(fuzz)) {
		invalid_write(fuzz, kind);
		do {
			serve_by(fuzz, end_ns);
			got = recv(fuzz->hostile.control, &byte, 1,
				   MSG_DONTWAIT);
		} while (got < 0);
		must(!got);
	}
	ring_client_unmap(&fuzz->hostile);
	fuzz->size = 0;
}

static void step(struct fuzz *fuzz)
{
	const uint8_t first = take(fuzz);
	const uint8_t kind = (first & ~NO_ROUNDS) % KINDS;

	if (!fuzz->hostile.data.rings.memory) {
		if (ring_client_attach(&fuzz->hostile))
			(void)!ring_client_register(&fuzz->hostile,
						    IBSA_CLASS_SA);
		else
			fuzz->size = 0;
		return;
	}
	if (kind <= READ_SOME || kind == SCRIBBLE || kind == PUT_TABLE_REQUEST)
		ring_step(fuzz, kind);
	else if (kind >= INVALID_HEAD)
		invalid_step(fuzz, kind);
	else if (kind <= BELL_BLOCKING)
		bell_step(fuzz, kind);
	else if (kind <= DETACH)
		socket_step(fuzz, kind);
	else
		memory_step(fuzz, kind);
	if (first & NO_ROUNDS)
		return;
	ring_serve(fuzz->server);
	check_others(fuzz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct topology topology = topology_make();
	struct fuzz fuzz = { .input = data, .size = size };
	struct ibsa_fabric *fabric;
	char path[64];

	setenv("IBSA_RING", "1", 1);
	snprintf(path, sizeof(path), "/tmp/ibsa-fuzz-ring-%d", (int)getpid());
	must(!ibsa_fabric_parse(topology.text, topology.len, NULL, NULL,
				&fabric));
	must(!ibsa_fabric_server_open(fabric, path, NULL, NULL, &fuzz.server));
	ring_client_open(&fuzz.sender, fuzz.server, path, "left",
			 SUBJECT_CLASS);
	ring_client_open(&fuzz.receiver, fuzz.server, path, "third",
			 SUBJECT_CLASS);
	ring_client_open(&fuzz.hostile, fuzz.server, path, "right",
			 IBSA_CLASS_SA);
	while (fuzz.size)
		step(&fuzz);
	check_others(&fuzz);
	ring_client_close(&fuzz.hostile);
	check_others(&fuzz);
	ring_client_close(&fuzz.sender);
	ring_client_close(&fuzz.receiver);
	ibsa_fabric_server_close(fuzz.server);
	ibsa_fabric_put(fabric);
	return 0;
}
