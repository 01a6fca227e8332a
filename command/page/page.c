/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ibsa page: a fabric as one HTML file that loads nothing else. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_write.h"
#include "names/node_map.h"
#include "page/page.h"
#include "options/options.h"
#include "options/shared.h"

/* Options of ibsa page: the file of --expect, or NULL. */
struct page_options {
	const char *expect;
};

static bool is_standard_output(const struct cli *cli)
{
	return strcmp(cli->output.file, "-") == 0;
}

static int options_check(const struct cli *cli)
{
	if (cli->arg_count > 2)
		return fail_usage("page accepts one file; remove '%s'",
				  cli->args[2]);
	if (cli->arg_count > 1 && !options_fit_file(cli, false))
		return CLI_USAGE;
	if (!cli->output.file)
		return fail_usage("page needs --output FILE, or -o FILE; - is "
				  "standard output");
	return CLI_DONE;
}

static int page_read(struct page *page)
{
	int status = node_map_read(page->cli);

	page->view.map = page->cli->names.map;
	if (status == CLI_DONE)
		status = fabric_check_read(&page->check);
	if (status != CLI_DONE)
		return status;
	page->view.topology = page->check.topology;
	page->view.info = page->check.info;
	return page_ports_find(page);
}

/* Write the whole page. Return: the exit status. */
static int page_put(struct page *page)
{
	struct page_json *json = &page->json;
	char now[UTC_TEXT];
	int status = CLI_DONE;

	fputs(page_head, json->file);
	page_open(json, NULL, '{');
	page_text(json, "version", ibsa_version());
	page_text(json, "time", utc_text(time(NULL), now));
	if (page->check.file)
		page_text(json, "file", page->check.file);
	if (page->here == SIZE_MAX)
		page_null(json, "here");
	else
		page_number(json, "here", page->here);
	page_topology(page);
	if (!page->check.file)
		status = page_records(page);
	page_close(json, '}');
	fputs(page_tail, json->file);
	return status;
}

static int output_write(struct cli *cli, const char *text, size_t len)
{
	if (!is_standard_output(cli))
		return file_write(cli->output.file, text, len);
	out_line(&cli->out, "%.*s", (int)len - 1, text);
	return CLI_DONE;
}

static int page_make(struct page *page)
{
	struct memory_text memory;
	int status = page_read(page);

	if (status != CLI_DONE)
		return status;
	status = memory_text_open(&memory);
	page->json.file = memory.file;
	if (status == CLI_DONE) {
		int closed;

		status = page_put(page);
		closed = memory_text_close(&memory);
		status = status == CLI_DONE ? closed : status;
	}
	if (status == CLI_DONE)
		status = output_write(page->cli, memory.text, memory.len);
	free(memory.text);
	return status;
}

static int cmd_page(struct cli *cli)
{
	const struct page_options *options = cli->own;
	struct page page = {
		.cli = cli,
		.check = {
			.cli = cli,
			.file = cli->arg_count > 1 ? cli->args[1] : NULL,
			.expect = options->expect,
		},
	};
	int status = options_check(cli);

	if (status == CLI_DONE)
		status = page_make(&page);
	fabric_check_done(&page.check);
	free(page.ports);
	free(page.by_guid);
	return status;
}

/* clang-format off */
static const struct option_row rows[] = {
	OPTION_EXPECT(struct page_options, expect, 0),
};

static const struct option_table table =
	OPTION_TABLE(rows, struct page_options);

const struct command command_page = {
	.name = "page",
	.arguments = "[FILE]",
	.help = "write a fabric as an HTML page",
	.options = &table,
	.groups = GROUP_OPEN | GROUP_NAMES | GROUP_FILE | GROUP_RECORD |
		  GROUP_VERBOSE | GROUP_VERSION | GROUP_HELP,
	.run = cmd_page,
	.text =
	"Writes one HTML file that shows the fabric, or a topology file; a\n"
	"browser needs no network to show it.\n"
	"\n"
	"  ibsa page -o fabric.html\n"
	"  ibsa page --expect fabric.net -o fabric.html\n"
	"  ibsa page fabric.net -o - >fabric.html\n",
	.file = 1,
};
/* clang-format on */
