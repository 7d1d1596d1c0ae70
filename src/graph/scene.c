/*
 * scene.c
 *		Lay a program out.
 *
 * Transitions stay within a scope, so each scope has a layout of its own.
 * Inner scopes come first: a Parallel or Map state is a box that has room for
 * its branches side by side.  A JobNet is one that has room for the layout of its
 * jobs, in which a line leads to each job from those that it waits for; a job that
 * is a flow of states is a frame there.  Then coordinates become absolute, outer scopes
 * first.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/scene.h"

#define NAME_WIDTH		190		/* at most, of a state's name in a simple box */
#define LABEL_WIDTH		150
#define LINES_PER_LABEL	3
#define BOX_MIN_WIDTH	90
#define BOX_CORNER		6
#define PORT_WIDTH		10		/* of a box, for each line that leaves it */
#define START_SIZE		12
#define END_SIZE		16
#define TITLE_LENGTH	4000	/* bytes of a line's tooltip, after which no label is added */

/* --- texts --- */

/* The second line of a state: the resource of a task without its ARN's head, or the type. */
static const char *
subtitle(const SfState *state)
{
	const char *text = sf_graph_subtitle(state);

	if (state->type == SF_STATE_TASK && strncmp(text, "arn:", 4) == 0)
	{
		const SfResource *resource = &sf_state_task(state)->resource;

		return psprintf("%s:%s", resource->service, resource->action);
	}
	return sf_state_is_distributed(state) ? "Map, distributed" : text;
}

/* A duration for people: three digits or so. */
static const char *
duration_text(int64 microseconds)
{
	double		seconds = microseconds / 1000000.0;
	int64		whole = microseconds / 1000000;

	if (seconds < 1)
		return psprintf("%d ms", (int) (microseconds / 1000));
	if (seconds < 60)
		return psprintf("%.1f s", seconds);
	if (seconds < 3600)
		return psprintf("%d min %d s", (int) (whole / 60), (int) (whole % 60));
	if (seconds < 48 * 3600)
		return psprintf("%d h %d min", (int) (whole / 3600), (int) (whole / 60 % 60));
	return psprintf("%d d %d h", (int) (whole / 86400), (int) (whole / 3600 % 24));
}

/* Does a state of a type take time?  The others do their work at once. */
static bool
takes_time(SfStateType type)
{
	return type == SF_STATE_TASK || type == SF_STATE_WAIT ||
		type == SF_STATE_PARALLEL || type == SF_STATE_MAP || type == SF_STATE_JOBNET;
}

/* Add a part to a line that has parts, separated by commas. */
static void
add_part(StringInfo line, const char *part)
{
	appendStringInfo(line, "%s%s", line->len > 0 ? ", " : "", part);
}

/* Add how often and how long an execution was in a state. */
static void
add_visits(SfTextBlock *block, const SfState *state, const SfGraphFacts *facts)
{
	StringInfoData line;

	initStringInfo(&line);
	if (facts->aborted)
		add_part(&line, "aborted");
	if (facts->visits > 1)
		add_part(&line, psprintf("%d visits", facts->visits));
	if (facts->attempts > Max(facts->visits, 1))
		add_part(&line, psprintf("%d attempts", facts->attempts));
	if (sf_duration_is_known(facts->duration) && takes_time(state->type))
		add_part(&line, psprintf("%s%s", duration_text(facts->duration),
								 facts->status == SF_GRAPH_RUNNING ? " so far" : ""));
	if (line.len > 0)
		sf_graph_text_wrap(block, line.data, SF_SCENE_SMALL_SIZE, NAME_WIDTH, 2);
}

/* Add how many iterations of a Map have ended. */
static void
add_iterations(SfTextBlock *block, const SfGraphFacts *facts)
{
	StringInfoData line;

	if (facts->iterations == SF_NO_ITERATIONS)
		return;
	initStringInfo(&line);
	if (facts->iterations_succeeded < facts->iterations)
		appendStringInfo(&line, INT64_FORMAT " of ", facts->iterations_succeeded);
	appendStringInfo(&line, INT64_FORMAT " iterations", facts->iterations);
	if (facts->iterations_failed > 0)
		add_part(&line, psprintf(INT64_FORMAT " failed", facts->iterations_failed));
	sf_graph_text_wrap(block, line.data, SF_SCENE_SMALL_SIZE, NAME_WIDTH, 2);
}

