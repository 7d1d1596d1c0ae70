/*
 * graph.h
 *		A program as a picture, with or without the status of its states.
 *
 * This layer knows only programs.  The caller gives the status of each state.
 */
#ifndef SF_GRAPH_GRAPH_H
#define SF_GRAPH_GRAPH_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"

#include "asl/program.h"
#include "base/time/duration.h"

/*
 * Status of a state (3.4 of the design): symbol, name, fill, border, the same
 * two on a dark page, and whether the border is dashed.  A state is "unknown"
 * if neither history nor branches tell of it; only pictures with such a state
 * have it in the legend.
 */
#define SF_GRAPH_STATUS_LIST(X) \
	X(ENTRY, "entry", "#ffffff", "#8a8f98", "#161b22", "#8b949e", false) \
	X(RUNNING, "running", "#cfe2ff", "#1f5fbf", "#11305c", "#58a6ff", false) \
	X(SUCCESS, "success", "#d4edda", "#2e7d32", "#12381f", "#3fb950", false) \
	X(FAILURE, "failure", "#f8d7da", "#b3261e", "#4d1a1a", "#f85149", false) \
	X(SKIP, "skip", "#eeeeee", "#b0b0b0", "#21262d", "#545d68", false) \
	X(UNKNOWN, "unknown", "#ffffff", "#b0b0b0", "#0d1117", "#545d68", true)

#define SF_GRAPH_STATUS_ENUM(sym, name, fill, border, dark_fill, dark_border, dashed) \
	SF_GRAPH_##sym,
typedef enum SfGraphStatus
{
	SF_GRAPH_STATUS_LIST(SF_GRAPH_STATUS_ENUM)
} SfGraphStatus;

typedef struct SfGraphStatusInfo
{
	const char *name;
	const char *fill;			/* colours as #rrggbb */
	const char *border;
	const char *dark_fill;
	const char *dark_border;
	bool		dashed;
} SfGraphStatusInfo;

extern const SfGraphStatusInfo sf_graph_statuses[];

/* Where the number of a Map's iterations may stand: it is no Map, or has not begun */
#define SF_NO_ITERATIONS	(-1)

/* What an execution did in a state; iterations of a Map around it together */
typedef struct SfGraphFacts
{
	SfGraphStatus status;
	bool		aborted;		/* a failure that is another state's: it was ended with that */
	int			visits;			/* entries into the state */
	int			attempts;		/* at its task, or at its branches */
	int64		duration;		/* of all visits, in microseconds, or SF_NO_DURATION */
	int64		iterations;		/* of a Map, or SF_NO_ITERATIONS */
	int64		iterations_succeeded;
	int64		iterations_failed;
} SfGraphFacts;

extern char *sf_graph_render(const SfProgram *program, const char *format,
							 const SfGraphFacts *facts);
extern Jsonb *sf_graph_layout_json(const SfProgram *program);

/* --- shared by the formats --- */

typedef enum SfEdgeKind
{
	SF_EDGE_NEXT,
	SF_EDGE_RULE,				/* of a Choice state, or its Default */
	SF_EDGE_CATCH				/* also to a job that needs a failure */
} SfEdgeKind;

/* Called for each transition of a state; label NULL: none. */
typedef void (*SfEdgeCallback) (void *arg, const SfState *from, int to,
								SfEdgeKind kind, const char *label);

/* Called for each job that another one waits for, both by number; label NULL: none. */
typedef void (*SfLinkCallback) (void *arg, const SfState *net, int from, int to,
								SfEdgeKind kind, const char *label);

typedef struct SfDrawing
{
	StringInfo	out;
	const SfProgram *program;
	const SfGraphFacts *facts;	/* by state, or NULL */
	int			depth;			/* of indentation */
	void		(*draw_state) (struct SfDrawing *drawing, const SfState *state);
	SfEdgeCallback draw_edge;	/* arg is the drawing */
} SfDrawing;

/* Begin an indented line; what follows is for appendStringInfo(). */
#define SF_GRAPH_LINE(d, ...) \
	(appendStringInfoSpaces((d)->out, 4 * (d)->depth), \
	 appendStringInfo((d)->out, __VA_ARGS__))

extern void sf_graph_draw_scope(SfDrawing *drawing, const SfScope *scope);
extern void sf_graph_visit_edges(const SfState *state, SfEdgeCallback callback,
								 void *arg);
extern void sf_graph_visit_links(const SfState *net, SfLinkCallback callback, void *arg);
extern const SfState *sf_graph_net_job_state(const SfProgram *program, const SfNetJob *job);
extern const char *sf_graph_condition(const SfNetJob *job);
extern const char *sf_graph_state_condition(const SfProgram *program,
											const SfState *state);
extern void sf_graph_append(StringInfo out, const char *text, const char *special,
							const char *escape);
extern int	sf_graph_legend_size(const SfProgram *program,
								 const SfGraphFacts *facts);
extern bool sf_graph_ends(const SfScope *scope, const SfState *state);
extern const char *sf_graph_subtitle(const SfState *state);
extern void sf_graph_mermaid(SfDrawing *drawing);
extern void sf_graph_dot(SfDrawing *drawing);
extern void sf_graph_svg(SfDrawing *drawing);

#endif							/* SF_GRAPH_GRAPH_H */
