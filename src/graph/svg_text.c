/*
 * svg_text.c
 *		Texts of pictures: their widths, and how they are broken into lines.
 *
 * The server does not know the fonts of the program that shows a picture.
 * Widths are those of DejaVu Sans, one of the widest fonts in common use.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"

#include "graph/scene.h"

#define ELLIPSIS	"..."

/* Widths of ' ' to '~', in hundredths of the size of the font */
static const unsigned char ascii_widths[] = {
	32, 40, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 36, 32, 34,
	64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53,
	100, 68, 69, 70, 77, 63, 58, 77, 75, 30, 30, 66, 56, 86, 75, 79,
	60, 79, 70, 63, 61, 73, 68, 99, 69, 61, 69, 39, 34, 39, 84, 50,
	50, 61, 64, 55, 64, 62, 35, 64, 63, 28, 28, 58, 28, 97, 63, 61,
	64, 64, 41, 52, 39, 63, 59, 82, 59, 59, 53, 64, 34, 64, 84,
};

/* Width of a character in hundredths; East Asian ones are wider. */
static int
char_width(const char *ch)
{
	unsigned char first = *ch;

	if (first >= ' ' && first <= '~')
		return ascii_widths[first - ' '];
	if (!IS_HIGHBIT_SET(first))
		return ascii_widths[0];
	return pg_dsplen(ch) > 1 ? 100 : 70;
}

/* Width of a text in pixels, in a font of a size. */
int
sf_graph_text_width(const char *text, int size)
{
	int			width = 0;

	for (; *text != '\0'; text += pg_mblen(text))
		width += char_width(text);
	return (width * size + 99) / 100;
}

/* May a line end between two characters? */
static bool
may_break(const char *before, const char *after)
{
	if (strchr(" ._-:/,=&|)]>", *before) != NULL)
		return true;
	return (*before >= 'a' && *before <= 'z' && *after >= 'A' && *after <= 'Z') ||
		pg_dsplen(after) > 1;
}

/*
 * Find where the first line of a text ends: where it may be broken, unless
 * that makes it very short.
 */
static const char *
end_of_line(const char *text, int size, int max_width)
{
	const char *best = NULL;
	const char *previous = NULL;
	int			width = 0;

	for (const char *at = text; *at != '\0'; at += pg_mblen(at))
	{
		if (previous != NULL && width * size >= max_width * 30 && may_break(previous, at))
			best = at;
		width += char_width(at);
		if (previous != NULL && width * size > max_width * 100)
			return best != NULL ? best : at;
		previous = at;
	}
	return NULL;
}

/* Cut a text so that it ends within a width, with an ellipsis. */
static char *
cut_text(const char *text, int size, int max_width)
{
	int			room = max_width - sf_graph_text_width(ELLIPSIS, size);
	const char *end = text;
	int			width = 0;

	while (*end != '\0')
	{
		width += char_width(end);
		if (end > text && width * size > room * 100)
			break;
		end += pg_mblen(end);
	}
	return psprintf("%.*s" ELLIPSIS, (int) (end - text), text);
}

/* Where the next line of a text begins. */
static const char *
next_line(const char *end)
{
	while (*end == ' ')
		end++;
	return end;
}

/* Count the lines that a text takes. */
static int
count_lines(const char *text, int size, int width)
{
	int			n = 1;

	while ((text = end_of_line(text, size, width)) != NULL)
	{
		text = next_line(text);
		n++;
	}
	return n;
}

/* Find a width at which a text takes as many lines as at the greatest, of more equal lengths. */
static int
balanced_width(const char *text, int size, int max_width)
{
	int			n = count_lines(text, size, max_width);
	int			width = sf_graph_text_width(text, size) / n;

	while (width < max_width && count_lines(text, size, width) > n)
		width += 6;
	return Min(width, max_width);
}

/* Add a line to a block. */
static void
add_line(SfTextBlock *block, char *line, int size)
{
	block->lines[block->nlines++] = line;
	block->w = Max(block->w, sf_graph_text_width(line, size));
}

/*
 * Break a text into lines, and add them to a block.  What does not fit into
 * max_lines of max_width pixels is left out.
 */
void
sf_graph_text_wrap(SfTextBlock *block, const char *text, int size,
				   int max_width, int max_lines)
{
	int			last = Min(SF_GRAPH_MAX_LINES, block->nlines + max_lines) - 1;

	if (block->nlines < last)
		max_width = balanced_width(text, size, max_width);
	while (block->nlines <= last)
	{
		const char *end = end_of_line(text, size, max_width);

		if (end == NULL)
		{
			add_line(block, pstrdup(text), size);
			return;
		}
		if (block->nlines == last)
		{
			add_line(block, cut_text(text, size, max_width), size);
			return;
		}
		add_line(block, pnstrdup(text, end - text), size);
		text = next_line(end);
	}
}

/* --- lines of a scene in the language of SVG's path data --- */

/* Append what a path draws: straight down or up, or a curve to another point. */
void
sf_scene_append_line(StringInfo out, const SfSceneScope *drawn, const SfLayoutPath *path)
{
	SfLayoutPoint last = path->points[0];

	appendStringInfo(out, "M%d,%d", drawn->x + last.x, drawn->y + last.y);
	if (path->is_loop)
	{
		SfLayoutPoint end = path->points[1];

		appendStringInfo(out, "C%d,%d %d,%d %d,%d",
						 drawn->x + last.x + path->bulge, drawn->y + last.y + 8,
						 drawn->x + end.x + path->bulge, drawn->y + end.y - 8,
						 drawn->x + end.x, drawn->y + end.y);
		return;
	}
	for (int i = 1; i < path->npoints; i++)
	{
		SfLayoutPoint next = path->points[i];
		int			middle = drawn->y + (last.y + next.y) / 2;

		if (next.x == last.x)
			appendStringInfo(out, "V%d", drawn->y + next.y);
		else
			appendStringInfo(out, "C%d,%d %d,%d %d,%d", drawn->x + last.x, middle,
							 drawn->x + next.x, middle,
							 drawn->x + next.x, drawn->y + next.y);
		last = next;
	}
}

/* Append the head of the arrow at the end of a path. */
void
sf_scene_append_head(StringInfo out, const SfSceneScope *drawn, const SfLayoutPath *path)
{
	SfLayoutPoint end = path->points[path->npoints - 1];
	int			back = path->points[path->npoints - 2].y < end.y ? -8 : 8;

	appendStringInfo(out, "M%d,%d", drawn->x + end.x, drawn->y + end.y);
	if (path->is_loop)
		appendStringInfo(out, "l%d,-4v8z", path->bulge > 0 ? 8 : -8);
	else
		appendStringInfo(out, "l-4,%dh8z", back);
}