/* Add the condition under which a job runs. */
static void
add_condition(SfTextBlock *block, const char *condition)
{
	if (condition != NULL)
		sf_graph_text_wrap(block, condition, SF_SCENE_SMALL_SIZE, NAME_WIDTH, 2);
}

/* --- sizes --- */

static void lay_out_scope(SfScene *scene, const SfScope *scope);
static void lay_out_net(SfScene *scene, const SfState *net);

/* Make a box large enough for branches side by side, below its texts. */
static void
add_branches(SfScene *scene, const SfState *state)
{
	SfSceneState *drawn = &scene->states[state->number];
	int			top = drawn->h;
	int			x = SF_SCENE_BRANCH_PAD;
	int			height = 0;
	int			slack;

	for (int i = 0; i < state->nscopes; i++)
	{
		SfSceneScope *inner = &scene->scopes[state->scopes[i]];

		lay_out_scope(scene, &scene->program->scopes[state->scopes[i]]);
		inner->frame = (SfSceneFrame)
		{
			.x = x,
			.y = top,
			.w = inner->layout.w + 2 * SF_SCENE_BRANCH_PAD,
			.h = inner->layout.h + 2 * SF_SCENE_BRANCH_PAD
		};
		inner->x = x + SF_SCENE_BRANCH_PAD;
		inner->y = top + SF_SCENE_BRANCH_PAD;
		x += inner->layout.w + 3 * SF_SCENE_BRANCH_PAD;
		height = Max(height, inner->layout.h);
	}
	slack = Max(0, drawn->w - x);
	drawn->w = Max(drawn->w, x);
	drawn->h = top + height + 3 * SF_SCENE_BRANCH_PAD;
	for (int i = 0; i < state->nscopes; i++)
	{
		scene->scopes[state->scopes[i]].x += slack / 2;
		scene->scopes[state->scopes[i]].frame.x += slack / 2;
	}
}

/* Make a box large enough for a net, below its texts. */
static void
add_net(SfScene *scene, const SfState *state)
{
	SfSceneState *drawn = &scene->states[state->number];
	SfSceneFrame *frame;

	lay_out_net(scene, state);
	frame = &drawn->net->frame;
	frame->w = drawn->net->layout.w + 2 * SF_SCENE_BRANCH_PAD;
	frame->h = drawn->net->layout.h + 2 * SF_SCENE_BRANCH_PAD;
	drawn->w = Max(drawn->w, frame->w + 2 * SF_SCENE_BRANCH_PAD);
	frame->x = (drawn->w - frame->w) / 2;
	frame->y = drawn->h;
	drawn->net->x = frame->x + SF_SCENE_BRANCH_PAD;
	drawn->net->y = frame->y + SF_SCENE_BRANCH_PAD;
	drawn->h = frame->y + frame->h + SF_SCENE_BRANCH_PAD;
}

/* Find out how large a state is drawn. */
static void
measure_state(SfScene *scene, const SfState *state)
{
	SfSceneState *drawn = &scene->states[state->number];
	int			pad;

	sf_graph_text_wrap(&drawn->name, state->name, SF_SCENE_NAME_SIZE, NAME_WIDTH, 3);
	sf_graph_text_wrap(&drawn->small, subtitle(state), SF_SCENE_SMALL_SIZE, NAME_WIDTH, 1);
	add_condition(&drawn->small, sf_graph_state_condition(scene->program, state));
	if (scene->facts != NULL)
	{
		add_visits(&drawn->small, state, &scene->facts[state->number]);
		add_iterations(&drawn->small, &scene->facts[state->number]);
	}
	drawn->h = drawn->name.nlines * SF_SCENE_NAME_LINE +
		drawn->small.nlines * SF_SCENE_SMALL_LINE + 2 * SF_SCENE_BOX_PAD;
	drawn->corner = state->type == SF_STATE_CHOICE ? drawn->h / 2 : BOX_CORNER;
	pad = state->type == SF_STATE_CHOICE ? drawn->h / 3 : SF_SCENE_BOX_PAD;
	drawn->w = Max(drawn->name.w, drawn->small.w) + 2 * pad + 6;
	drawn->w = Max(drawn->w, BOX_MIN_WIDTH);
	if (state->type == SF_STATE_JOBNET)
		add_net(scene, state);
	else if (state->nscopes > 0)
		add_branches(scene, state);
}

