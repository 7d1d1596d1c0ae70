/*
 * scene_lines.c
 *		Lines of a scene in the language of SVG's path data.
 */
#include "postgres.h"

#include "graph/scene.h"

/* Append what a path draws: straight down or up, or a curve to another place. */
void
sf_scene_append_line(StringInfo out, const SfSceneScope *drawn, const SfLayoutPath *path)
{
	SfLayoutPoint last = path->points[0];

	appendStringInfo(out, "M%d,%d", drawn->x + last.x, drawn->y + last.y);
	if (path->loop)
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
	if (path->loop)
		appendStringInfo(out, "l%d,-4v8z", path->bulge > 0 ? 8 : -8);
	else
		appendStringInfo(out, "l-4,%dh8z", back);
}
