/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text in memory that is written through a stream. */
#include <stdlib.h>
#include <string.h>

#include "base/complain.h"
#include "base/memory_text.h"

/* Append bytes, and '\0' after them. Return: 0 if there is no memory. */
static ssize_t memory_text_append(void *arg, const char *bytes, size_t len)
{
	struct memory_text *memory = arg;

	if (memory->room - memory->len <= len) {
		const size_t room = 2 * memory->room + len + 1;
		char *text = memory->has_failed ? NULL
						: realloc(memory->text, room);

		memory->has_failed |= !text;
		if (!text)
			return 0;
		memory->text = text;
		memory->room = room;
	}
	memcpy(memory->text + memory->len, bytes, len);
	memory->len += len;
	memory->text[memory->len] = '\0';
	return (ssize_t)len;
}

int memory_text_open(struct memory_text *memory)
{
	*memory = (struct memory_text){ .len = 0 };
	/* So that @text is valid even if nothing is written. */
	(void)memory_text_append(memory, "", 0);
	memory->file = fopencookie(
		memory, "w",
		(cookie_io_functions_t){ .write = memory_text_append });
	return memory->file ? CLI_DONE : no_memory();
}

int memory_text_close(struct memory_text *memory)
{
	if (ferror(memory->file))
		memory->has_failed = true;
	if (fclose(memory->file) != 0)
		memory->has_failed = true;
	return memory->has_failed ? no_memory() : CLI_DONE;
}
