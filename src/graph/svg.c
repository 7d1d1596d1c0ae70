/*
 * svg.c
 *		A program as an SVG picture.
 *
 * The picture is a document of its own, and may as well stand in a page.  Each
 * state, line and label is an element with an id, and says what it shows
 * (data-state, data-status, data-from, data-to), so that a page can style it.
 * Colours are CSS variables with values for light and dark pages; a program
 * that does not know variables uses the light ones.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/scene.h"

#define LEGEND_WIDTH	94		/* of one status */
#define LEGEND_HEIGHT	20

typedef struct Svg
{
	StringInfo	out;
	const SfScene *scene;
	const SfProgram *program;
	int			nlines;			/* drawn so far */
} Svg;

/* Colours: name of the CSS variable, on a light page, on a dark one */
#define COLOUR_LIST(X) \
	X(page, "#ffffff", "#0d1117") \
	X(text, "#1b1f24", "#e6edf3") \
	X(muted, "#57606a", "#9da7b3") \
	X(line, "#6e7781", "#8b949e") \
	X(catch, "#b3261e", "#ff7b72") \
	X(frame, "#b0b0b0", "#545d68")

typedef struct Colour
{
	const char *name;
	const char *light;
	const char *dark;
} Colour;

#define COLOUR_ROW(name, light, dark) {#name, light, dark},
static const Colour colours[] = {
	COLOUR_LIST(COLOUR_ROW)
};

#define COLOUR_ENUM(name, light, dark) COLOUR_##name,
enum
{
	COLOUR_LIST(COLOUR_ENUM)
};

typedef struct Rule
{
	const char *selector;
	const char *property;
	int			colour;
	const char *more;
} Rule;

static const Rule rules[] = {
	{"text", "fill", COLOUR_text,
	"font:12px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;text-anchor:middle"},
	{".name", "fill", COLOUR_text, "font-weight:500"},
	{".small", "fill", COLOUR_muted, "font-size:10px"},
	{".label text", "fill", COLOUR_muted, "font-size:10px"},
	{".label.catch text", "fill", COLOUR_catch, ""},
	{".state.skip>text", "fill", COLOUR_muted, ""},
	{".page", "fill", COLOUR_page, ""},
	{".label rect", "fill", COLOUR_page, ""},
	{".branch", "fill", COLOUR_page, ""},
	{".branch", "stroke", COLOUR_frame, "stroke-dasharray:4 3"},
	{".line", "stroke", COLOUR_line, "fill:none;stroke-width:1.2"},
	{".line.catch", "stroke", COLOUR_catch, "stroke-dasharray:5 3"},
	{".head", "fill", COLOUR_line, ""},
	{".head.catch", "fill", COLOUR_catch, ""},
	{".start", "fill", COLOUR_line, ""},
	{".end", "fill", COLOUR_line, ""},
	{".ring", "stroke", COLOUR_line, "fill:none"},
};

/* --- text --- */

/* Append text as XML has it; line ends, too, which titles keep. */
static void
append_text(StringInfo out, const char *text)
{
	sf_graph_append(out, text, "&<>\"'\n", "&#%d;");
}

/* Append an attribute. */
static void
append_attribute(StringInfo out, const char *name, const char *value)
{
	appendStringInfo(out, " %s=\"", name);
	append_text(out, value);
	appendStringInfoChar(out, '"');
}

/* Append a title, which browsers show as a tooltip. */
static void
append_title(StringInfo out, const char *text)
{
	appendStringInfoString(out, "<title>");
	append_text(out, text);
	appendStringInfoString(out, "</title>");
}

/* Draw lines of text, centred, from the upper edge y on; returns the lower edge. */
static int
draw_block(Svg *svg, const char *class, const SfTextBlock *block, int x, int y,
		   int line_height)
{
	for (int i = 0; i < block->nlines; i++)
	{
		appendStringInfoString(svg->out, "<text");
		if (class != NULL)
			append_attribute(svg->out, "class", class);
		appendStringInfo(svg->out, " x=\"%d\" y=\"%d\">", x, y + line_height - 3);
		append_text(svg->out, block->lines[i]);
		appendStringInfoString(svg->out, "</text>");
		y += line_height;
	}
	return y;
}

/* --- lines --- */

/* The name of what a box of a scope shows. */
static const char *
box_name(const Svg *svg, const SfSceneScope *drawn, int box)
{
	return sf_scene_box_name(svg->program, drawn->boxes[box]);
}

/* Draw the head of an arrow at the end of a path. */
static void
draw_head(Svg *svg, const SfSceneScope *drawn, const SfLayoutPath *path)
{
	appendStringInfo(svg->out, "<path class=\"head%s\" d=\"", path->kind ? " catch" : "");
	sf_scene_append_head(svg->out, drawn, path);
	appendStringInfoString(svg->out, "\"/>");
}

