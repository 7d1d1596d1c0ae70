/*
 * render.c
 *		Draw a program in one of the formats.
 */
#include "postgres.h"

#include "base/error/errors.h"
#include "graph/graph.h"

typedef struct Format
{
	const char *name;
	void		(*draw) (SfDrawing *d);
} Format;

static const Format formats[] = {
	{"mermaid", sf_graph_mermaid},
	{"dot", sf_graph_dot},
	{"svg", sf_graph_svg},
};

/*
 * Draw a program.  format is "mermaid", "dot" or "svg"; facts has what
 * an execution did in each state, by number, or is NULL for a machine by itself.
 * ereports ERRCODE_INVALID_PARAMETER_VALUE for another format.
 */
char *
sf_graph_render(const SfProgram *program, const char *format,
				const SfGraphFacts *facts)
{
	StringInfoData out;
	SfDrawing	d = {&out, program, facts,.depth = 1};

	for (size_t i = 0; i < lengthof(formats); i++)
	{
		if (strcmp(formats[i].name, format) == 0)
		{
			initStringInfo(&out);
			formats[i].draw(&d);
			return out.data;
		}
	}
	ereport(ERROR,
			(errcode(ERRCODE_SF_INVALID_OPTION),
			 errmsg("unknown graph format \"%s\"", format),
			 errhint("The formats are \"mermaid\", \"dot\" and \"svg\".")));
}