/* --- lines --- */

typedef struct LineCollector
{
	SfScene    *scene;
	SfSceneScope *drawn;
	int		   *box_of;			/* by state - the scope's first */
	int			first;
	int			size;
	int			first_of_state; /* first line of the state that is visited */
} LineCollector;

/* The kind of line that a transition is drawn as. */
static SfLayoutKind
line_kind(SfEdgeKind kind)
{
	return kind == SF_EDGE_CATCH ? SF_LAYOUT_CATCH : SF_LAYOUT_MAIN;
}

/* Reserve a line, and say what is drawn if it is cut. */
static SfLayoutLine *
add_line(LineCollector *collector, int from, int to, SfLayoutKind kind, const char *target)
{
	SfLayout   *layout = &collector->drawn->layout;
	SfLayoutLine *line;

	if (layout->nlines == collector->size)
	{
		collector->size = Max(16, collector->size * 2);
		layout->lines = layout->lines == NULL ? palloc(sizeof(SfLayoutLine) * collector->size)
			: repalloc_huge(layout->lines, sizeof(SfLayoutLine) * collector->size);
		collector->drawn->labels = collector->drawn->labels == NULL ? palloc(sizeof(SfTextBlock) * collector->size)
			: repalloc_huge(collector->drawn->labels, sizeof(SfTextBlock) * collector->size);
		collector->drawn->titles = collector->drawn->titles == NULL ? palloc(sizeof(char *) * collector->size)
			: repalloc_huge(collector->drawn->titles, sizeof(char *) * collector->size);
	}
	line = &layout->lines[layout->nlines];
	memset(line, 0, sizeof(*line));
	memset(&collector->drawn->labels[layout->nlines], 0, sizeof(SfTextBlock));
	collector->drawn->titles[layout->nlines] = NULL;
	line->from = from;
	line->to = to;
	line->kind = kind;
	line->stub_w = Min(LABEL_WIDTH, sf_graph_text_width(target, SF_SCENE_SMALL_SIZE)) +
		2 * SF_SCENE_LABEL_PAD + 30;
	line->stub_h = SF_SCENE_SMALL_LINE + 2 * SF_SCENE_LABEL_PAD;
	layout->nlines++;
	return line;
}

/* Add a label to a line; lines of one kind between two boxes are one line. */
static void
add_label(LineCollector *collector, int index, const char *label)
{
	SfLayoutLine *line = &collector->drawn->layout.lines[index];
	SfTextBlock *block = &collector->drawn->labels[index];
	char	  **title = &collector->drawn->titles[index];

	CHECK_FOR_INTERRUPTS();
	if (*title == NULL)
		*title = pstrdup(label);
	else if (strlen(*title) < TITLE_LENGTH)
	{
		char	   *old = *title;

		*title = psprintf("%s\n%s", old, label);
		pfree(old);
	}
	sf_graph_text_wrap(block, label, SF_SCENE_SMALL_SIZE, LABEL_WIDTH, LINES_PER_LABEL);
	line->label_w = block->w + 2 * SF_SCENE_LABEL_PAD;
	line->label_h = block->nlines * SF_SCENE_SMALL_LINE + 2 * SF_SCENE_LABEL_PAD;
}

