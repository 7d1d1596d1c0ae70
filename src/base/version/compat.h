/*
 * compat.h
 *		Check of PostgreSQL's version, and shims for differences between releases.
 *
 * All other code is written for one PostgreSQL.  Differences between releases are
 * handled here and nowhere else.
 */
#ifndef SF_BASE_COMPAT_H
#define SF_BASE_COMPAT_H

#if PG_VERSION_NUM < 150000
#error "sfflow needs PostgreSQL 15 or later"
#endif

/* --- what 16 changed --- */

#if PG_VERSION_NUM >= 160000
/* VARSIZE() and its like left postgres.h; checks of rights name their catalogues */
#include "catalog/pg_database_d.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc_d.h"
#include "varatt.h"

/* EvalPlanQualInit() takes the result relations */
#define SF_EPQ_EXTRA_ARG	, NIL
/* ExecInsertIndexTuples() can leave all but summarizing indexes out */
#define SF_INSERT_INDEX_EXTRA_ARG	, false

/* The actions of a parse with common/jsonapi.h return an error code. */
#define SF_JSON_ACTION_RESULT	JsonParseErrorType
#define SF_JSON_ACTION_RETURN	return JSON_SUCCESS

/* Find a setting by its name: a function, a loop before.  Users include utils/guc_tables.h. */
#define sf_find_setting(name)	find_option((name), false, false, ERROR)
/* What a check hook of a setting hands on: guc.c frees it. */
#define SF_GUC_MALLOC(size)	guc_malloc(LOG, size)

/* Names as in SQL text: "schema.function" to a list */
#define sf_qualified_name_list(text)	stringToQualifiedNameList(text, NULL)

/* Check a right on an object, or its ownership: one function for all kinds.  Users include utils/acl.h. */
#define sf_function_aclcheck(oid, role, mode) object_aclcheck(ProcedureRelationId, oid, role, mode)
#define sf_schema_aclcheck(oid, role, mode) object_aclcheck(NamespaceRelationId, oid, role, mode)
#define sf_database_aclcheck(oid, role, mode) object_aclcheck(DatabaseRelationId, oid, role, mode)
#define SF_OWNS_DATABASE(oid, role)	object_ownercheck(DatabaseRelationId, (oid), (role))
/* May a role become another one?  A right of its own */
#define SF_CAN_SET_ROLE(member, role)	member_can_set_role(member, role)

/* Go through a list of MyProc->myProcLocks. */
#define SF_PROC_LOCK_AFTER(list, node) \
	((node)->next == &(list)->head ? NULL : dlist_container(PROCLOCK, procLink, (node)->next))
#define SF_FIRST_PROC_LOCK(list)	SF_PROC_LOCK_AFTER(list, &(list)->head)
#else
#define SF_EPQ_EXTRA_ARG
#define SF_INSERT_INDEX_EXTRA_ARG
#define SF_JSON_ACTION_RESULT	void
#define SF_JSON_ACTION_RETURN	return
extern struct config_generic *sf_find_setting(const char *name);
#define SF_GUC_MALLOC(size)	malloc(size)
#define sf_qualified_name_list(text)	stringToQualifiedNameList(text)
#define sf_function_aclcheck(oid, role, mode) pg_proc_aclcheck(oid, role, mode)
#define sf_schema_aclcheck(oid, role, mode) pg_namespace_aclcheck(oid, role, mode)
#define sf_database_aclcheck(oid, role, mode) pg_database_aclcheck(oid, role, mode)
#define SF_OWNS_DATABASE(oid, role)	pg_database_ownercheck((oid), (role))
#define SF_CAN_SET_ROLE(member, role)	is_member_of_role(member, role)
#define SF_PROC_LOCK_AFTER(list, node) \
	((PROCLOCK *) SHMQueueNext((list), (node), offsetof(PROCLOCK, procLink)))
#define SF_FIRST_PROC_LOCK(list)	SF_PROC_LOCK_AFTER(list, list)
#endif

/* --- what 17 changed --- */

#if PG_VERSION_NUM >= 170000
/* The lexer's context can be allocated by the caller.  Users include common/jsonapi.h, mb/pg_wchar.h. */
#define sf_json_lex_context(text, len) \
	makeJsonLexContextCstringLen(NULL, (text), (len), GetDatabaseEncoding(), true)
/* Local transaction id of this backend, and the number of its PGPROC */
#define SF_MY_LXID	(MyProc->vxid.lxid)
#define SF_LOCK_HELD(tag, mode)	LockHeldByMe(tag, mode, false)
#define SF_MY_PROCNO	MyProcNumber
/* What a set of events to wait for belongs to: a resource owner, a memory context before */
#define SF_WAIT_SET_OWNER	CurrentResourceOwner
#else
#define sf_json_lex_context(text, len) \
	makeJsonLexContextCstringLen(unconstify(char *, (text)), (len), GetDatabaseEncoding(), true)
