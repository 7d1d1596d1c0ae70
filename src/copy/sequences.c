/*
 * sequences.c
 *		The sequences that number machines, executions, branches, activities, holds, limits, rules.
 *
 * Rows that come by other ways than sfflow (a subscription, a dump's data) bring
 * numbers that the sequences have not drawn.
 *
 * A database that is a node of a cluster has a number n (sf_set_node).  Its sequences of
 * type bigint then draw from n * 2^48 + 1 up to (n + 1) * 2^48 - 1, and go on after the
 * largest number of this range: executions, branches, tasks of people and events of all
 * nodes have different numbers, and rows that have come from a node with a higher number
 * do not pull the sequences out of the range.  The numbers of machines, activities, types of events and
 * worklists are integers and stay as they are: an object has a name, by which nodes know
 * each other's, and its number means nothing to another node.
 */
#include "postgres.h"

#include "copy/load_guard.h"
#include "db/table.h"

typedef struct Position
{
	char	   *name;
	int64		next;			/* the first number after all that are in use */
} Position;

/* A number beyond what a session may have drawn in advance stays unused */
static SfPlan positions_plan = SF_PLAN(
	"SELECT p.name, p.last + 1::pg_catalog.int8 AS next FROM _sfflow.sequence_position p");

static SfPlan behind_plan = SF_PLAN(
	"SELECT s.name, s.used FROM _sfflow.sequence_use s"
	" WHERE s.used > s.drawn");

static SfPlan astray_plan = SF_PLAN(
	"SELECT p.name, p.drawn FROM _sfflow.sequence_position p WHERE p.astray");

static SfPlan quick_plan = SF_PLAN(
	"SELECT s.name, s.used FROM _sfflow.sequence_use s"
	" WHERE s.name <> 'branch_no' AND s.used > s.drawn");

/* Add a row of name and number to a List of Position. */
static void
read_position(HeapTuple tuple, TupleDesc desc, void *arg)
{
	enum {COL_name = 1, COL_next};
	List	  **list = arg;
	Position   *position = palloc(sizeof(Position));

	position->name = sf_row_text(tuple, desc, COL_name);
	position->next = sf_row_number(tuple, desc, COL_next, 0);
	*list = lappend(*list, position);
}

/*
 * Have a sequence go on with a number.  setval() would leave the other sessions
 * the numbers that they have cached; RESTART does not.
 */
static void
restart_sequence(const Position *position)
{
	char	   *command = psprintf("ALTER SEQUENCE _sfflow.%s RESTART WITH " INT64_FORMAT,
								   quote_identifier(position->name), position->next);

	sf_db_command(command, SPI_OK_UTILITY);
}

/* Have every sequence go on after the largest number that is drawn or in its tables, as a new snapshot sees it. */
static void
restart_sequences(void)
{
	ListCell   *cell;

	foreach(cell, sf_db_list(&positions_plan, read_position, SF_ARGS()))
		restart_sequence(lfirst(cell));
}

/*
 * Have every sequence go on after the largest number in its tables, and every
 * session forget the numbers that it has drawn in advance.
 *
 * RESTART waits for sessions that have drawn numbers, while others draw more than were
 * seen.  It locks the sequence to the end of the transaction, so the second time sees all.
 */
void
sf_sequences_pass_rows(void)
{
	restart_sequences();
	restart_sequences();
}

/*
 * Tell whether a sequence is behind its tables; NULL, or a sentence about the
 * first one.  With quick, only of those for which an index knows.
 */
const char *
sf_sequences_behind(bool quick)
{
	Position   *first = sf_list_first(sf_db_list(quick ? &quick_plan : &behind_plan,
												 read_position, SF_ARGS()));

	if (first == NULL)
		return NULL;
	return psprintf("sequence _sfflow.%s is behind the number " INT64_FORMAT " of a row that sfflow has not written",
					first->name, first->next);
}

/* Tell whether a sequence draws numbers that are none of this node. */
bool
sf_sequences_are_off(void)
{
	return sf_db_execute(&astray_plan) > 0;
}
