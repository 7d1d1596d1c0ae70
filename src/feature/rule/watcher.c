/*
 * watcher.c
 *		The rules that may see changes of a machine, a schedule or an activity, as this
 *		session keeps them.
 *
 * Rights come first: a session reads and compiles the rules of a role only when it changes
 * something that this role may know of.  So the rules of all others cost it nothing,
 * however many there are and however often they change.
 *
 * What is kept, and when it is looked at again:
 *
 *	- the roles that have rules (table rule_owner): when one more role has its first rule;
 *	- of a role, those of them that are members of it: when roles change, too;
 *	- of a machine, those of them that may READ it: when a rule, a right or a role changes.
 *	  This reads the rights on this machine, and the revision of the rules of each role
 *	  found, by their keys;
 *	- the compiled rules of a role: when their revision is another one.
 */
#include "postgres.h"

#include "utils/acl.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/error/errors.h"
#include "db/table_cache.h"
#include "feature/rule/rule.h"
#include "feature/rule/watcher.h"
#include "store/role/privilege.h"

/* Machines, and roles, that a session keeps; when there are more, all are looked up anew */
#define MAX_KEPT	1000

/* The watchers that have the rights of a role */
typedef struct Members
{
	Oid			role;			/* hash key: must be first; InvalidOid: public */
	List	   *watchers;
} Members;

/* The watchers that may READ a machine */
typedef struct Readers
{
	int			machine_no;		/* hash key: must be first; never given again */
	Oid			owner;
	uint64		checked;		/* as in SfWatcher; 0: not yet */
	List	   *watchers;
	int			kinds;			/* of changes that they want */
} Readers;

static void load_owners(SfTableCache *cache);
static void note_change(SfTableCache *cache);
static void load_alerts(SfTableCache *cache);

/* The roles that have rules, and with them all that is kept */
static SfTableCache owners_cache = {.table = "rule_owner",.load = load_owners,.is_latest = true};

/* Whether rules, and rights, have changed */
static SfTableCache rules_cache = {.table = "rule",.load = note_change,.is_latest = true};
static SfTableCache rights_cache = {.table = "privilege",.load = note_change,.is_latest = true};

/* Whether a rule wants to know of alerts */
static SfTableCache alerts_cache = {.table = "rule",.load = load_alerts,.is_latest = true};
static bool wants_alerts = false;

static List *watchers = NIL;	/* all, SfWatcher */
static HTAB *members = NULL;
static HTAB *readers = NULL;
static MemoryContext rights_context = NULL;	/* of both and their lists, in that of the cache of owners */
static uint64 changes = 1;
static bool roles_changed = false;

/* --- what has changed --- */

/* Something has changed: revisions and rights are to be looked at. */
static void
note_change(SfTableCache *cache)
{
	changes++;
}

/* Syscache callback: a role, or a membership, has changed. */
static void
note_roles(Datum arg, int cacheid, uint32 hashvalue)
{
	roles_changed = true;
}

/* Make a hash table without entries. */
static HTAB *
make_table(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		ctl = {.keysize = keysize,.entrysize = entrysize,.hcxt = rights_context};

	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Forget which watchers have which rights. */
static void
forget_rights(void)
{
	members = readers = NULL;
	if (rights_context == NULL)
		rights_context = AllocSetContextCreate(owners_cache.context, "sfflow rights of watchers",
											   ALLOCSET_DEFAULT_SIZES);
	else
		MemoryContextReset(rights_context);
	members = make_table("sfflow members that have rules", sizeof(Oid), sizeof(Members));
	readers = make_table("sfflow readers that have rules", sizeof(int), sizeof(Readers));
}

/* Read which roles have rules, and forget all that was kept. */
static void
load_owners(SfTableCache *cache)
{
	static bool is_registered = false;
	List	   *owners;
	ListCell   *lc;

	if (!is_registered)
	{
		CacheRegisterSyscacheCallback(AUTHOID, note_roles, (Datum) 0);
		CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, note_roles, (Datum) 0);
		is_registered = true;
	}
	/* their memory is gone */
	watchers = NIL;
	rights_context = NULL;
	owners = sf_rule_owners();
	forget_rights();
	foreach(lc, owners)
	{
		MemoryContext old = MemoryContextSwitchTo(owners_cache.context);
		SfWatcher  *watcher = palloc0(sizeof(SfWatcher));

		watcher->owner = lfirst_oid(lc);
		watchers = lappend(watchers, watcher);
		MemoryContextSwitchTo(old);
	}
	changes++;
}