#define SF_MY_LXID	(MyProc->lxid)
#define SF_LOCK_HELD(tag, mode)	LockHeldByMe(tag, mode)
#define SF_MY_PROCNO	(MyProc->pgprocno)
#define SF_WAIT_SET_OWNER	CurrentMemoryContext
#endif

/* --- what 18 changed --- */

#if PG_VERSION_NUM >= 180000
/* index_beginscan() counts for EXPLAIN. */
#define SF_INDEX_BEGINSCAN_EXTRA_ARG	, NULL
/* ExecCheckIndexConstraints() is told of the row itself. */
#define SF_CHECK_INDEX_EXTRA_ARG	, NULL
/* ConditionalXactLockTableWait() may log that it does not wait. */
#define SF_XACT_LOCK_EXTRA_ARG	, false
/* The executor's states of check constraints have another name, and a constraint may not be enforced. */
#define SF_CHECK_EXPRS(rri)	((rri)->ri_CheckConstraintExprs)
#define SF_IS_ENFORCED(check)	((check)->ccenforced)
/* Bytes of pg_b64_encode() and pg_b64_decode() are unsigned. */
#define SF_B64_SRC(p)	((const uint8 *) (p))
#define SF_B64_DST(p)	((uint8 *) (p))
/* pg_get_loaded_modules() shows name and release. */
#define SF_MODULE_MAGIC	PG_MODULE_MAGIC_EXT(.name = "sfflow", .version = SFFLOW_VERSION)
#else
#define SF_INDEX_BEGINSCAN_EXTRA_ARG
#define SF_CHECK_INDEX_EXTRA_ARG
#define SF_XACT_LOCK_EXTRA_ARG
#define SF_CHECK_EXPRS(rri)	((rri)->ri_ConstraintExprs)
#define SF_IS_ENFORCED(check)	true
#define SF_B64_SRC(p)	(p)
#define SF_B64_DST(p)	(p)
#define SF_MODULE_MAGIC	PG_MODULE_MAGIC
#endif

/* --- what 19 changed --- */

#if PG_VERSION_NUM >= 190000
/* ExecInsertIndexTuples() takes flags for what were arguments, in another order. */
#define sf_insert_index_entries(rri, slot, estate, no_error, conflict, arbiters) \
	ExecInsertIndexTuples((rri), (estate), (no_error) ? EIIT_NO_DUPE_ERROR : 0, (slot), (arbiters), (conflict))
/* Scans take flags. */
#define SF_SCAN_FLAGS_ARG	, SO_NONE
/* FuncnameGetCandidates() tells more about what it has not found. */
#define SF_CANDIDATES_EXTRA_ARG	, &(int) {0}
/* Handlers of signals are told who has sent them. */
#define SF_DIE(number, info) \
	die((number), &(pg_signal_info) {.pid = (info)->si_pid,.uid = (info)->si_uid})
/*
 * A jsonb under construction, which begins as zeroes; what is pushed last gives the whole.  Users include
 * utils/jsonb.h.
 */
#define SfJsonbBuild	JsonbInState
#define SF_JSONB_STACK(build)	((build)->parseState)
#define sf_jsonb_push(build, token, value) \
	(pushJsonbValue((build), (token), (value)), (build)->result)
#else
#define sf_insert_index_entries(rri, slot, estate, no_error, conflict, arbiters) \
	ExecInsertIndexTuples((rri), (slot), (estate), false, (no_error), (conflict), \
						  (arbiters) SF_INSERT_INDEX_EXTRA_ARG)
#define SF_SCAN_FLAGS_ARG
#define SF_CANDIDATES_EXTRA_ARG
#define SF_DIE(number, info)	die(number)
#define pg_fallthrough	__attribute__((fallthrough))
#define SfJsonbBuild	JsonbParseState *
#define SF_JSONB_STACK(build)	(*(build))
#define sf_jsonb_push(build, token, value)	pushJsonbValue((build), (token), (value))
#endif

/* Loop over a list of pointers with a variable of its own, as PostgreSQL has it since 17 */
#if PG_VERSION_NUM < 170000
#define foreach_ptr(type, var, list) \
	for (type *var = NULL, *var##__once = (type *) 1; var##__once; var##__once = NULL) \
		for (ForEachState var##__state = {(list), 0}; \
			 var##__state.l != NIL && var##__state.i < var##__state.l->length && \
			 (var = lfirst(&var##__state.l->elements[var##__state.i]), true); \
			 var##__state.i++)
#endif

/* Functions that do not return are marked in front since 18 */
#ifndef pg_attribute_noreturn
#define pg_attribute_noreturn() __attribute__((noreturn))
#endif

#endif							/* SF_BASE_COMPAT_H */
