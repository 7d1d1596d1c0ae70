/*
 * graph.h
 *		A program as a picture, with or without the status of its states.
 *
 * This layer knows only programs.  The caller gives the status of each state.
 */
#ifndef SF_GRAPH_GRAPH_H
#define SF_GRAPH_GRAPH_H

#include "asl/program.h"
#include "lib/stringinfo.h"

/*
 * Status of a state (3.4 of the design): symbol, name, fill, border, and
 * whether that is dashed.  A state is "unknown" if neither history nor
 * branches tell of it; only pictures with such a state have it in the legend.
 */
#define SF_GRAPH_STATUS_LIST(X) \
	X(ENTRY, "entry", "#ffffff", "#8a8f98", false) \
	X(RUNNING, "running", "#cfe2ff", "#1f5fbf", false) \
	X(SUCCESS, "success", "#d4edda", "#2e7d32", false) \
	X(FAILURE, "failure", "#f8d7da", "#b3261e", false) \
	X(SKIP, "skip", "#eeeeee", "#b0b0b0", false) \
	X(UNKNOWN, "unknown", "#ffffff", "#b0b0b0", true)

#define SF_GRAPH_STATUS_ENUM(sym, name, fill, border, dashed) SF_GRAPH_##sym,
typedef enum SfGraphStatus
{
	SF_GRAPH_STATUS_LIST(SF_GRAPH_STATUS_ENUM)
} SfGraphStatus;

typedef struct SfGraphStatusInfo
{
	const char *name;
	const char *fill;			/* colours as #rrggbb */
	const char *border;
	bool		dashed;
} SfGraphStatusInfo;

extern const SfGraphStatusInfo sf_graph_statuses[];

extern char *sf_graph_render(const SfProgram *program, const char *format,
							 const int *status_by_state);

/* --- shared by the formats --- */

typedef enum SfEdgeKind
{
	SF_EDGE_NEXT,
	SF_EDGE_RULE,				/* of a Choice state, or its Default */
	SF_EDGE_CATCH
} SfEdgeKind;

/* Called for each transition of a state; label NULL: none. */
typedef void (*SfEdgeCallback) (void *arg, const SfState *from, int to,
								SfEdgeKind kind, const char *label);

typedef struct SfDrawing
{
	StringInfo	out;
	const SfProgram *program;
	const int  *status_by_state;	/* or NULL */
	int			depth;			/* of indentation */
	void		(*draw_state) (struct SfDrawing *d, const SfState *state);
	SfEdgeCallback draw_edge;	/* arg is the drawing */
} SfDrawing;

/* Begin an indented line; what follows is for appendStringInfo(). */
#define SF_GRAPH_LINE(d, ...) \
	(appendStringInfoSpaces((d)->out, 4 * (d)->depth), \
	 appendStringInfo((d)->out, __VA_ARGS__))

extern void sf_graph_draw_scope(SfDrawing *d, const SfScope *scope);
extern void sf_graph_visit_edges(const SfState *state, SfEdgeCallback callback,
								 void *arg);
extern void sf_graph_append(StringInfo out, const char *text, const char *special,
							const char *escape);
extern int	sf_graph_legend_size(const SfProgram *program,
								 const int *status_by_state);
extern bool sf_graph_ends(const SfScope *scope, const SfState *state);
extern const char *sf_graph_subtitle(const SfState *state);
extern void sf_graph_mermaid(SfDrawing *d);
extern void sf_graph_dot(SfDrawing *d);
extern void sf_graph_svg(SfDrawing *d);

#endif							/* SF_GRAPH_GRAPH_H */
