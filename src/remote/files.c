/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files and folders of the device that a fabric server shows. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/registry.h"
#include "remote/connection.h"
#include "remote/files.h"

struct remote_files {
	struct remote_connection connection;
};

bool ibsa__remote_has_files(void)
{
	return ibsa__remote_path(secure_getenv("IBSA_FABRIC"));
}

static int make(const char *name, void *arg, void **out)
{
	struct remote_files *files = ibsa__calloc(1, sizeof(*files));
	int err;

	(void)name;
	if (!files)
		return -ENOMEM;
	err = ibsa__remote_connect(&files->connection, arg, NULL);
	if (err) {
		ibsa__free(files);
		return err;
	}
	*out = files;
	return 0;
}

static void destroy(void *object)
{
	struct remote_files *files = object;

	ibsa__remote_disconnect(&files->connection);
	ibsa__free(files);
}

/* The connection of whoever holds one to the same place, else a new one. */
static int files_get(struct remote_files **out)
{
	struct remote_place place;
	char name[sizeof(place) + sizeof("files / 0000000000")];
	void *object;
	int err;

	err = ibsa__remote_place(secure_getenv("IBSA_FABRIC"), NULL, 0, NULL,
				 &place);
	if (err)
		return err;
	snprintf(name, sizeof(name), "files %s/%u %s", place.node, place.port,
		 place.path);
	err = ibsa__registry_get(name, make, &place, &object);
	if (!err)
		*out = object;
	return err;
}

struct remote_files *ibsa__remote_files_hold(void)
{
	struct remote_files *files;

	if (!ibsa__remote_has_files() || files_get(&files))
		return NULL;
	return files;
}

void ibsa__remote_files_release(struct remote_files *files)
{
	if (files)
		ibsa__registry_put(files, destroy);
}

static int ask(struct remote_question *question)
{
	struct remote_files *files;
	int err = files_get(&files);

	if (err)
		return err;
	err = ibsa__remote_ask(&files->connection, question, NULL);
	ibsa__remote_files_release(files);
	return err;
}

static int ask_path(uint32_t type, const char *path, char *out, size_t room,
		    size_t *out_len)
{
	struct remote_question question = {
		.type = type,
		.body = path,
		.len = strlen(path),
		.answer = out,
		.room = room,
	};
	int err = ask(&question);

	if (!err)
		*out_len = question.answered;
	return err;
}

int ibsa__remote_file_text(const char *path, char *out, size_t room,
			   size_t *out_len)
{
	return ask_path(REMOTE_FILE, path, out, room, out_len);
}

int ibsa__remote_folder_names(const char *path, char *out, size_t room,
			      size_t *out_len)
{
	return ask_path(REMOTE_FOLDER, path, out, room, out_len);
}

int ibsa__remote_issm_path(unsigned int port, char *out, size_t room)
{
	char path[256];
	const uint32_t number = port;
	struct remote_question question = {
		.type = REMOTE_ISSM,
		.body = &number,
		.len = sizeof(number),
		.answer = path,
		.room = sizeof(path) - 1,
	};
	int err = ask(&question);

	if (err)
		return err;
	path[question.answered] = '\0';
	if (strlen(path) >= room)
		return -ENAMETOOLONG;
	memcpy(out, path, strlen(path) + 1);
	return 0;
}
