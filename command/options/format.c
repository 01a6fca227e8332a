/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The formats of --format. */
#include <string.h>

#include "options/format.h"

/* @group: a command writes the format if its row contains this group */
static const struct format {
	const char *name;
	enum out_shape shape;
	unsigned int group;
} formats[] = {
	{ "table", OUT_TABLE, GROUP_FORMAT },
	{ "json", OUT_JSON, GROUP_FORMAT },
	{ "ndjson", OUT_NDJSON, GROUP_ROWS },
	{ "csv", OUT_CSV, GROUP_ROWS },
	{ "net", OUT_NET, GROUP_NET },
	{ "slurm", OUT_SLURM, GROUP_NET },
	{ "slurm-yaml", OUT_SLURM_YAML, GROUP_NET },
	{ "dot", OUT_DOT, GROUP_DOT },
	{ "svg", OUT_SVG, GROUP_SVG },
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

static const struct format *format_find(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *formats_text(const struct option_set *set, const char *separator,
			 char out[FORMATS_TEXT])
{
	size_t len = 0;

	for (size_t i = 0; i < FORMATS; i++)
		if (formats[i].group & set->groups)
			len += (size_t)snprintf(out + len, FORMATS_TEXT - len,
						"%s%s", len ? separator : "",
						formats[i].name);
	return out;
}

bool format_fits(const struct cli *cli, const char *whose,
		 const struct option_set *set)
{
	const char *name = cli->output.format;
	const struct format *format = name ? format_find(name) : NULL;
	char text[FORMATS_TEXT];

	if (!name || (format && format->group & set->groups))
		return true;
	complain("%s has no format '%s'; its formats are %s", whose, name,
		 formats_text(set, ", ", text));
	return false;
}

bool format_use(struct cli *cli)
{
	const struct output_options *output = &cli->output;

	if (output->format)
		cli->out.shape = format_find(output->format)->shape;
	if (output->verbose && cli->out.shape == OUT_TABLE)
		cli->out.shape = OUT_BLOCKS;
	if (!output->fields || cli->out.shape <= OUT_CSV)
		return true;
	complain("--fields: the format %s has no fields; remove the option",
		 output->format);
	return false;
}
