/*
 * move_tables.c
 *		Which rows go with an execution that is moved, and which numbers in them mean another thing on another node.
 */
#include "postgres.h"

#include "feature/move/move.h"

/* Add a column. */
static List *
add_reference(List *references, const char *column, const char *table)
{
	SfMoveReference *reference = palloc(sizeof(SfMoveReference));

	reference->column = column;
	reference->table = table;
	return lappend(references, reference);
}

/* List the columns in which rows name something by a number of their node, as SfMoveReference. */
List *
sf_move_references(void)
{
	List	   *references = NIL;

	references = add_reference(references, "machine_no", "state_machine");
	references = add_reference(references, "activity_no", "activity");
	SF_OBJECTS(object)
		if (object->number_column != NULL)
			references = add_reference(references, object->number_column, object->table);
	return references;
}

/* Add a table. */
static List *
add(List *tables, const char *name, const char *join)
{
	SfMoveTable *table = palloc(sizeof(SfMoveTable));

	table->name = name;
	table->join = join;
	return lappend(tables, table);
}

/* List the tables whose rows go with an execution, as SfMoveTable. */
List *
sf_move_tables(void)
{
	List	   *tables = NIL;

	tables = add(tables, "execution", NULL);
	tables = add(tables, "branch", NULL);
	tables = add(tables, "open_execution",
				 " WHERE d.machine_no = x.machine_no AND d.status = x.status"
				 " AND d.requested_at = x.requested_at AND");
	SF_TABLES(table)
		if (table->of_execution == SF_ROWS_GO_ALONG || table->of_execution == SF_ROWS_OF_FEATURE)
			tables = add(tables, table->name, table->purge);
	return tables;
}