/* Take in what has changed; false: no role has rules. */
static bool
refresh(void)
{
	sf_table_cache_refresh(&owners_cache);
	if (watchers == NIL)
		return false;
	sf_table_cache_refresh(&rules_cache);
	sf_table_cache_refresh(&rights_cache);
	if (roles_changed || hash_get_num_entries(members) > MAX_KEPT ||
		hash_get_num_entries(readers) > MAX_KEPT)
	{
		roles_changed = false;
		forget_rights();
	}
	return true;
}

/* --- the rules of a role --- */

/* Compile a pattern. */
static bool
compile(void *arg)
{
	SfWatchedRule *watch = arg;

	watch->pattern = sf_pattern_compile(watch->source);
	return true;
}

/* Add a rule to those of its owner; one that another version of sfflow has stored may not compile. */
static void
add_watch(SfWatcher *watcher, const SfRule *rule)
{
	static const char *const forms[][2] = {
#define FORM(sym, source, detail_type) {source, detail_type},
		SF_CHANGE_LIST(FORM)
	};
	MemoryContext old = MemoryContextSwitchTo(watcher->context);
	SfWatchedRule *watch = palloc0(sizeof(SfWatchedRule));
	ErrorData  *error;

	watch->rule_no = rule->rule_no;
	watch->owner = rule->owner;
	watch->source = rule->pattern;
	error = sf_subtransaction_run(compile, NULL, watch);
	if (error != NULL)
		ereport(LOG,
				(errmsg("rule \"%s\" matches nothing: %s", rule->name, error->message)));
	else
	{
		watch->wants_payload = sf_pattern_names(watch->pattern, "input") ||
			sf_pattern_names(watch->pattern, "output");
		for (size_t i = 0; i < lengthof(forms); i++)
			if (forms[i][1] != NULL ? sf_pattern_may_match(watch->pattern, "detail-type", forms[i][1]) :
				sf_pattern_may_match(watch->pattern, "source", forms[i][0]))
				watch->kinds |= 1 << i;
		watcher->kinds |= watch->kinds;
		watcher->watches = lappend(watcher->watches, watch);
	}
	MemoryContextSwitchTo(old);
}

/* Read the rules of a role. */
static void
load_rules(SfWatcher *watcher, SfRuleRevision revision)
{
	ListCell   *lc;

	watcher->revision = SF_NO_REVISION;
	watcher->watches = NIL;
	watcher->kinds = 0;
	if (watcher->context == NULL)
		watcher->context = AllocSetContextCreate(owners_cache.context, "sfflow rules of a role",
												 ALLOCSET_START_SMALL_SIZES);
	MemoryContextReset(watcher->context);
	foreach(lc, sf_rule_read_of(watcher->owner))
		add_watch(watcher, lfirst(lc));
	watcher->revision = revision.is_ours ? SF_NO_REVISION : revision.revision;
}

/* See to it that the rules of a role are those of now. */
static void
check_watcher(SfWatcher *watcher)
{
	uint64		now = changes;
	SfRuleRevision revision;

	if (watcher->checked == now)
		return;
	/* before the rules: a change meanwhile has another revision */
	revision = sf_rule_revision(watcher->owner);
	if (revision.is_ours || revision.revision != watcher->revision)
		load_rules(watcher, revision);
	watcher->checked = now;
}

/* --- rights --- */

