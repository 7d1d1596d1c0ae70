/*
 * scene.h
 *		A program laid out: where its states, transitions and labels are.
 */
#ifndef SF_GRAPH_SCENE_H
#define SF_GRAPH_SCENE_H

#include "graph/graph.h"
#include "graph/layout.h"

/* --- texts of pictures: their widths, and how they are broken into lines --- */

#define SF_GRAPH_MAX_LINES	6

typedef struct SfTextBlock
{
	int			nlines;
	char	   *lines[SF_GRAPH_MAX_LINES];
	int			w;				/* of the longest line, in pixels */
} SfTextBlock;

extern int	sf_graph_text_width(const char *text, int size);
extern void sf_graph_text_wrap(SfTextBlock *block, const char *text, int size,
							   int max_width, int max_lines);

/* Sizes of fonts, and the height that a line of text takes, in pixels */
#define SF_SCENE_NAME_SIZE		12
#define SF_SCENE_NAME_LINE		15
#define SF_SCENE_SMALL_SIZE		10
#define SF_SCENE_SMALL_LINE		13
#define SF_SCENE_BOX_PAD		7	/* between the border of a box and its text */
#define SF_SCENE_LABEL_PAD		3
#define SF_SCENE_MARGIN			20	/* around the picture */
#define SF_SCENE_BRANCH_PAD		14	/* around what is in a branch, and between branches */

/* What a box of a scope, or of a net, shows */
typedef enum SfSceneBoxKind
{
	SF_SCENE_STATE,
	SF_SCENE_FLOW,				/* a job that is a flow of states */
	SF_SCENE_START,				/* of the machine */
	SF_SCENE_END
} SfSceneBoxKind;

typedef struct SfSceneBox
{
	SfSceneBoxKind kind;
	int			number;			/* STATE: of the state; FLOW: of its scope */
} SfSceneBox;

typedef struct SfSceneState
{
	int			x;				/* of the box, in the picture */
	int			y;
	int			w;
	int			h;
	int			corner;
	SfTextBlock name;
	SfTextBlock small;			/* type or resource, then what an execution did there */
	struct SfSceneScope *net;	/* the jobs of a JobNet; else NULL */
} SfSceneState;

/* The frame of a branch, of a net, or of a job that is a flow of states */
typedef struct SfSceneFrame
{
	int			x;				/* in the picture */
	int			y;
	int			w;				/* 0: there is no frame */
	int			h;
	SfTextBlock name;			/* of the job; the others have none */
	SfTextBlock small;			/* its condition */
} SfSceneFrame;

/* Boxes joined by lines: the states of a scope, or the jobs of a net */
typedef struct SfSceneScope
{
	SfLayout	layout;			/* coordinates within the scope */
	int			x;				/* of the scope, in the picture */
	int			y;
	SfSceneBox *boxes;			/* by box of the layout */
	SfTextBlock *labels;		/* by line of the layout */
	char	  **titles;			/* by line: its label in full, or NULL */
	SfSceneFrame frame;			/* around it */
} SfSceneScope;

typedef struct SfScene
{
	const SfProgram *program;
	const SfGraphFacts *facts;	/* by state, or NULL */
	SfSceneState *states;
	SfSceneScope *scopes;
	int			w;
	int			h;
} SfScene;

extern const char *sf_scene_box_name(const SfProgram *program, SfSceneBox box);
extern SfScene *sf_scene_make(const SfProgram *program, const SfGraphFacts *facts);
extern void sf_scene_append_line(StringInfo out, const SfSceneScope *drawn,
								 const SfLayoutPath *path);
extern void sf_scene_append_head(StringInfo out, const SfSceneScope *drawn,
								 const SfLayoutPath *path);

#endif							/* SF_GRAPH_SCENE_H */
