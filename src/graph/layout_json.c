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
add_box(SfJsonBuilder *json, int x, int y, int w, int h)
{
	sf_json_add_int(json, "x", x);
	sf_json_add_int(json, "y", y);
	sf_json_add_int(json, "w", w);
	sf_json_add_int(json, "h", h);
}

/* Add the lines of a text. */
static void
add_texts(SfJsonBuilder *json, const char *key, const SfTextBlock *block)
{
	sf_json_open_array(json, key);
	for (int i = 0; i < block->nlines; i++)
		sf_json_add_string(json, NULL, block->lines[i]);
	sf_json_close_array(json);
}

/* Add the number of a state, or leave the member out for what is no state. */
static void
add_state_number(SfJsonBuilder *json, const char *key, int state)
{
	if (state != SF_NO_STATE)
		sf_json_add_int(json, key, state);
}

/* Add an end of a line: a state by its number, a job that is a flow of states by its name. */
static void
add_line_end(SfJsonBuilder *json, const SfScene *scene, const char *key, SfSceneBox box)
{
	if (box.kind == SF_SCENE_STATE)
		sf_json_add_int(json, key, box.number);
	else if (box.kind == SF_SCENE_FLOW)
		sf_json_add_string(json, psprintf("%s_job", key),
						   sf_scene_box_name(scene->program, box));
}

/* Add the boxes of the states. */
static void
add_states(SfJsonBuilder *json, const SfScene *scene)
{
	sf_json_open_array(json, "states");
	for (int i = 0; i < scene->program->nstates; i++)
	{
		const SfState *state = &scene->program->states[i];
		const SfSceneState *box = &scene->states[i];

		CHECK_FOR_INTERRUPTS();
		sf_json_open_object(json, NULL);
		sf_json_add_int(json, "id", i);
		sf_json_add_string(json, "name", state->name);
		sf_json_add_string(json, "type", sf_state_type_name(state->type));
		sf_json_add_string(json, "subtitle", sf_graph_subtitle(state));
		add_state_number(json, "parent", scene->program->scopes[state->scope].owner_state);
		add_box(json, box->x, box->y, box->w, box->h);
		sf_json_add_int(json, "corner", box->corner);
		add_texts(json, "lines", &box->name);
		add_texts(json, "small", &box->small);
		sf_json_close_object(json);
	}
	sf_json_close_array(json);
}

/* Add a frame in a state; job: of a flow of states, else NULL. */
static void
add_frame(SfJsonBuilder *json, int parent, const SfSceneFrame *frame, const char *job)
{
	sf_json_open_object(json, NULL);
	sf_json_add_int(json, "parent", parent);
	add_box(json, frame->x, frame->y, frame->w, frame->h);
	if (job != NULL)
	{
		sf_json_add_string(json, "job", job);
		add_texts(json, "lines", &frame->name);
		add_texts(json, "small", &frame->small);
	}
	sf_json_close_object(json);
}

/* Add the frames of nets, then those of branches of Parallel and Map states and of jobs. */
static void
add_branches(SfJsonBuilder *json, const SfScene *scene)
{
	const SfProgram *program = scene->program;

	sf_json_open_array(json, "branches");
	for (int i = 0; i < program->nstates; i++)
		if (scene->states[i].net != NULL)
			add_frame(json, i, &scene->states[i].net->frame, NULL);
	for (int i = 1; i < program->nscopes; i++)
	{
		const SfSceneFrame *frame = &scene->scopes[i].frame;

		/* a job that is a state has none */
		if (frame->w > 0)
			add_frame(json, program->scopes[i].owner_state, frame,
					  frame->name.nlines == 0 ? NULL :
					  sf_scene_box_name(program, (SfSceneBox) {SF_SCENE_FLOW, i}));
	}
	sf_json_close_array(json);
}

/* Add the lines of a scope. */
static void
add_edges(SfJsonBuilder *json, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.npaths; i++)
	{
		const SfLayoutPath *path = &drawn->layout.paths[i];
		StringInfoData line;
		StringInfoData head;

		CHECK_FOR_INTERRUPTS();
		initStringInfo(&line);
		sf_scene_append_line(&line, drawn, path);
		sf_json_open_object(json, NULL);
		if (path->line != SF_LAYOUT_TRUNK)
			add_line_end(json, scene, "from", drawn->boxes[drawn->layout.lines[path->line].from]);
		add_line_end(json, scene, "to", drawn->boxes[path->to]);
		sf_json_add_bool(json, "catch", path->kind == SF_LAYOUT_CATCH);
		sf_json_add_string(json, "line", line.data);
		if (path->has_arrow)
		{
			initStringInfo(&head);
			sf_scene_append_head(&head, drawn, path);
			sf_json_add_string(json, "head", head.data);
		}
		sf_json_close_object(json);
	}
}

/* Add the labels of the lines of a scope. */
static void
add_labels(SfJsonBuilder *json, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.nlines; i++)
	{
		const SfLayoutLine *line = &drawn->layout.lines[i];

		if (drawn->labels[i].nlines == 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		sf_json_open_object(json, NULL);
		sf_json_add_bool(json, "catch", line->kind == SF_LAYOUT_CATCH);
		add_box(json, drawn->x + line->label_x, drawn->y + line->label_y,
				line->label_w, line->label_h);
		add_texts(json, "lines", &drawn->labels[i]);
		sf_json_add_string(json, "title", drawn->titles[i]);
		sf_json_close_object(json);
	}
}

/* Add where the machine begins, and where it can end. */
static void
add_ends(SfJsonBuilder *json, const SfScene *scene, const SfSceneScope *drawn)
{
	for (int i = 0; i < drawn->layout.nboxes; i++)
	{
		const SfLayoutBox *box = &drawn->layout.boxes[i];
		SfSceneBoxKind kind = drawn->boxes[i].kind;

		if (kind != SF_SCENE_START && kind != SF_SCENE_END)
			continue;
		sf_json_open_object(json, NULL);
		sf_json_add_string(json, "kind", kind == SF_SCENE_START ? "start" : "end");
		add_box(json, drawn->x + box->x, drawn->y + box->y, box->w, box->h);
		sf_json_close_object(json);
	}
}

/* Add something of each scope, and of each net, as one list. */
static void
add_of_scopes(SfJsonBuilder *json, const char *key, const SfScene *scene,
			  void (*add) (SfJsonBuilder *json, const SfScene *scene, const SfSceneScope *drawn))
{
	sf_json_open_array(json, key);
	for (int i = 0; i < scene->program->nscopes; i++)
		add(json, scene, &scene->scopes[i]);
	for (int i = 0; i < scene->program->nstates; i++)
		if (scene->states[i].net != NULL)
			add(json, scene, scene->states[i].net);
	sf_json_close_array(json);
}

/* Lay a program out, and tell the coordinates of its states, lines and labels. */
Jsonb *
sf_graph_layout_json(const SfProgram *program)
{
	SfScene    *scene = sf_scene_make(program, NULL);
	SfJsonBuilder json;

	sf_json_begin_object(&json);
	sf_json_add_int(&json, "w", scene->w);
	sf_json_add_int(&json, "h", scene->h);
	add_states(&json, scene);
	add_branches(&json, scene);
	add_of_scopes(&json, "edges", scene, add_edges);
	add_of_scopes(&json, "labels", scene, add_labels);
	add_of_scopes(&json, "ends", scene, add_ends);
	return sf_json_end(&json);
}
