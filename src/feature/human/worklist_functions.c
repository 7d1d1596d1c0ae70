/*
 * worklist_functions.c
 *		sf_create_worklist(), sf_drop_worklist().
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"

#include "api/objects.h"
#include "api/sql_arguments.h"
#include "base/error/errors.h"
#include "base/name/name.h"
#include "base/version/schema.h"
#include "feature/human/human.h"
#include "store/audit/audit.h"
#include "store/feature.h"
#include "store/role/privilege.h"

/* Longest description, in bytes */
#define MAX_DESCRIPTION		4000

/* Read the options of a worklist: its description, or NULL. */
static char *
read_description(const Jsonb *options)
{
	JsonbValue	root;
	SfJsonMember member;
	char	   *description;

	sf_json_root(options, &root);
	if (!sf_json_is_object(&root) || sf_json_count(&root) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument options must be an object with a description, or without members")));
	if (sf_json_list_members(&root, &member) == 0)
		return NULL;
	description = sf_json_get_cstring(options, "description");
	if (description == NULL || strlen(description) > MAX_DESCRIPTION)
		ereport(ERROR,
				(errcode(ERRCODE_SF_INVALID_OPTION),
				 errmsg("argument options has a member other than a description of at most %d bytes", MAX_DESCRIPTION)));
	return description;
}

/* sf_create_worklist(name, form, options) */
SF_SQL_FUNCTION(sfflow_sf_create_worklist)
{
	char	   *name = sf_arg_text(fcinfo, 0, "name");
	Jsonb	   *form = sf_arg_jsonb_or_null(fcinfo, 1);
	char	   *description = read_description(sf_arg_jsonb(fcinfo, 2, "options"));
	bool		is_new;

	sf_name_check(name, "worklist name");
	if (form != NULL)
	{
		sf_arg_check_size(form, "form");
		sf_form_check(form);
	}
	if (sf_worklist_find(name) == NULL && !sf_privilege_may_create())
		sf_deny_create();
	is_new = sf_worklist_insert(name, description, form);
	if (!is_new)
	{
		sf_db_invalidate("worklist");
		if (!sf_worklist_update(name, description, form))
			PG_RETURN_VOID();
	}
	sf_db_invalidate("worklist");
	sf_audit_note(is_new ? "create" : "change", SF_OBJECT_WORKLIST, name, sf_object_target(SF_OBJECT_WORKLIST, name),
				  NULL, form);
	PG_RETURN_VOID();
}

/* sf_drop_worklist(name): no task may wait in it. */
SF_SQL_FUNCTION(sfflow_sf_drop_worklist)
{
	static const SfIndex by_worklist = {"human_task", "human_task_order"};
	char	   *name = pstrdup(sf_worklist_require(sf_arg_text(fcinfo, 0, "name"), SF_RIGHT_OWNER)->name);
	SfWorklist	worklist;
	int			tasks;

	/* a task that begins to wait keeps it, too */
	(void) sf_object_lock_own(SF_OBJECT_WORKLIST, name, SF_NAMED_LOCK_DROP);
	/* another one may have its name by now */
	worklist = *sf_worklist_require(name, SF_RIGHT_OWNER);
	worklist.name = name;
	tasks = sf_rows_read_now(&by_worklist, PG_INT32_MAX, NULL, NULL, SF_INT4(worklist.worklist_no));
	if (tasks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("worklist \"%s\" has %d tasks that wait for people", worklist.name, tasks),
				 errhint("Stop their executions first; sf_human_tasks shows them.")));
	sf_privilege_delete_of_object(SF_OBJECT_WORKLIST, worklist.name);
	sf_audit_delete_of_object(SF_OBJECT_WORKLIST, worklist.name);
	SF_TELL(on_object_dropped, SF_OBJECT_WORKLIST, worklist.name);
	sf_worklist_delete(worklist.worklist_no);
	sf_db_invalidate("worklist");
	sf_audit_note("drop", SF_OBJECT_ALL, "*", sf_object_target(SF_OBJECT_WORKLIST, worklist.name), NULL, NULL);
	sf_privilege_unanchor(worklist.owner);
	PG_RETURN_VOID();
}
