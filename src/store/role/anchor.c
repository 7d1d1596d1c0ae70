/*
 * anchor.c
 *		Roles that sfflow stores cannot be dropped.
 *
 * A column of type regrole does not depend on the role: PostgreSQL would drop
 * a role that owns machines.  So every role that sfflow stores as an owner or a
 * grantee gets an entry in pg_shdepend, its anchor, which says that a privilege
 * of the role on the type _sfflow.owner_or_grantee depends on it.  DROP ROLE
 * then refuses and names that type.  There is no such privilege in the type's
 * access list: two transactions that change one access list wait for each other,
 * entries of pg_shdepend are rows of their own.
 *
 * Why this type and no other object: docs/decisions/role-anchors.md.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_shdepend.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "db/direct.h"
#include "store/feature.h"
#include "store/role/privilege.h"

static SfPlan find_roles = SF_PLAN("SELECT DISTINCT n.role FROM _sfflow.named_role n");

/* Find the type that stands for all roles that sfflow stores. */
static Oid
anchor_type(void)
{
	Oid			schema = get_namespace_oid("_sfflow", false);
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
									   CStringGetDatum("owner_or_grantee"),
									   ObjectIdGetDatum(schema));

	if (!OidIsValid(type))
		elog(ERROR, "type _sfflow.owner_or_grantee does not exist");
	return type;
}

/* List the roles that are anchored, as of now. */
static List *
anchored_roles(void)
{
	Relation	rel = table_open(SharedDependRelationId, AccessShareLock);
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *roles = NIL;

	ScanKeyInit(&keys[0], Anum_pg_shdepend_dbid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(MyDatabaseId));
	ScanKeyInit(&keys[1], Anum_pg_shdepend_classid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(TypeRelationId));
	ScanKeyInit(&keys[2], Anum_pg_shdepend_objid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(anchor_type()));
	scan = systable_beginscan(rel, SharedDependDependerIndexId, true, NULL, 3, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_shdepend entry = (Form_pg_shdepend) GETSTRUCT(tuple);

		if (entry->refclassid == AuthIdRelationId &&
			entry->deptype == SHARED_DEPENDENCY_ACL)
			roles = lappend_oid(roles, entry->refobjid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return roles;
}

/* Tell whether a role is anchored, as of now, by what refers to it: there may be many others. */
static bool
is_anchored(Oid role)
{
	Relation	rel = table_open(SharedDependRelationId, AccessShareLock);
	Oid			type = anchor_type();
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&keys[0], Anum_pg_shdepend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(AuthIdRelationId));
	ScanKeyInit(&keys[1], Anum_pg_shdepend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(role));
	scan = systable_beginscan(rel, SharedDependReferenceIndexId, true, NULL, 2, keys);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_shdepend entry = (Form_pg_shdepend) GETSTRUCT(tuple);

		found = entry->dbid == MyDatabaseId && entry->classid == TypeRelationId &&
			entry->objid == type && entry->deptype == SHARED_DEPENDENCY_ACL;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* Make a list of one role, as updateAclDependencies wants it. */
static Oid *
one_role(Oid role)
{
	Oid		   *list = palloc(sizeof(Oid));

	*list = role;
	return list;
}

/* Add or take away the entry of a role. */
static void
set_anchor(Oid role, bool anchored)
{
	updateAclDependencies(TypeRelationId, anchor_type(), 0, sf_db_owner(),
						  anchored ? 0 : 1, anchored ? NULL : one_role(role),
						  anchored ? 1 : 0, anchored ? one_role(role) : NULL);
	CommandCounterIncrement();
}

/*
 * Lock a role's anchor in this database until the end of the transaction, unless
 * others hold locks that conflict.  As ConditionalLockDatabaseObject(), which
 * early minor releases do not have (16.2).
 */
static bool
lock_anchor(Oid role, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, AuthIdRelationId, role, 0);
	if (LockAcquire(&tag, mode, false, true) == LOCKACQUIRE_NOT_AVAIL)
		return false;
	AcceptInvalidationMessages();
	return true;
}

/*
 * Make DROP ROLE refuse while sfflow knows a role.  The lock keeps the anchor
 * from going away until this transaction's row that names the role can be seen;
 * transactions that anchor do not wait for each other.
 *
 * When the lock is not available, another transaction is removing the anchor.
 * That transaction may stay open for long, so this one does not wait but adds a
 * second entry.  The other transaction removes only entries that it sees, so the
 * new entry stays.  A later one either sees that the role is named, or finds this
 * entry not yet committed.
 */
void
sf_privilege_anchor(Oid role)
{
	if (!OidIsValid(role) || role == sf_db_owner())
		return;
	if (!lock_anchor(role, RowExclusiveLock) ||
		!is_anchored(role))
		set_anchor(role, true);
}

/*
 * Tell whether a row names a role, whatever the snapshot of the transaction.  What other
 * roles have costs nothing.
 */
static bool
is_named(Oid role)
{
	SF_TABLES(table)
		if (table->by_role != NULL && sf_row_is_any_now(&(SfIndex) {table->name, table->by_role}, SF_ROLE(role)))
			return true;
	return false;
}

/*
 * Take the anchor back when no row names the role any more.  When another open
 * transaction is about to name it the anchor stays; should that transaction roll
 * back, sf_enable() takes the anchor away.
 */
void
sf_privilege_unanchor(Oid role)
{
	if (!OidIsValid(role) || role == sf_db_owner() ||
		GetUserNameFromId(role, true) == NULL || is_named(role))
		return;
	if (!lock_anchor(role, ShareRowExclusiveLock))
		return;
	if (!is_named(role))
		set_anchor(role, false);
}

/*
 * Anchor the roles that rows name, and no other ones: a dump does not bring the
 * anchors along.
 */
void
sf_privilege_anchor_all(void)
{
	ListCell   *lc;

	foreach(lc, sf_db_numbers(&find_roles))
	{
		Oid			role = *(int64 *) lfirst(lc);

		if (GetUserNameFromId(role, true) != NULL)
			sf_privilege_anchor(role);
	}
	foreach(lc, anchored_roles())
		sf_privilege_unanchor(lfirst_oid(lc));
}
