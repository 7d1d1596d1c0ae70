/*
 * move_functions.c
 *		CALL sf_move_key(), and what it asks of the other node.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "api/columns.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/version/schema.h"
#include "feature/home/home.h"
#include "feature/move/move.h"
#include "store/role/privilege.h"

/* How long a call waits before it tries again to take executions that others hold */
#define PAUSE_MS	100

/* --- on the node that executions leave --- */

/* _sfflow.key_move(arguments): what sf_move_key() on another node asks. */
SF_SQL_FUNCTION(sfflow_key_move)
{
	Jsonb	   *arguments = sf_arg_jsonb(fcinfo, 0, "arguments");
	char	   *what;
	List	   *answers;

	sf_privilege_require_administrator("sf_move_key");
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	what = sf_move_text(arguments, "do");
	if (strcmp(what, "rows") == 0)
		answers = sf_move_rows(sf_move_text(arguments, "departure"), sf_move_text(arguments, "relation"),
							   (int) sf_move_number(arguments, "row_no"));
	else if (strcmp(what, "depart") == 0)
		answers = list_make1(sf_move_depart(sf_move_text(arguments, "key"), (int) sf_move_number(arguments, "to"),
											sf_json_get(arguments, "arrived"),
											(int) sf_move_number(arguments, "most")));
	else
		answers = list_make1(sf_move_describe(sf_move_text(arguments, "key"), NIL));
	foreach_ptr(Jsonb, answer, answers)
	{
		SfColumns	row = {0};

		sf_columns_jsonb(&row, answer);
		sf_columns_put(fcinfo, &row);
	}
	return (Datum) 0;
}

/* --- on the node that they come to --- */

/* Find the node of a number: that of sf_add_node(), or else of Citus. */
static const SfNode *
find_node(int number)
{
	SfNode	   *node;

	foreach_ptr(SfNode, listed, sf_node_list())
		if (listed->number == number && listed->dsn != NULL)
			return listed;
	node = palloc0(sizeof(SfNode));
	node->number = number;
	node->name = psprintf("%d", number);
	node->dsn = sf_home_dsn(number);
	if (node->dsn == NULL || number == sf_home_group())
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument from_node: there is no other node %d", number),
				 errhint("sf_add_node() tells where a node is, where Citus does not.")));
	return node;
}

/*
 * The node from which the executions of a key are to come: that which the caller has named, or else
 * (SF_NO_NODE) the one where they are by the key's row in sf_home; SF_NO_NODE: here, all of them.  Where sf_home
 * tells, they come home only.
 */
static int
node_of(const char *key, int named)
{
	SfHome		home = sf_home_find(key);
	SfHomeRow	row = sf_home_row_find(key);
	bool		tells = home.place != SF_HOME_UNKNOWN && sf_home_tells();

	if (!tells && named != SF_NO_NODE)
		return named;
	if (!tells)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument from_node must not be null where no table sf_home tells on which node executions are"),
				 errhint("Name the node from which the executions are to come.")));
	if (row.found && row.from_group != SF_NO_GROUP && row.group == sf_home_group() && (named == SF_NO_NODE || named == row.from_group))
		return row.from_group;
	if (row.found && row.from_group != SF_NO_GROUP)
		ereport(ERROR,
				(errcode(ERRCODE_SF_NOT_AT_HOME),
				 errmsg("executions of key \"%s\" are on their way from node %d to node %d", key, row.from_group, row.group),
				 errhint("CALL sf_move_key('%s') on node %d first.", key, row.group)));
	if (home.place == SF_HOME_ELSEWHERE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_NOT_AT_HOME),
				 errmsg("key \"%s\" is at home on node %d, not on this one", key, home.group),
				 errdetail("Node %d is host=%s port=%d.", home.group, home.host, home.port),
				 errhint("Executions are moved to the node where their key is at home: call sf_move_key() there.")));
	return named != SF_NO_NODE ? named : row.found && row.group != sf_home_group() ? row.group : SF_NO_NODE;
}

/* Wait before the next try. */
static void
pause_a_moment(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, PAUSE_MS, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Move the executions of a key, with a commit after each departure; returns how many came. */
static int64
move_key(char *key, int from_node)
{
	SfMove		move = {.key = key};
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(outer, "sfflow move", ALLOCSET_DEFAULT_SIZES);
	int64		before;
	bool		told = false;

	from_node = node_of(key, from_node);
	if (from_node == SF_NO_NODE)
		return 0;
	move.from = find_node(from_node);
	while (!move.done)
	{
		before = move.moved;
		MemoryContextSwitchTo(context);
		sf_move_some(&move);
		MemoryContextSwitchTo(outer);
		MemoryContextReset(context);
		SPI_commit();
		if (move.done || move.left == 0 || move.moved > before)
			continue;
		if (!told)
			ereport(NOTICE,
					(errmsg("sf_move_key() waits for " INT64_FORMAT " executions of key \"%s\"", move.left, key),
					 errdetail("Other sessions have them locked, or they are being archived, or they stand in one line with such.")));
		told = true;
		pause_a_moment();
	}
	MemoryContextDelete(context);
	return move.moved;
}

/* List the keys that are at home here, and whose executions are elsewhere. */
static List *
keys_to_move(void)
{
	List	   *keys = NIL;

	foreach_ptr(char, key, sf_home_keys_to_move(sf_home_group()))
	{
		SfHomeRow	row = sf_home_row_find(key);

		if (row.from_group != SF_NO_GROUP ? row.group == sf_home_group() : sf_home_find(key).place == SF_HOME_HERE)
			keys = lappend(keys, key);
	}
	return keys;
}

/* CALL sf_move_key(key, from_node): executions of a key, or of all that are at home here, come to this node. */
SF_SQL_FUNCTION(sfflow_sf_move_key)
{
	bool		nonatomic = fcinfo->context && IsA(fcinfo->context, CallContext) &&
		!castNode(CallContext, fcinfo->context)->atomic;
	char	   *key = sf_arg_text_or_null(fcinfo, 0);
	int			from_node = sf_arg_count(fcinfo, 1, "from_node", 0, SF_NO_NODE);
	MemoryContext context,
				old;
	int64		moved = 0;
	SfColumns	row = {0};

	sf_privilege_require_administrator("sf_move_key");
	if (key == NULL && from_node != SF_NO_NODE)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument key must not be null if from_node is not")));
	if (!nonatomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("sf_move_key() cannot be called in a transaction block or by a function"),
				 errdetail("It commits what has come after each step.")));
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	context = AllocSetContextCreate(CurrentMemoryContext, "sfflow moves", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	foreach_ptr(char, name, key == NULL ? keys_to_move() : list_make1(key))
		moved += move_key(name, from_node);
	MemoryContextSwitchTo(old);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	sf_columns_add(&row, Int64GetDatum(moved), false);
	return sf_columns_datum(fcinfo, &row);
}

/* _sfflow.executions_away(): how many executions are not on the node of their key. */
SF_SQL_FUNCTION(sfflow_executions_away)
{
	PG_RETURN_INT64(sf_move_away());
}
