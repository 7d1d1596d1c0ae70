/*
 * render.c
 *		Draw a program in one of the formats.
 */
#include "postgres.h"

#include "base/name/name.h"
#include "graph/graph.h"

static const char *const formats[] = {"mermaid", "dot", "svg"};

/* What draws in each of them */
static void (*const draws[]) (SfDrawing *d) = {sf_graph_mermaid, sf_graph_dot, sf_graph_svg};

/*
 * Draw a program.  format is "mermaid", "dot" or "svg"; facts has what
 * an execution did in each state, by number, or is NULL for a machine by itself.
 * Raises SF012 for another format.
 */
char *
sf_graph_render(const SfProgram *program, const char *format,
				const SfGraphFacts *facts)
{
	StringInfoData out;
	SfDrawing	drawing = {&out, program, facts,.depth = 1};
	int			number = sf_argument_word("format", format, formats, lengthof(formats));

	initStringInfo(&out);
	draws[number] (&drawing);
	return out.data;
}