/* Note a transition. */
static void
collect_line(void *arg, const SfState *from, int to, SfEdgeKind kind, const char *label)
{
	LineCollector *collector = arg;
	SfLayout   *layout = &collector->drawn->layout;
	int			from_box = collector->box_of[from->number - collector->first];
	int			to_box = collector->box_of[to - collector->first];
	int			i = collector->first_of_state;

	while (i < layout->nlines && (layout->lines[i].to != to_box ||
								  layout->lines[i].kind != line_kind(kind)))
		i++;
	if (i == layout->nlines)
		add_line(collector, from_box, to_box, line_kind(kind),
				 collector->scene->program->states[to].name);
	if (label != NULL)
		add_label(collector, i, label);
}

/* Note that a job waits for another one; the boxes of a net are its jobs by number. */
static void
collect_link(void *arg, const SfState *net, int from, int to, SfEdgeKind kind,
			 const char *label)
{
	LineCollector *collector = arg;

	add_line(collector, from, to, line_kind(kind), sf_state_net(net)->jobs[to].name);
	if (label != NULL)
		add_label(collector, collector->drawn->layout.nlines - 1, label);
}

/* Does a line lead from a state of a scope to the end?  A Fail state is an end itself. */
static bool
leads_to_end(const SfScope *scope, const SfState *state)
{
	return sf_graph_ends(scope, state) && state->type != SF_STATE_FAIL;
}

/* Collect the lines of a scope; the last box, if it is the end, has those of the states that end. */
static void
collect_lines(LineCollector *collector, const SfScope *scope)
{
	SfLayout   *layout = &collector->drawn->layout;

	if (collector->drawn->boxes[0].kind == SF_SCENE_START)
		add_line(collector, 0, 1, SF_LAYOUT_MAIN, "");
	for (int i = 0; i < layout->nboxes; i++)
	{
		const SfState *state;

		CHECK_FOR_INTERRUPTS();
		if (collector->drawn->boxes[i].kind != SF_SCENE_STATE)
			continue;
		state = &collector->scene->program->states[collector->drawn->boxes[i].number];
		collector->first_of_state = layout->nlines;
		sf_graph_visit_edges(state, collect_line, collector);
		if (layout->last != SF_LAYOUT_NO_BOX && leads_to_end(scope, state))
			add_line(collector, i, layout->last, SF_LAYOUT_MAIN, "End");
	}
}

/* Widen the boxes that many lines leave, so that these stay apart. */
static void
make_room_for_lines(SfLayout *layout)
{
	int		   *nlines = palloc0(sizeof(int) * layout->nboxes);

	for (int i = 0; i < layout->nlines; i++)
		nlines[layout->lines[i].from]++;
	for (int i = 0; i < layout->nboxes; i++)
		if (nlines[i] > 1)
			layout->boxes[i].w = Max(layout->boxes[i].w,
									 nlines[i] * PORT_WIDTH + 2 * layout->boxes[i].corner);
	pfree(nlines);
}

/* --- scopes --- */

/* Add a box to a scope's layout; number is that of a state, or of the scope of a flow, else 0. */
static void
add_box(SfSceneScope *drawn, SfSceneBoxKind kind, int number, int w, int h, int corner)
{
	SfLayoutBox *box = &drawn->layout.boxes[drawn->layout.nboxes];

	memset(box, 0, sizeof(*box));
	box->w = w;
	box->h = h;
	box->corner = corner;
	drawn->boxes[drawn->layout.nboxes++] = (SfSceneBox) {kind, number};
}

/* Add a state's box. */
static void
add_state_box(SfScene *scene, SfSceneScope *drawn, int number, int *box_of)
{
	const SfSceneState *state = &scene->states[number];

	*box_of = drawn->layout.nboxes;
	add_box(drawn, SF_SCENE_STATE, number, state->w, state->h, state->corner);
}