/* Find the watchers that have the rights of a role (InvalidOid: of public). */
static List *
find_members(Oid role)
{
	Members    *entry = hash_search(members, &role, HASH_FIND, NULL);
	List	   *found = NIL;
	MemoryContext old;
	ListCell   *lc;

	if (entry != NULL)
		return entry->watchers;
	foreach(lc, watchers)
	{
		SfWatcher  *watcher = lfirst(lc);

		if (!OidIsValid(role) || has_privs_of_role(watcher->owner, role))
			found = lappend(found, watcher);
	}
	old = MemoryContextSwitchTo(rights_context);
	found = list_copy(found);
	MemoryContextSwitchTo(old);
	entry = hash_search(members, &role, HASH_ENTER, NULL);
	entry->watchers = found;
	return found;
}

/* Add the watchers that have a right on an object, such as READ on a machine, or are members of its owner. */
static List *
find_privileged(List *found, SfObjectKind kind, const char *name, SfPrivilege privilege, Oid owner)
{
	List	   *roles = sf_privilege_roles(kind, name, privilege);
	ListCell   *lc;

	if (OidIsValid(owner))
		roles = lappend_oid(roles, owner);
	foreach(lc, roles)
		found = list_concat_unique_ptr(found, find_members(lfirst_oid(lc)));
	return found;
}

/* Look up who may READ a machine, and the rules of these roles. */
static void
load_readers(Readers *read, const SfExecution *execution)
{
	uint64		now = changes;
	List	   *found = find_privileged(NIL, SF_OBJECT_STATE_MACHINE, execution->machine_name, SF_PRIVILEGE_READ,
										execution->owner);
	MemoryContext old;
	ListCell   *lc;

	read->checked = 0;
	read->kinds = 0;
	foreach(lc, found)
	{
		SfWatcher  *watcher = lfirst(lc);

		check_watcher(watcher);
		read->kinds |= watcher->kinds;
	}
	list_free(read->watchers);
	old = MemoryContextSwitchTo(rights_context);
	read->watchers = list_copy(found);
	MemoryContextSwitchTo(old);
	read->owner = execution->owner;
	read->checked = now;
}

/* --- questions --- */

/* Tell whether any role has, or had, rules. */
bool
sf_watcher_is_any(void)
{
	return refresh();
}

/* Read whether a rule wants to know of alerts. */
static void
load_alerts(SfTableCache *cache)
{
	wants_alerts = sf_rule_any_wants_alerts();
}

/* Tell whether a rule of any role wants to know of alerts. */
bool
sf_watcher_any_wants_alerts(void)
{
	if (!refresh())
		return false;
	sf_table_cache_refresh(&alerts_cache);
	return wants_alerts;
}

/*
 * Find the roles with rules that may know of an execution, a List of SfWatcher that is valid
 * until the next call; *kinds: which changes their rules want, as bits.
 */
List *
sf_watcher_of_execution(const SfExecution *execution, int *kinds)
{
	Readers    *read;
	bool		found;

	*kinds = 0;
	if (!refresh())
		return NIL;
	read = hash_search(readers, &execution->machine_no, HASH_ENTER, &found);
	if (!found)
	{
		read->watchers = NIL;
		read->checked = 0;
	}
	if (read->checked != changes || read->owner != execution->owner)
		load_readers(read, execution);
	*kinds = read->kinds;
	return read->watchers;
}

/* Find the roles with rules that may know of what a notice is of: valid until the next call. */
List *
sf_watcher_of_notice(const SfNotice *notice)
{
	List	   *found = NIL;
	ListCell   *lc;

	if (!refresh())
		return NIL;
	if (OidIsValid(notice->owner))
		found = list_concat_unique_ptr(found, find_members(notice->owner));
	if (notice->machine != NULL)
		found = find_privileged(found, SF_OBJECT_STATE_MACHINE, notice->machine, SF_PRIVILEGE_READ,
								notice->machine_owner);
	if (notice->event_type != NULL)
		found = find_privileged(found, SF_OBJECT_EVENT, notice->event_type, SF_PRIVILEGE_RECEIVE, InvalidOid);
	foreach(lc, found)
		check_watcher(lfirst(lc));
	return found;
}
