/*
 * label_rows.c
 *		Rows of _sfflow.label, by which executions are found.
 *
 * A caller that changes them has locked the row of the execution, or has just inserted it.
 */
#include "postgres.h"

#include "access/xact.h"

#include "db/row.h"
#include "feature/label/label.h"
#include "store/execution/execution_list.h"

#define NCOLUMNS	5

static const SfIndex by_key = {"label", "label_pkey"};

/* List labels (NULL: there are none); returns how many there are. */
static int
list_labels(const Jsonb *labels, SfLabel *list)
{
	JsonbValue	root;
	SfJsonMember members[SF_MAX_LABELS];
	int			n;

	if (labels == NULL)
		return 0;
	sf_json_root(labels, &root);
	if (sf_json_count(&root) > SF_MAX_LABELS)
		elog(ERROR, "an execution has %d labels", sf_json_count(&root));
	n = sf_json_list_members(&root, members);
	for (int i = 0; i < n; i++)
	{
		const JsonbValue *name = &members[i].key;
		const JsonbValue *value = &members[i].value;

		list[i].name = pnstrdup(name->val.string.val, name->val.string.len);
		list[i].value = pnstrdup(value->val.string.val, value->val.string.len);
	}
	return n;
}

/* Insert the rows of an execution that has none. */
void
sf_label_insert_rows(const SfExecution *execution)
{
	SfLabel		labels[SF_MAX_LABELS];
	Datum		values[SF_MAX_LABELS * NCOLUMNS];
	bool		nulls[SF_MAX_LABELS * NCOLUMNS] = {0};
	int			n = list_labels(execution->labels, labels);
	SfTable    *table;

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		Datum	   *row = values + i * NCOLUMNS;

		row[0] = TimestampTzGetDatum(execution->requested_at);
		row[1] = Int64GetDatum(execution->execution_no);
		row[2] = Int32GetDatum(execution->machine_no);
		row[3] = CStringGetTextDatum(labels[i].name);
		row[4] = CStringGetTextDatum(labels[i].value);
	}
	table = sf_table_open("label", NCOLUMNS);
	sf_table_insert_rows(table, n, values, nulls);
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Delete the rows of an execution that has labels. */
static void
delete_rows(const SfExecution *execution, const Jsonb *labels)
{
	SfLabel		list[SF_MAX_LABELS];
	int			n = list_labels(labels, list);
	SfTable    *table;

	if (n == 0)
		return;
	table = sf_table_open("label", NCOLUMNS);
	for (int i = 0; i < n; i++)
	{
		ItemPointerData tid;

		if (sf_row_fetch(&by_key, SF_LOCK_WAIT, NULL, sf_row_read_address, &tid, SF_TEXT(list[i].name),
						 SF_TEXT(list[i].value), SF_INT4(execution->machine_no), SF_TIME(execution->requested_at),
						 SF_INT8(execution->execution_no)))
			sf_table_delete(table, &tid);
	}
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Replace the rows of an execution that had other labels before (NULL: none). */
void
sf_label_replace_rows(const SfExecution *execution, const Jsonb *before)
{
	delete_rows(execution, before);
	sf_label_insert_rows(execution);
}

/* --- lists --- */

/* How many executions have a label, as far as SF_LIST_PROBE. */
static int64
count(const SfLabel *label)
{
	static SfPlan plan = SF_PLAN(
		"SELECT pg_catalog.count(*) FROM (SELECT 1 FROM _sfflow.label l WHERE l.name = $1 AND l.value = $2"
		" LIMIT " SF_LIST_PROBE_TEXT ") r");

	return sf_db_number(&plan, 0, SF_TEXT(label->name), SF_TEXT(label->value));
}

/* How a list finds the executions that have some labels: by the one that the fewest have. */
SfLabelled
sf_label_wanted(const Jsonb *labels)
{
	static SfPlan plan = SF_PLAN(
		SF_LIST_OF_MACHINES("_sfflow.label l JOIN _sfflow.execution e ON e.execution_no = l.execution_no",
							"l", "l.name = $18 AND l.value = $19 AND "));
	SfLabelled	wanted = {.labels = labels,.plan = &plan,.index = &by_key};
	SfLabel		list[SF_MAX_LABELS];
	int			n = list_labels(labels, list);

	for (int i = 0; i < n; i++)
	{
		int64		rows = count(&list[i]);

		if (i == 0 || rows < wanted.rows)
		{
			wanted.name = list[i].name;
			wanted.value = list[i].value;
			wanted.rows = rows;
		}
	}
	return wanted;
}