/* List the boxes of a scope: its first state, then the others, between start and end. */
static void
list_boxes(SfScene *scene, const SfScope *scope, int *box_of)
{
	SfSceneScope *drawn = &scene->scopes[scope->number];
	bool		is_machine = scope->owner_state == SF_NO_STATE;
	bool		ends = false;
	int			most = scope->last - scope->first + 3;

	drawn->layout.boxes = palloc(sizeof(SfLayoutBox) * most);
	drawn->boxes = palloc(sizeof(SfSceneBox) * most);
	drawn->layout.first = 0;
	drawn->layout.last = SF_LAYOUT_NO_BOX;
	if (is_machine)
		add_box(drawn, SF_SCENE_START, 0, START_SIZE, START_SIZE, 0);
	add_state_box(scene, drawn, scope->start, &box_of[scope->start - scope->first]);
	for (int i = scope->first; i <= scope->last; i++)
	{
		const SfState *state = &scene->program->states[i];

		if (state->scope != scope->number)
			continue;
		if (i != scope->start)
			add_state_box(scene, drawn, i, &box_of[i - scope->first]);
		ends = ends || leads_to_end(scope, state);
	}
	if (is_machine && ends)
	{
		drawn->layout.last = drawn->layout.nboxes;
		add_box(drawn, SF_SCENE_END, 0, END_SIZE, END_SIZE, 0);
	}
}

/* Lay out a scope, after what is in its states. */
static void
lay_out_scope(SfScene *scene, const SfScope *scope)
{
	SfSceneScope *drawn = &scene->scopes[scope->number];
	LineCollector collector = {.scene = scene, .drawn = drawn, .first = scope->first};

	check_stack_depth();
	for (int i = scope->first; i <= scope->last; i++)
		if (scene->program->states[i].scope == scope->number)
			measure_state(scene, &scene->program->states[i]);
	collector.box_of = palloc(sizeof(int) * (scope->last - scope->first + 1));
	list_boxes(scene, scope, collector.box_of);
	collect_lines(&collector, scope);
	pfree(collector.box_of);
	make_room_for_lines(&drawn->layout);
	sf_layout_make(&drawn->layout);
}

/* Lay out a job that is a flow of states, and add the frame around it to its net. */
static void
add_flow(SfScene *scene, SfSceneScope *net, const SfNetJob *job)
{
	SfSceneScope *drawn = &scene->scopes[job->scope];
	SfSceneFrame *frame = &drawn->frame;
	int			texts;

	lay_out_scope(scene, &scene->program->scopes[job->scope]);
	sf_graph_text_wrap(&frame->name, job->name, SF_SCENE_NAME_SIZE, NAME_WIDTH, 3);
	add_condition(&frame->small, sf_graph_condition(job));
	texts = SF_SCENE_BOX_PAD + frame->name.nlines * SF_SCENE_NAME_LINE +
		frame->small.nlines * SF_SCENE_SMALL_LINE;
	frame->w = Max(drawn->layout.w, Max(frame->name.w, frame->small.w)) +
		2 * SF_SCENE_BRANCH_PAD;
	frame->h = texts + drawn->layout.h + 2 * SF_SCENE_BRANCH_PAD;
	drawn->x = (frame->w - drawn->layout.w) / 2;
	drawn->y = texts + SF_SCENE_BRANCH_PAD;
	add_box(net, SF_SCENE_FLOW, job->scope, frame->w, frame->h, BOX_CORNER);
}

/* Lay out the jobs of a net, after what is in them. */
static void
lay_out_net(SfScene *scene, const SfState *net)
{
	const SfJobNetState *jobs = sf_state_net(net);
	SfSceneScope *drawn = palloc0(sizeof(SfSceneScope));
	LineCollector collector = {.scene = scene, .drawn = drawn};

	check_stack_depth();
	scene->states[net->number].net = drawn;
	drawn->layout.boxes = palloc(sizeof(SfLayoutBox) * jobs->njobs);
	drawn->boxes = palloc(sizeof(SfSceneBox) * jobs->njobs);
	drawn->layout.first = drawn->layout.last = SF_LAYOUT_NO_BOX;
	for (int i = 0; i < jobs->njobs; i++)
	{
		const SfState *state = sf_graph_net_job_state(scene->program, &jobs->jobs[i]);
		const SfSceneState *box;

		CHECK_FOR_INTERRUPTS();
		if (state == NULL)
		{
			add_flow(scene, drawn, &jobs->jobs[i]);
			continue;
		}
		measure_state(scene, state);
		box = &scene->states[state->number];
		add_box(drawn, SF_SCENE_STATE, state->number, box->w, box->h, box->corner);
	}
	sf_graph_visit_links(net, collect_link, &collector);
	make_room_for_lines(&drawn->layout);
	sf_layout_make(&drawn->layout);
}