/* Draw a line, a trunk, or the part of a line up to a trunk. */
static void
draw_path(Svg *svg, const SfSceneScope *drawn, const SfLayoutPath *path)
{
	appendStringInfo(svg->out, "<g id=\"line-%d\"", svg->nlines++);
	if (path->line != SF_LAYOUT_TRUNK)
		append_attribute(svg->out, "data-from",
						 box_name(svg, drawn, drawn->layout.lines[path->line].from));
	append_attribute(svg->out, "data-to", box_name(svg, drawn, path->to));
	appendStringInfo(svg->out, "><path class=\"line%s\" d=\"", path->kind ? " catch" : "");
	sf_scene_append_line(svg->out, drawn, path);
	appendStringInfoString(svg->out, "\"/>");
	if (path->has_arrow)
		draw_head(svg, drawn, path);
	appendStringInfoString(svg->out, "</g>\n");
}

/* Draw the label of a line. */
static void
draw_label(Svg *svg, const SfSceneScope *drawn, int line)
{
	const SfLayoutLine *l = &drawn->layout.lines[line];
	int			x = drawn->x + l->label_x;
	int			y = drawn->y + l->label_y;

	appendStringInfo(svg->out, "<g class=\"label%s\"", l->kind ? " catch" : "");
	append_attribute(svg->out, "data-from", box_name(svg, drawn, l->from));
	append_attribute(svg->out, "data-to", box_name(svg, drawn, l->to));
	appendStringInfoChar(svg->out, '>');
	if (drawn->titles[line] != NULL)
		append_title(svg->out, drawn->titles[line]);
	appendStringInfo(svg->out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
					 x, y, l->label_w, l->label_h);
	draw_block(svg, NULL, &drawn->labels[line], x + l->label_w / 2,
			   y + SF_SCENE_LABEL_PAD, SF_SCENE_SMALL_LINE);
	appendStringInfoString(svg->out, "</g>\n");
}

/* --- states --- */

static void draw_scope(Svg *svg, const SfSceneScope *drawn);

/* Draw a branch of a Parallel or Map state, a net, or the states of a job, in its frame. */
static void
draw_branch(Svg *svg, const SfSceneScope *drawn)
{
	const SfSceneFrame *frame = &drawn->frame;
	int			middle = frame->x + frame->w / 2;
	int			y = frame->y + SF_SCENE_BOX_PAD;

	appendStringInfo(svg->out, "<rect class=\"branch\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n",
					 frame->x, frame->y, frame->w, frame->h);
	y = draw_block(svg, "name", &frame->name, middle, y, SF_SCENE_NAME_LINE);
	draw_block(svg, "small", &frame->small, middle, y, SF_SCENE_SMALL_LINE);
	draw_scope(svg, drawn);
}

/* Draw a job that is a flow of states, with its name. */
static void
draw_flow(Svg *svg, int scope)
{
	const char *name = sf_scene_box_name(svg->program, (SfSceneBox) {SF_SCENE_FLOW, scope});

	appendStringInfoString(svg->out, "<g class=\"job\"");
	append_attribute(svg->out, "data-job", name);
	appendStringInfoChar(svg->out, '>');
	append_title(svg->out, name);
	draw_branch(svg, &svg->scene->scopes[scope]);
	appendStringInfoString(svg->out, "</g>\n");
}

/* Draw one state; those inside it stand in the same element. */
static void
draw_state(Svg *svg, const SfState *state)
{
	const SfSceneState *box = &svg->scene->states[state->number];
	const SfGraphFacts *facts = svg->scene->facts;
	const char *type = sf_state_type_name(state->type);
	const char *status = facts == NULL ? "entry" :
		sf_graph_statuses[facts[state->number].status].name;
	int			middle = box->x + box->w / 2;
	int			y = box->y + SF_SCENE_BOX_PAD;

	appendStringInfo(svg->out, "<g class=\"state %s\" id=\"state-%d\"", status, state->number);
	append_attribute(svg->out, "data-state", state->name);
	append_attribute(svg->out, "data-type", type);
	if (facts != NULL)
		append_attribute(svg->out, "data-status", status);
	appendStringInfoChar(svg->out, '>');
	append_title(svg->out, psprintf("%s\n%s", state->name, sf_graph_subtitle(state)));
	appendStringInfo(svg->out, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"%s/>\n",
					 box->x, box->y, box->w, box->h, box->corner,
					 facts != NULL && facts[state->number].aborted ? " stroke-dasharray=\"4 3\"" : "");
	y = draw_block(svg, "name", &box->name, middle, y, SF_SCENE_NAME_LINE);
	draw_block(svg, "small", &box->small, middle, y, SF_SCENE_SMALL_LINE);
	if (box->net != NULL)
		draw_branch(svg, box->net);
	for (int i = 0; i < state->nscopes && box->net == NULL; i++)
		draw_branch(svg, &svg->scene->scopes[state->scopes[i]]);
	appendStringInfoString(svg->out, "</g>\n");
}

/* Draw where the machine begins, or where it can end. */
static void
draw_end(Svg *svg, const SfSceneScope *drawn, int box)
{
	const SfLayoutBox *shown = &drawn->layout.boxes[box];
	int			x = drawn->x + shown->x + shown->w / 2;
	int			y = drawn->y + shown->y + shown->h / 2;

	if (drawn->boxes[box].kind == SF_SCENE_START)
		appendStringInfo(svg->out, "<circle class=\"start\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>\n",
						 x, y, shown->w / 2);
	else
		appendStringInfo(svg->out, "<circle class=\"ring\" cx=\"%d\" cy=\"%d\" r=\"%d\"/>"
						 "<circle class=\"end\" cx=\"%d\" cy=\"%d\" r=\"4\"/>\n",
						 x, y, shown->w / 2, x, y);
}

