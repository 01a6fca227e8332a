/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the device files and directories that a fabric server provides. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <ibsa/text.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/registry.h"
#include "remote/file.h"
#include "remote/files.h"
#include "remote/issm.h"

/*
 * After the server has not answered a request, no request is sent to it for
 * this many ms. Without this pause, a program that reads many files would wait
 * for each file.
 */
enum { PAUSE_MS = 10000 };

enum { REOPEN_S = 600 /* default of IBSA_UMAD_REOPEN */ };

/*
 * The device files of a fabric server. @lock guards @connection, which is open
 * while @is_connected is set, by the process with the number @process.
 */
struct remote_files {
	struct device_files base;
	int address_err; /* 0, or why @address is not valid */
	struct remote_address address;
	pthread_mutex_t lock;
	bool is_connected;
	unsigned int process;
	/* The server has not answered a request; that was at @late_ns. */
	bool is_silent;
	uint64_t late_ns;
	struct remote_connection connection;
};

static struct remote_files *remote_files_of(struct device_files *files)
{
	return (struct remote_files *)files;
}

static void files_disconnect(struct remote_files *files)
{
	if (files->is_connected)
		ibsa__remote_disconnect(&files->connection);
	files->is_connected = false;
}

static void files_note_silence(struct remote_files *files, int err)
{
	files->is_silent = err == -ETIMEDOUT;
	if (files->is_silent)
		files->late_ns = clock_now_ns();
}

/* Connect to the server, unless a working connection exists. @lock is held. */
static int files_connect(struct remote_files *files)
{
	struct remote_address address = files->address;
	int err;

	if (files->address_err)
		return files->address_err;
	if (files->is_silent &&
	    clock_now_ns() - files->late_ns < PAUSE_MS * NS_PER_MS)
		return -ETIMEDOUT;
	if (files->is_connected) {
		/* A forked child would read the answers of its parent. */
		if (files->process == ibsa__process() &&
		    !ibsa__remote_is_gone(&files->connection))
			return 0;
		files_disconnect(files);
	}
	err = ibsa__remote_connect(&files->connection, &address, NULL);
	files->is_connected = !err;
	files->process = ibsa__process();
	files_note_silence(files, err);
	return err;
}

static int files_request(struct remote_files *files,
			 struct remote_request *request)
{
	int err;

	pthread_mutex_lock(&files->lock);
	err = files_connect(files);
	if (!err) {
		err = ibsa__remote_request(&files->connection, request, NULL);
		if (err && files->connection.is_late)
			err = -ETIMEDOUT;
		files_note_silence(files, err);
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}

static int path_request(struct device_files *files, uint32_t type,
			const char *path, char *out, size_t room,
			size_t *out_len)
{
	struct remote_request request = {
		.type = type,
		.body = path,
		.len = strlen(path),
		.answer = out,
		.room = room,
	};
	int err = files_request(remote_files_of(files), &request);

	if (!err)
		*out_len = request.answered;
	return err;
}

static int remote_read(struct device_files *files, const char *path,
		       struct ibsa__file_text *out)
{
	size_t len;
	int err = path_request(files, REMOTE_FILE, path, out->bytes,
			       IBSA__FILE_BYTES, &len);

	if (!err)
		out->bytes[len] = '\0';
	return err;
}

/*
 * List a directory of the server. The server's answer consists of names, each
 * followed by a NUL.
 */
static int remote_list(struct device_files *files, const char *path,
		       struct ibsa__names *names)
{
	char *text = ibsa__calloc(1, REMOTE_BODY_MAX + 1);
	size_t len = 0;
	int err = text ? path_request(files, REMOTE_FOLDER, path, text,
				      REMOTE_BODY_MAX, &len)
		       : -ENOMEM;

	for (size_t at = 0; names && !err && at < len;
	     at += strlen(text + at) + 1)
		err = ibsa__names_add(names, text + at);
	ibsa__free(text);
	return err;
}

static void remote_free(struct device_files *files)
{
	struct remote_files *remote = remote_files_of(files);

	files_disconnect(remote);
	pthread_mutex_destroy(&remote->lock);
	ibsa__free(remote);
}

static const struct device_files_ops remote_ops = {
	.read = remote_read,
	.list = remote_list,
	.free = remote_free,
	.takes_locks = true,
};

int ibsa__remote_files_open(const char *fabric, const char *device,
			    const char *process_node, struct device_files **out)
{
	struct remote_files *files = ibsa__calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	ibsa__files_init(&files->base, &remote_ops);
	files->address_err = ibsa__remote_address_find(
		fabric, device, process_node, 0, NULL, &files->address);
	/* Callers take -ENOENT for a kernel module that is not loaded. */
	if (files->address_err == -ENOENT)
		files->address_err = -ENODEV;
	pthread_mutex_init(&files->lock, NULL);
	*out = &files->base;
	return 0;
}

void ibsa__remote_files_reopen_set(struct device_files *files, const char *text)
{
	uint64_t seconds;

	if (!text || ibsa_number_parse(text, 32, &seconds))
		seconds = REOPEN_S;
	remote_files_of(files)->address.reopen_s = (unsigned int)seconds;
}

bool ibsa__files_are_remote(const struct device_files *files)
{
	return files->ops == &remote_ops;
}

int ibsa__remote_files_umad_open(struct device_files *files, const char *name,
				 struct umad_file **out)
{
	const struct remote_files *remote = remote_files_of(files);
	struct remote_address address = remote->address;
	struct ibsa__file_text device;
	uint64_t port;
	int err = ibsa__number_read(files, UINT8_MAX, &port,
				    "class/infiniband_mad/%s/port", name);

	if (!err)
		err = ibsa__file_read(files, &device,
				      "class/infiniband_mad/%s/ibdev", name);
	if (err)
		return err;
	device.bytes[strcspn(device.bytes, "\n")] = '\0';
	if (strlen(device.bytes) > REMOTE_NODE_MAX)
		return -EPROTO;
	memcpy(address.device, device.bytes, strlen(device.bytes) + 1);
	if (port)
		address.port = (unsigned int)port;
	return ibsa__remote_file_new(&address, out);
}

int ibsa__remote_issm_path(struct device_files *files, unsigned int number,
			   char *out, size_t room)
{
	char path[256];
	const uint32_t body = number;
	struct remote_request request = {
		.type = REMOTE_ISSM,
		.body = &body,
		.len = sizeof(body),
		.answer = path,
		.room = sizeof(path) - 1,
	};
	const struct remote_address *address = &remote_files_of(files)->address;
	int err;

	if (address->is_tcp)
		return ibsa__remote_issm_file(address, number, out, room);
	err = files_request(remote_files_of(files), &request);
	if (err)
		return err;
	path[request.answered] = '\0';
	if (strlen(path) >= room)
		return -ENAMETOOLONG;
	memcpy(out, path, strlen(path) + 1);
	return 0;
}
