/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Draws the matrix of ibsa reach as SVG. Each result has a shape as well as a
 * colour, and each cell has a title that gives the result in words.
 */
#include <string.h>

#include "common/clean.h"
#include "reach/reach.h"

enum {
	/* Size of a cell in pixels, for few, for more, and for many ports. */
	LARGE = 28,
	MEDIUM = 18,
	SMALL = 12,
	FEW = 12,
	SOME = 48,
	MARGIN = 16,
	HEADING = 76,	 /* height of title, summary and legend */
	LABEL_MAX = 36,	 /* characters */
	WIDTH_MIN = 620, /* of the heading */
};

/* Sizes of the drawing. */
struct layout {
	size_t count;
	unsigned int cell;
	unsigned int font;
	unsigned int label; /* width of the longest label */
	unsigned int left, top;
};

static const char style[] =
	"<style>\n"
	"text{font-family:DejaVu Sans,Verdana,sans-serif;fill:#1a1a1a}\n"
	".h{font-size:18px;font-weight:bold}.p{font-size:12px}\n"
	".y{fill:#d9eee0}.yd{fill:#1e7145}\n"
	".n{fill:#b3261e}.nd{stroke:#fff;fill:none}\n"
	".u{fill:#ffd766}.ud{stroke:#3d2f00;fill:none}\n"
	".b{fill:#fff;stroke:#aaa;stroke-dasharray:2 2}\n"
	"</style>\n";

/*
 * Write text in XML. ibsa__text_clean() has removed characters that XML
 * forbids. Source: XML 1.0, 2.2.
 */
static void put_text(FILE *file, const char *text)
{
	char clean[4 * REACH_TEXT + 1];

	ibsa__text_clean(&text, clean, sizeof(clean));
	for (const char *at = clean; *at; at++) {
		if (*at == '<')
			fputs("&lt;", file);
		else if (*at == '>')
			fputs("&gt;", file);
		else if (*at == '&')
			fputs("&amp;", file);
		else
			putc(*at, file);
	}
}

/*
 * Return: the length in bytes of the first @most characters of a text;
 * *@out_width is the number of characters.
 */
static size_t cut_at(const char *text, size_t most, size_t *out_width)
{
	size_t width = 0;
	size_t len = 0;

	for (; text[len]; len++) {
		if (((unsigned char)text[len] & 0xc0) != 0x80 &&
		    width++ == most)
			break;
	}
	*out_width = width < most ? width : most;
	return len;
}

static size_t label_width(const struct reach_target *target)
{
	char text[REACH_TEXT];
	size_t width;

	cut_at(reach_target_label(target, text), LABEL_MAX, &width);
	return width;
}

static void put_label(FILE *file, const struct reach_target *target)
{
	char text[REACH_TEXT];
	const char *label = reach_target_label(target, text);
	char part[REACH_TEXT];
	size_t width;
	size_t len = cut_at(label, LABEL_MAX, &width);

	snprintf(part, sizeof(part), "%.*s%s", (int)len, label,
		 label[len] ? "…" : "");
	put_text(file, part);
}

static struct layout lay_out(const struct reach_targets *targets)
{
	struct layout layout = { .count = targets->gid_count };
	size_t widest = 0;

	layout.cell = layout.count <= FEW    ? LARGE
		      : layout.count <= SOME ? MEDIUM
					     : SMALL;
	layout.font = layout.cell == LARGE    ? 14
		      : layout.cell == MEDIUM ? 12
					      : 9;
	for (size_t i = 0; i < layout.count; i++) {
		size_t width = label_width(targets->first[i]);

		widest = width > widest ? width : widest;
	}
	/*
	 * The width of a label is estimated: a character is two thirds as wide
	 * as the font is high.
	 */
	layout.label = (unsigned int)(widest + 1) * layout.font * 2 / 3;
	layout.left = MARGIN + layout.label;
	layout.top = MARGIN + HEADING + layout.label;
	return layout;
}

/*
 * Write the definitions of the shapes, each in a square of one cell with a
 * margin.
 */
static void put_shapes(FILE *file, unsigned int cell)
{
	const unsigned int edge = cell - 1;
	const unsigned int near = cell * 3 / 10;
	const unsigned int far = edge - near;
	const unsigned int line = cell >= MEDIUM ? 2 : 1;
	const unsigned int half = edge / 2;

	fprintf(file,
		"<defs>\n"
		"<g id=\"y\"><rect class=\"y\" width=\"%u\" height=\"%u\"/>"
		"<circle class=\"yd\" cx=\"%u.5\" cy=\"%u.5\" r=\"%u\"/></g>\n",
		edge, edge, half, half, cell / 7 + 1);
	fprintf(file,
		"<g id=\"n\"><rect class=\"n\" width=\"%u\" height=\"%u\"/>"
		"<path class=\"nd\" stroke-width=\"%u\" "
		"d=\"M%u %uL%u %uM%u %uL%u %u\"/></g>\n",
		edge, edge, line, near, near, far, far, near, far, far, near);
	fprintf(file,
		"<g id=\"u\"><rect class=\"u\" width=\"%u\" height=\"%u\"/>"
		"<path class=\"ud\" stroke-width=\"%u\" "
		"d=\"M%u %uH%uM%u %uH%u\"/></g>\n",
		edge, edge, line, near, half - line, far, near, half + line + 1,
		far);
	fprintf(file,
		"<g id=\"b\"><rect class=\"b\" x=\".5\" y=\".5\" "
		"width=\"%u\" height=\"%u\"/></g>\n</defs>\n",
		edge - 1, edge - 1);
}

