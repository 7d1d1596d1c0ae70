/*
 * move.h
 *		Moves the executions of a key from one node to another.
 *
 * The node that they come to pulls.  It asks the node where they are for a departure: there, in one transaction, some
 * executions are locked with all that they have started and all their branches, their rows are put into
 * _sfflow.departing_row as text, and deleted.  From then on they run nowhere.  The node that has asked reads these
 * rows, inserts them, and notes the arrival in the same transaction.  With the next question it tells which
 * departures have arrived, and the other node forgets those.
 *
 * So a crash at any moment leaves a departure that has arrived or has not, which the arrival tells, and the next
 * call goes on from there.  An execution is in tables of one node, or in a departure, and never in two.
 */
#ifndef SF_FEATURE_MOVE_H
#define SF_FEATURE_MOVE_H

#include "db/table.h"
#include "feature/node/node.h"
#include "store/feature.h"

/* What rows name by numbers that each node gives itself: a column, and the table of what it names */
typedef struct SfMoveReference
{
	const char *column;
	const char *table;
} SfMoveReference;

/* A table whose rows go with an execution */
typedef struct SfMoveTable
{
	const char *name;
	const char *join;			/* of the table d with executions x: what follows "x" up to AND; NULL: WHERE */
} SfMoveTable;

/* --- move_tables.c --- */
extern List *sf_move_references(void);
extern List *sf_move_tables(void);

/* --- move_document.c --- */
extern char *sf_move_text(const Jsonb *document, const char *member);
extern int64 sf_move_number(const Jsonb *document, const char *member);

/* --- move_out.c: on the node that executions leave --- */
extern Jsonb *sf_move_describe(const char *key, const List *numbers);
extern Jsonb *sf_move_depart(const char *key, int to_node, const Jsonb *arrived, int most);
extern List *sf_move_rows(const char *departure, const char *relation, int row_no);
extern int	sf_move_left_to(int64 execution_no);
extern void sf_move_note_back(SfArg numbers);

/* --- move_in.c: on the node that they come to --- */

/* What a call has done so far */
typedef struct SfMove
{
	char	   *key;
	const SfNode *from;
	int64		moved;
	int64		left;			/* executions that are still on the other node, as far as it says */
	bool		checked;		/* the nodes may do this */
	bool		done;
} SfMove;

extern void sf_move_some(SfMove *move);

/* --- move_feature.c --- */
extern int64 sf_move_away(void);

#endif							/* SF_FEATURE_MOVE_H */
