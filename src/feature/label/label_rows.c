/*
 * label_rows.c
 *		Rows of _sfflow.label, by which executions are found.
 *
 * A caller that changes them has locked the row of the execution, or has just inserted it.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/array.h"

#include "feature/label/label.h"
#include "store/direct.h"

#define NCOLUMNS	4

/* The hashes of labels (NULL: there are none), each once; returns how many. */
int
sf_labels_list_hashes(const Jsonb *labels, int64 *hashes)
{
	JsonbValue	root;
	SfJsonMember members[SF_MAX_LABELS];
	int			count = 0;
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
		int			seen = 0;

		hashes[count] = sf_labels_hash(name->val.string.val, name->val.string.len,
									   value->val.string.val, value->val.string.len);
		/* labels with one hash have one row, which finds them all */
		while (hashes[seen] != hashes[count])
			seen++;
		if (seen == count)
			count++;
	}
	return count;
}

/* Insert the rows of an execution that has none. */
void
sf_labels_insert_rows(const SfExecution *execution)
{
	int64		hashes[SF_MAX_LABELS];
	Datum		values[SF_MAX_LABELS * NCOLUMNS];
	bool		nulls[SF_MAX_LABELS * NCOLUMNS] = {0};
	int			n = sf_labels_list_hashes(execution->labels, hashes);
	SfTable    *table;

	if (n == 0)
		return;
	for (int i = 0; i < n; i++)
	{
		values[i * NCOLUMNS] = Int64GetDatum(hashes[i]);
		values[i * NCOLUMNS + 1] = Int32GetDatum(execution->machine_no);
		values[i * NCOLUMNS + 2] = TimestampTzGetDatum(execution->requested_at);
		values[i * NCOLUMNS + 3] = Int64GetDatum(execution->execution_no);
	}
	table = sf_table_open("label", NCOLUMNS);
	sf_table_insert_rows(table, n, values, nulls);
	sf_table_close(table);
	CommandCounterIncrement();
}

/* Replace the rows of an execution that had other labels before (NULL: none). */
void
sf_labels_replace_rows(const SfExecution *execution, const Jsonb *before)
{
	static SfPlan plan = SF_PLAN(
		"DELETE FROM _sfflow.label l WHERE l.hash = ANY ($1) AND l.machine_no = $2 AND l.requested_at = $3"
		" AND l.execution_no = $4");
	int64		hashes[SF_MAX_LABELS];
	Datum		elements[SF_MAX_LABELS];
	int			n = sf_labels_list_hashes(before, hashes);

	for (int i = 0; i < n; i++)
		elements[i] = Int64GetDatum(hashes[i]);
	if (n > 0)
		sf_store_execute(&plan,
						 sf_query_arg(INT8ARRAYOID,
									  PointerGetDatum(construct_array(elements, n, INT8OID, sizeof(int64),
																	  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE)), false),
						 SF_INT4(execution->machine_no), SF_TIME(execution->requested_at),
						 SF_INT8(execution->execution_no));
	sf_labels_insert_rows(execution);
}
