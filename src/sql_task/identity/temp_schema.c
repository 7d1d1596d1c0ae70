/*
 * temp_schema.c
 *		What tasks may do with the temporary schema of the session.
 *
 * In a security-restricted operation PostgreSQL refuses temporary tables and types, but
 * no other kind of object.  A function that a guest (guest.c) left in pg_temp would be an
 * overload of one of the session's own.  So a guest can neither create, change nor drop
 * anything that is in the temporary schema or depends on something in it, nor call a
 * function there, which may be SECURITY DEFINER and open to everyone.
 *
 * PostgreSQL tells object_access_hook of each object that is created, altered or dropped,
 * whatever its kind, in the statement that does it.
 *
 * In a worker everything in the temporary schema is dropped at the task's end
 * (identity.c), when the task has created or altered any object at all.  PostgreSQL's own
 * mark of the transaction is not enough: it misses objects that are created through a
 * search_path or by the schema's real name.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "base/version/compat.h"
#include "sql_task/identity/guest.h"

static object_access_hook_type previous_hook = NULL;

/* Objects that were created, altered or dropped in this process */
static uint64 changes = 0;

/* Count the objects that were created, altered or dropped in this process. */
uint64
sf_temp_schema_changes(void)
{
	return changes;
}

/* Tell whether the session has a temporary schema. */
bool
sf_temp_schema_exists(void)
{
	Oid			schema;
	Oid			toast_schema;

	GetTempNamespaceState(&schema, &toast_schema);
	return OidIsValid(schema);
}

/* Find the schema in the row of an object, also of one that this command has made; InvalidOid: it has none. */
static Oid
schema_of(Oid class, Oid object)
{
	AttrNumber	column = is_objectclass_supported(class) ?
		get_object_attnum_namespace(class) : InvalidAttrNumber;
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		isnull = true;
	Datum		schema = 0;

	if (column == InvalidAttrNumber)
		return InvalidOid;
	catalog = table_open(class, AccessShareLock);
	ScanKeyInit(&key, get_object_attnum_oid(class), BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(object));
	scan = systable_beginscan(catalog, get_object_oid_index(class), true, SnapshotSelf, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		schema = heap_getattr(tuple, column, RelationGetDescr(catalog), &isnull);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return isnull ? InvalidOid : DatumGetObjectId(schema);
}

/* Add the objects that an object depends on to a list that has each object once. */
static List *
add_references(List *objects, const ObjectAddress *object)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	SysScanDesc scan;
	ScanKeyData keys[2];
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(object->classId));
	ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(object->objectId));
	scan = systable_beginscan(depend, DependDependerIndexId, true, SnapshotSelf, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		bool		known = false;

		foreach_ptr(const ObjectAddress, other, objects)
			known = known || (other->classId == form->refclassid && other->objectId == form->refobjid);
		if (!known)
		{
			ObjectAddress *reference = palloc(sizeof(ObjectAddress));

			ObjectAddressSet(*reference, form->refclassid, form->refobjid);
			objects = lappend(objects, reference);
		}
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return objects;
}

/*
 * Tell whether an object is in the temporary schema of the session, or depends on one that
 * is: a trigger, a rule or a default of a temporary table, a cast from a temporary type.
 */
static bool
is_temporary(Oid class, Oid object)
{
	ObjectAddress *first = palloc(sizeof(ObjectAddress));
	List	   *objects = list_make1(first);
	bool		found = isTempOrTempToastNamespace(schema_of(class, object));

	ObjectAddressSet(*first, class, object);
	for (int i = 0; i < list_length(objects) && !found; i++)
	{
		const ObjectAddress *address = list_nth(objects, i);

		CHECK_FOR_INTERRUPTS();
		if (address->classId == NamespaceRelationId)
			found = isTempOrTempToastNamespace(address->objectId);
		else
			objects = add_references(objects, address);
	}
	list_free_deep(objects);
	return found;
}

/* Raise an error if an object is temporary: a guest creates, changes or drops it. */
static void
refuse_temporary(Oid class, Oid object)
{
	if (!is_temporary(class, object))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("cannot create, change or drop temporary objects in the session of another role"),
			 errdetail("A task of role \"%s\" runs in the session of \"%s\", which could use or run what the task leaves in its temporary schema.",
					   GetUserNameFromId(GetUserId(), true), GetUserNameFromId(GetSessionUserId(), true)),
			 errhint("Create the object in a schema of the task's role, or leave the execution to the background workers.")));
}

/* Check what a guest creates, changes or drops; a default of a column comes as its table and column. */
static void
check_change(Oid class, Oid object, int column)
{
	if (!sf_temp_schema_exists())
		return;
	refuse_temporary(class, object);
	if (column != 0 && class != RelationRelationId)
		refuse_temporary(RelationRelationId, object);
}

/* Remember an object that a guest has created, for sf_temp_schema_check. */
static void
note_created(SfGuest *guest, Oid class, Oid object)
{
	MemoryContext old = MemoryContextSwitchTo(guest->context);
	ObjectAddress *address = palloc(sizeof(ObjectAddress));

	ObjectAddressSet(*address, class, object);
	guest->made = lappend(guest->made, address);
	MemoryContextSwitchTo(old);
}

/*
 * Check at the end of a guest what it has created once more: what some kinds of objects
 * depend on, extended statistics among them, is written after the hook was called.
 */
void
sf_temp_schema_check(const SfGuest *guest)
{
	if (guest->made == NIL || !sf_temp_schema_exists())
		return;
	CommandCounterIncrement();
	foreach_ptr(const ObjectAddress, address, guest->made)
		refuse_temporary(address->classId, address->objectId);
}

/* Raise an error when a guest calls a function in the session's temporary schema. */
static void
check_call(Oid function)
{
	if (!sf_temp_schema_exists() || !isTempNamespace(get_func_namespace(function)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for function pg_temp.%s", quote_identifier(get_func_name(function))),
			 errdetail("A task of role \"%s\" runs in the session of \"%s\", to which the temporary schema belongs.",
					   GetUserNameFromId(GetUserId(), true), GetUserNameFromId(GetSessionUserId(), true))));
}

/*
 * Look at what happens to an object (object_access_hook).  A process that ends in the middle of
 * a guest's task drops its own temporary tables.
 */
static void
on_access(ObjectAccessType access, Oid class, Oid object, int sub, void *arg)
{
	SfGuest    *guest = proc_exit_inprogress ? NULL : sf_guest_current();

	if (previous_hook != NULL)
		previous_hook(access, class, object, sub, arg);
	switch (access)
	{
		case OAT_POST_CREATE:
		case OAT_POST_ALTER:
		case OAT_DROP:
			changes++;
			if (guest == NULL)
				break;
			check_change(class, object, sub);
			if (access == OAT_POST_CREATE)
				note_created(guest, class, object);
			break;
		case OAT_FUNCTION_EXECUTE:
			if (guest != NULL)
				check_call(object);
			break;
		case OAT_NAMESPACE_SEARCH:
		case OAT_TRUNCATE:
			break;
	}
}

/* Have PostgreSQL tell of each object that is created or changed; once a process. */
void
sf_temp_schema_init(void)
{
	previous_hook = object_access_hook;
	object_access_hook = on_access;
}
