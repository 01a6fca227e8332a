/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A fabric server from the inside: what its files share. */
#ifndef SIM_SERVER_SERVER_H
#define SIM_SERVER_SERVER_H

#include <sys/socket.h>

#include <ibsa/fabric_server.h>

#include "base/large.h"
#include "base/list.h"
#include "remote/protocol.h"
#include "sim/fabric/fabric.h"
#include "sim/file/file.h"

enum {
	SERVER_BATCH_BYTES = 65536, /* that are read or written at a time */
	SERVER_PATH_MAX = 108,	    /* as sockaddr_un has it */
	SERVER_LOCK_MAX = SERVER_PATH_MAX + 5,
};

/* Something with an fd that the server waits for. */
struct server_source {
	void (*handle)(struct server_source *source, uint32_t events);
	struct ibsa_fabric_server *server;
	int fd;
	uint32_t events; /* that are waited for */
	bool is_watched;
	uint64_t
		deadline_ns; /* what comes there has to be whole; UINT64_MAX: is */
};

/* Bytes that grow. */
struct server_bytes {
	uint8_t *at;
	size_t count;
	size_t room;
};

/* A client: a connection, and the umad file that it may have opened. */
struct server_peer {
	struct list link;
	struct server_source control;
	struct server_source data; /* fd -1: no file is open */
	struct server_bytes
		request_bytes; /* of a frame, not all of which is here */
	struct sim_file *file;
	struct server_bytes part;    /* of a packet, the same */
	struct server_bytes pending; /* packets on their way to the client */
	size_t head_sent;	     /* bytes of the file's first packet */
	struct list ready;	     /* in the server's list of those */
	pid_t pid;     /* of the process that connected; 0: not visible here */
	uint32_t node; /* in the topology */
	uint32_t port;
	struct server_bytes sent_state; /* the state that was last told */
	bool is_greeted;
	bool is_watching;
	bool is_gone;
};

/* A port that an SM may be on, by a FIFO that it opens. */
struct server_issm {
	struct list link;
	char *name;
	struct sim_file *file;
	int fd; /* of the FIFO, for writing */
	bool is_on;
};

struct ibsa_fabric_server {
	struct ibsa_fabric *fabric;
	struct ibsa_fabric_server_options options; /* defaults filled in */
	struct ibsa_fabric_server_stats stats;
	char path[SERVER_PATH_MAX];
	dev_t device; /* of the socket there, as it was made */
	large_inode inode;
	struct server_source listener;
	struct server_source timer;
	struct server_source waker; /* an eventfd */
	struct server_source opens; /* inotify: who opens a FIFO */
	int epoll_fd;
	struct list peers;
	struct list gone; /* to be freed when nobody looks at them any more */
	struct list issms;
	uint64_t alarm_ns;     /* what the timer is set to; UINT64_MAX: off */
	bool has_changed;      /* something that ports show may have */
	bool has_smps;	       /* the same, by those that an SM sent */
	bool is_accept_paused; /* no descriptors for those who want in */
	uint8_t *in_batch;     /* SERVER_BATCH_BYTES, of whoever is served */
	uint8_t *out_batch;    /* the same, to it */

	/* Guarded by the fabric's lock. */
	struct list ready; /* peers that may have something to read */
	bool is_serving;   /* it will look at them by itself */
};

/* Wait for more, or other, events of a source. */
int ibsa__server_watch(struct server_source *source,
		       uint32_t events) IBSA_MUST_USE;

/* Close what is waited for, or is not; no event of it comes any more. */
void ibsa__source_close(struct server_source *source);

/* Tell the program, in one line. */
void ibsa__server_note(struct ibsa_fabric_server *server, const char *format,
		       ...) __attribute__((format(printf, 2, 3)));

/* Have the server look at a file's queue by then, at the latest. */
void ibsa__server_alarm(struct ibsa_fabric_server *server, uint64_t due_ns);

/* Hold the lock on making a socket at @path, which only this user and
 * root can hold (server_lock.c). Return: a descriptor; -EBUSY or -EEXIST, and
 * @error says why; or another error. */
int ibsa__server_lock(const char *path, struct ibsa_error *error) IBSA_MUST_USE;
void ibsa__server_unlock(const char *path, int fd);

/* Clients (server_peer.c). Hear again those who found no descriptor. */
int ibsa__server_listen(struct ibsa_fabric_server *server,
			struct ibsa_error *error) IBSA_MUST_USE;
void ibsa__server_reenable(struct ibsa_fabric_server *server);
void ibsa__server_unlink(const struct ibsa_fabric_server *server);
void ibsa__peer_disconnect(struct server_peer *peer, const char *why);

/* Something has begun to come there, or all that has begun is here. */
void ibsa__source_set_deadline(struct server_source *source, bool is_begun);

/* Who has not finished what it has begun in time goes. */
void ibsa__peer_check_deadlines(struct server_peer *peer, uint64_t now_ns);

/*
 * What was for it could not be sent, or @sent bytes of it: it goes, for @why
 * unless it has ended by itself.
 */
void ibsa__peer_send_failed(struct server_peer *peer, ssize_t sent,
			    const char *why);

void ibsa__peer_free(struct server_peer *peer);

/* Tell those who watch what has become of their ports. */
void ibsa__peers_send_events(struct ibsa_fabric_server *server);

/* Frames (server_request.c). Take in what there is, and answer it. */
void ibsa__peer_receive(struct server_source *source, uint32_t events);

/* The state of the client's port now; *@out has REMOTE_BODY_MAX bytes. Return:
 * how many are used. */
size_t ibsa__peer_state(const struct server_peer *peer, uint8_t *out);

/* Remember what the client was told. */
void ibsa__peer_state_sent(struct server_peer *peer, const uint8_t *state,
			   size_t len);

/* Packets (server_data.c). */
int ibsa__peer_attach(struct server_peer *peer, int *out_fd) IBSA_MUST_USE;
void ibsa__peer_detach(struct server_peer *peer);

/* Have the client get what is in its file's queue, as far as it reads. */
void ibsa__peer_flush(struct server_peer *peer);

/* Room for @count bytes more. False: out of memory. */
bool ibsa__bytes_grow(struct server_bytes *bytes, size_t count);
void ibsa__bytes_free(struct server_bytes *bytes);

/*
 * Files (server_files.c): what stands at @path of a node's device. Return: 0,
 * and how much of @out is used; -ENOENT, -EISDIR, -ENOTDIR or -EINVAL as the
 * kernel has it. The fabric is locked.
 */
int ibsa__server_file(const struct ibsa_fabric *fabric, uint32_t node,
		      const char *path, char *out, size_t room, size_t *used);
int ibsa__server_folder(const struct ibsa_fabric *fabric, uint32_t node,
			const char *path, char *out, size_t room, size_t *used);

/* An entry of a port's GID table; 0: nothing is in it. */
uint64_t ibsa__server_guid(const struct ibsa_fabric *fabric, uint32_t port,
			   uint32_t index);

/* The end port of a node with that number, or SIM_NONE. */
uint32_t ibsa__server_port(const struct ibsa_fabric *fabric, uint32_t node,
			   unsigned int number);

/* SMs (server_issm.c). A path to open at @port; lives as long as the server. */
int ibsa__issm_path(struct ibsa_fabric_server *server, uint32_t port, char *out,
		    size_t room) IBSA_MUST_USE;
void ibsa__issms_done(struct ibsa_fabric_server *server);

#endif