/* The name of what a box of a scope shows: a state, a job, the start or the end. */
const char *
sf_scene_box_name(const SfProgram *program, SfSceneBox box)
{
	const SfScope *scope;

	switch (box.kind)
	{
		case SF_SCENE_STATE:
			return program->states[box.number].name;
		case SF_SCENE_FLOW:
			scope = &program->scopes[box.number];
			return sf_state_net(&program->states[scope->owner_state])->jobs[scope->branch_index].name;
		case SF_SCENE_START:
			return "(start)";
		case SF_SCENE_END:
			break;
	}
	return "(end)";
}

/* --- coordinates --- */

/* Write the name of its target into the label of a line that was cut. */
static void
label_cut_lines(SfScene *scene, SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.nlines; i++)
	{
		SfSceneBox	to = drawn->boxes[drawn->layout.lines[i].to];
		const char *name = to.kind == SF_SCENE_END ? "End" :
			sf_scene_box_name(scene->program, to);

		if (!drawn->layout.lines[i].cut)
			continue;
		memset(&drawn->labels[i], 0, sizeof(SfTextBlock));
		sf_graph_text_wrap(&drawn->labels[i], psprintf("to %s", name),
						   SF_SCENE_SMALL_SIZE, drawn->layout.lines[i].stub_w, 1);
	}
}

static void position_scope(SfScene *scene, SfSceneScope *drawn, int x, int y);

/* Make the coordinates of a state's box, and of what is in it, absolute. */
static void
position_state(SfScene *scene, const SfState *state, int x, int y, int w)
{
	SfSceneState *drawn = &scene->states[state->number];
	int			inner_x = x + (w - drawn->w) / 2;

	drawn->x = x;
	drawn->y = y;
	drawn->w = w;
	if (drawn->net != NULL)
		position_scope(scene, drawn->net, inner_x, y);
	for (int i = 0; i < state->nscopes && drawn->net == NULL; i++)
		position_scope(scene, &scene->scopes[state->scopes[i]], inner_x, y);
}

/* Make the coordinates of a scope or of a net, and of what is in it, absolute. */
static void
position_scope(SfScene *scene, SfSceneScope *drawn, int x, int y)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	drawn->x += x;
	drawn->y += y;
	drawn->frame.x += x;
	drawn->frame.y += y;
	label_cut_lines(scene, drawn);
	for (int i = 0; i < drawn->layout.nboxes; i++)
	{
		const SfLayoutBox *box = &drawn->layout.boxes[i];
		SfSceneBox	shown = drawn->boxes[i];

		if (shown.kind == SF_SCENE_STATE)
			position_state(scene, &scene->program->states[shown.number],
						   drawn->x + box->x, drawn->y + box->y, box->w);
		else if (shown.kind == SF_SCENE_FLOW)
		{
			SfSceneScope *flow = &scene->scopes[shown.number];
			int			wider = box->w - flow->frame.w;

			flow->frame.w = box->w;
			flow->x += wider / 2;
			position_scope(scene, flow, drawn->x + box->x, drawn->y + box->y);
		}
	}
}

/* Lay a program out; facts: what an execution did in each state, or NULL. */
SfScene *
sf_scene_make(const SfProgram *program, const SfGraphFacts *facts)
{
	SfScene    *scene = palloc0(sizeof(SfScene));

	scene->program = program;
	scene->facts = facts;
	scene->states = palloc0(sizeof(SfSceneState) * program->nstates);
	scene->scopes = palloc0(sizeof(SfSceneScope) * program->nscopes);
	lay_out_scope(scene, &program->scopes[0]);
	position_scope(scene, &scene->scopes[0], SF_SCENE_MARGIN, SF_SCENE_MARGIN);
	scene->w = scene->scopes[0].layout.w + 2 * SF_SCENE_MARGIN;
	scene->h = scene->scopes[0].layout.h + 2 * SF_SCENE_MARGIN;
	return scene;
}
