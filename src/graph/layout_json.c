/*
 * layout_json.c
 *		A program laid out, as a document from which a page draws its picture.
 *
 * The coordinates are those of the SVG picture of the program without an execution.
 * States are named by their numbers, as sf_graph_status() names them.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "graph/scene.h"
#include "json/json.h"

/* Add coordinates: the upper left corner and the size. */
static void
add_box(SfJsonBuilder *b, int x, int y, int w, int h)
{
	sf_json_add_int(b, "x", x);
	sf_json_add_int(b, "y", y);
	sf_json_add_int(b, "w", w);
	sf_json_add_int(b, "h", h);
}

/* Add the lines of a text. */
static void
add_texts(SfJsonBuilder *b, const char *key, const SfTextBlock *block)
{
	sf_json_open_array(b, key);
	for (int i = 0; i < block->nlines; i++)
		sf_json_add_string(b, NULL, block->lines[i]);
	sf_json_close_array(b);
}

/* Add the number of a state, or leave the member out for what is no state. */
static void
add_state_number(SfJsonBuilder *b, const char *key, int state)
{
	if (state != SF_NO_STATE)
		sf_json_add_int(b, key, state);
}

/* Add an end of a line: a state by its number, a job that is a flow of states by its name. */
static void
add_line_end(SfJsonBuilder *b, const SfScene *scene, const char *key, SfSceneBox box)
{
	if (box.kind == SF_SCENE_STATE)
		sf_json_add_int(b, key, box.number);
	else if (box.kind == SF_SCENE_FLOW)
		sf_json_add_string(b, psprintf("%s_job", key),
						   sf_scene_box_name(scene->program, box));
}

/* Add the boxes of the states. */
static void
add_states(SfJsonBuilder *b, const SfScene *scene)
{
	sf_json_open_array(b, "states");
	for (int i = 0; i < scene->program->nstates; i++)
	{
		const SfState *state = &scene->program->states[i];
		const SfSceneState *box = &scene->states[i];

		CHECK_FOR_INTERRUPTS();
		sf_json_open_object(b, NULL);
		sf_json_add_int(b, "id", i);
		sf_json_add_string(b, "name", state->name);
		sf_json_add_string(b, "type", sf_state_type_name(state->type));
		sf_json_add_string(b, "subtitle", sf_graph_subtitle(state));
		add_state_number(b, "parent", scene->program->scopes[state->scope].owner_state);
		add_box(b, box->x, box->y, box->w, box->h);
		sf_json_add_int(b, "corner", box->corner);
		add_texts(b, "lines", &box->name);
		add_texts(b, "small", &box->small);
		sf_json_close_object(b);
	}
	sf_json_close_array(b);
}

/* Add a frame in a state; job: of a flow of states, else NULL. */
static void
add_frame(SfJsonBuilder *b, int parent, const SfSceneFrame *frame, const char *job)
{
	sf_json_open_object(b, NULL);
	sf_json_add_int(b, "parent", parent);
	add_box(b, frame->x, frame->y, frame->w, frame->h);
	if (job != NULL)
	{
		sf_json_add_string(b, "job", job);
		add_texts(b, "lines", &frame->name);
		add_texts(b, "small", &frame->small);
	}
	sf_json_close_object(b);
}

/* Add the frames of nets, then those of branches of Parallel and Map states and of jobs. */
static void
add_branches(SfJsonBuilder *b, const SfScene *scene)
{
	const SfProgram *program = scene->program;

	sf_json_open_array(b, "branches");
	for (int i = 0; i < program->nstates; i++)
		if (scene->states[i].net != NULL)
			add_frame(b, i, &scene->states[i].net->frame, NULL);
	for (int i = 1; i < program->nscopes; i++)
	{
		const SfSceneFrame *frame = &scene->scopes[i].frame;

		/* a job that is a state has none */
		if (frame->w > 0)
			add_frame(b, program->scopes[i].owner_state, frame,
					  frame->name.nlines == 0 ? NULL :
					  sf_scene_box_name(program, (SfSceneBox) {SF_SCENE_FLOW, i}));
	}
	sf_json_close_array(b);
}

/* Add the lines of a scope. */
static void
add_edges(SfJsonBuilder *b, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.npaths; i++)
	{
		const SfLayoutPath *path = &drawn->layout.paths[i];
		StringInfoData line;
		StringInfoData head;

		CHECK_FOR_INTERRUPTS();
		initStringInfo(&line);
		sf_scene_append_line(&line, drawn, path);
		sf_json_open_object(b, NULL);
		if (path->line != SF_LAYOUT_TRUNK)
			add_line_end(b, scene, "from", drawn->boxes[drawn->layout.lines[path->line].from]);
		add_line_end(b, scene, "to", drawn->boxes[path->to]);
		sf_json_add_bool(b, "catch", path->kind == SF_LAYOUT_CATCH);
		sf_json_add_string(b, "line", line.data);
		if (path->arrow)
		{
			initStringInfo(&head);
			sf_scene_append_head(&head, drawn, path);
			sf_json_add_string(b, "head", head.data);
		}
		sf_json_close_object(b);
	}
}

/* Add the labels of the lines of a scope. */
static void
add_labels(SfJsonBuilder *b, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.nlines; i++)
	{
		const SfLayoutLine *line = &drawn->layout.lines[i];

		if (drawn->labels[i].nlines == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		sf_json_open_object(b, NULL);
		sf_json_add_bool(b, "catch", line->kind == SF_LAYOUT_CATCH);
		add_box(b, drawn->x + line->label_x, drawn->y + line->label_y,
				line->label_w, line->label_h);
		add_texts(b, "lines", &drawn->labels[i]);
		sf_json_add_string(b, "title", drawn->titles[i]);
		sf_json_close_object(b);
	}
}

/* Add where the machine begins, and where it can end. */
static void
add_ends(SfJsonBuilder *b, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.nboxes; i++)
	{
		const SfLayoutBox *box = &drawn->layout.boxes[i];
		SfSceneBoxKind kind = drawn->boxes[i].kind;

		if (kind != SF_SCENE_START && kind != SF_SCENE_END)
			continue;
		sf_json_open_object(b, NULL);
		sf_json_add_string(b, "kind", kind == SF_SCENE_START ? "start" : "end");
		add_box(b, drawn->x + box->x, drawn->y + box->y, box->w, box->h);
		sf_json_close_object(b);
	}
}

/* Add something of each scope, and of each net, as one list. */
static void
add_of_scopes(SfJsonBuilder *b, const char *key, const SfScene *scene,
			  void (*add) (SfJsonBuilder *b, const SfScene *scene, const SfSceneScope *drawn))
{
	sf_json_open_array(b, key);
	for (int i = 0; i < scene->program->nscopes; i++)
		add(b, scene, &scene->scopes[i]);
	for (int i = 0; i < scene->program->nstates; i++)
		if (scene->states[i].net != NULL)
			add(b, scene, scene->states[i].net);
	sf_json_close_array(b);
}

/* Lay a program out, and tell the coordinates of its states, lines and labels. */
Jsonb *
sf_graph_layout_json(const SfProgram *program)
{
	SfScene    *scene = sf_scene_make(program, NULL);
	SfJsonBuilder b;

	sf_json_begin_object(&b);
	sf_json_add_int(&b, "w", scene->w);
	sf_json_add_int(&b, "h", scene->h);
	add_states(&b, scene);
	add_branches(&b, scene);
	add_of_scopes(&b, "edges", scene, add_edges);
	add_of_scopes(&b, "labels", scene, add_labels);
	add_of_scopes(&b, "ends", scene, add_ends);
	return sf_json_finish(&b);
}