static char shape(const struct reach_result *result)
{
	if (!result->is_known)
		return 'b';
	switch (result->reach) {
	case IBSA_REACH_YES:
		return 'y';
	case IBSA_REACH_NO:
		return 'n';
	default:
		return 'u';
	}
}

static void put_heading(FILE *file, const struct layout *layout,
			const struct reach_tally *tally)
{
	static const char shapes[] = "ynub";
	static const char *const words[] = { "reachable", "not reachable",
					     "unknown", "not asked" };
	const size_t numbers[] = { tally->yes, tally->no, tally->unknown,
				   tally->unasked };
	unsigned int x = MARGIN;

	fprintf(file,
		"<text class=\"h\" x=\"%d\" y=\"%d\">Reachability"
		"</text>\n"
		"<text class=\"p\" x=\"%d\" y=\"%d\">The port of a row reaches "
		"that of a column, as the SA says; %zu ports.</text>\n",
		MARGIN, MARGIN + 16, MARGIN, MARGIN + 36, layout->count);
	for (int i = 0; i < 4; i++) {
		fprintf(file,
			"<use href=\"#%c\" x=\"%u\" y=\"%u\"/>"
			"<text class=\"p\" x=\"%u\" y=\"%d\">%s: %zu</text>\n",
			shapes[i], x, MARGIN + 58 - layout->cell / 2,
			x + layout->cell + 4, MARGIN + 62, words[i],
			numbers[i]);
		x += 145;
	}
}

static void put_labels(FILE *file, const struct layout *layout,
		       const struct reach_targets *targets)
{
	fprintf(file, "<g font-size=\"%u\">\n", layout->font);
	for (size_t i = 0; i < layout->count; i++) {
		const size_t middle = i * layout->cell + layout->cell / 2 +
				      layout->font / 3;

		fprintf(file, "<text text-anchor=\"end\" x=\"%u\" y=\"%zu\">",
			layout->left - 4, layout->top + middle);
		put_label(file, targets->first[i]);
		fprintf(file,
			"</text><text transform=\"translate(%zu %u) "
			"rotate(-90)\">",
			layout->left + middle, layout->top - 4);
		put_label(file, targets->first[i]);
		fputs("</text>\n", file);
	}
	fputs("</g>\n", file);
}

static void put_title(FILE *file, const struct reach_target *from,
		      const struct reach_target *to,
		      const struct reach_result *result)
{
	char words[REASON_CELL_TEXT];
	const char *reason = result->is_known ? reach_reason(result, words)
					      : NULL;
	char text[REACH_TEXT];

	fputs("<title>", file);
	put_text(file, reach_target_label(from, text));
	fputs(" → ", file);
	put_text(file, reach_target_label(to, text));
	fprintf(file, ": %s",
		result->is_known ? reach_word(result) : "not asked");
	if (reason) {
		fputs(", ", file);
		put_text(file, reason);
	}
	fputs("</title>", file);
}

static void put_row(FILE *file, const struct layout *layout,
		    const struct reach_targets *targets, size_t from,
		    const struct reach_result *results)
{
	fputs("<g>\n", file);
	for (size_t to = 0; to < layout->count; to++) {
		fprintf(file, "<use href=\"#%c\" x=\"%zu\" y=\"%zu\">",
			shape(&results[to]), layout->left + to * layout->cell,
			layout->top + from * layout->cell);
		put_title(file, targets->first[from], targets->first[to],
			  &results[to]);
		fputs("</use>\n", file);
	}
	fputs("</g>\n", file);
}

void reach_svg(FILE *file, const struct reach_targets *targets,
	       const struct reach_result *results)
{
	const struct layout layout = lay_out(targets);
	const size_t edge = layout.count * layout.cell + MARGIN;
	const size_t width = layout.left + edge < WIDTH_MIN
				     ? WIDTH_MIN
				     : layout.left + edge;
	const size_t height = layout.top + edge;
	struct reach_tally tally = { .yes = 0 };

	for (size_t i = 0; i < layout.count * layout.count; i++)
		reach_count(&tally, &results[i]);
	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" "
		"width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\">\n"
		"<title>Reachability</title>\n",
		width, height, width, height);
	fputs(style, file);
	put_shapes(file, layout.cell);
	fprintf(file, "<rect width=\"%zu\" height=\"%zu\" fill=\"#fff\"/>\n",
		width, height);
	put_heading(file, &layout, &tally);
	put_labels(file, &layout, targets);
	for (size_t from = 0; from < layout.count; from++)
		put_row(file, &layout, targets, from,
			&results[from * layout.count]);
	fputs("</svg>", file);
}