/* Draw a scope: the lines below the labels, and these below the boxes. */
static void
draw_scope(Svg *svg, const SfSceneScope *drawn)
{
	check_stack_depth();
	for (int i = 0; i < drawn->layout.npaths; i++)
	{
		CHECK_FOR_INTERRUPTS();
		draw_path(svg, drawn, &drawn->layout.paths[i]);
	}
	for (int i = 0; i < drawn->layout.nlines; i++)
		if (drawn->labels[i].nlines > 0)
			draw_label(svg, drawn, i);
	for (int i = 0; i < drawn->layout.nboxes; i++)
	{
		CHECK_FOR_INTERRUPTS();
		switch (drawn->boxes[i].kind)
		{
			case SF_SCENE_STATE:
				draw_state(svg, &svg->program->states[drawn->boxes[i].number]);
				break;
			case SF_SCENE_FLOW:
				draw_flow(svg, drawn->boxes[i].number);
				break;
			case SF_SCENE_START:
			case SF_SCENE_END:
				draw_end(svg, drawn, i);
				break;
		}
	}
}

/* --- the document --- */

/* Say what the colours mean. */
static void
draw_legend(Svg *svg, int nstatuses, int y)
{
	for (int i = 0; i < nstatuses; i++)
	{
		int			x = SF_SCENE_MARGIN + i * LEGEND_WIDTH;

		appendStringInfo(svg->out,
						 "<g class=\"state %s\"><rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
						 "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text></g>\n",
						 sf_graph_statuses[i].name, x, y, LEGEND_WIDTH - 6, LEGEND_HEIGHT,
						 x + LEGEND_WIDTH / 2 - 3, y + 14, sf_graph_statuses[i].name);
	}
}

/* Define the variables of the colours, for light or dark pages. */
static void
append_variables(StringInfo out, bool dark)
{
	appendStringInfoString(out, ".sfflow{");
	for (size_t i = 0; i < lengthof(colours); i++)
		appendStringInfo(out, "--sf-%s:%s;", colours[i].name,
						 dark ? colours[i].dark : colours[i].light);
	for (int i = 0; i <= SF_GRAPH_UNKNOWN; i++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[i];

		appendStringInfo(out, "--sf-%s:%s;--sf-%s-border:%s;",
						 info->name, dark ? info->dark_fill : info->fill,
						 info->name, dark ? info->dark_border : info->border);
	}
	appendStringInfoString(out, "}");
}

/* Append the style sheet. */
static void
append_style(StringInfo out)
{
	appendStringInfoString(out, "<style>\n");
	append_variables(out, false);
	appendStringInfoString(out, "\n@media (prefers-color-scheme:dark){");
	append_variables(out, true);
	appendStringInfoString(out, "}\n");
	for (size_t i = 0; i < lengthof(rules); i++)
	{
		const Rule *rule = &rules[i];
		const Colour *colour = &colours[rule->colour];

		appendStringInfo(out, ".sfflow %s{%s:%s;%s:var(--sf-%s);%s}\n", rule->selector,
						 rule->property, colour->light, rule->property, colour->name,
						 rule->more);
	}
	for (int i = 0; i <= SF_GRAPH_UNKNOWN; i++)
	{
		const SfGraphStatusInfo *info = &sf_graph_statuses[i];

		/* not the boxes inside of a box of that status */
		appendStringInfo(out, ".sfflow .state.%s>.box{fill:%s;fill:var(--sf-%s);stroke:%s;stroke:var(--sf-%s-border)%s}\n",
						 info->name, info->fill, info->name, info->border, info->name,
						 info->dashed ? ";stroke-dasharray:4 3" : "");
	}
	appendStringInfoString(out, "</style>\n");
}

/* Draw a program as a document of its own. */
void
sf_graph_svg(SfDrawing *drawing)
{
	SfScene    *scene = sf_scene_make(drawing->program, drawing->facts);
	Svg			svg = {.out = drawing->out, .scene = scene, .program = drawing->program};
	int			nstatuses = drawing->facts == NULL ? 0 :
		sf_graph_legend_size(drawing->program, drawing->facts);
	int			w = scene->w;
	int			h = scene->h;

	if (nstatuses > 0)
	{
		w = Max(w, 2 * SF_SCENE_MARGIN + nstatuses * LEGEND_WIDTH);
		h += LEGEND_HEIGHT + SF_SCENE_MARGIN;
	}
	appendStringInfo(drawing->out,
					 "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sfflow\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
					 w, h, w, h);
	append_style(drawing->out);
	appendStringInfo(drawing->out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", w, h);
	draw_scope(&svg, &scene->scopes[0]);
	draw_legend(&svg, nstatuses, scene->h);
	appendStringInfoString(drawing->out, "</svg>\n");
}
