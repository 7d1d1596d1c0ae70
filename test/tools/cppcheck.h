/*
 * cppcheck.h
 *		What cppcheck has to know of PostgreSQL's headers, which it does not read.
 */
#define PG_VERSION_NUM 150000
#define SFFLOW_VERSION ""
#define SFW_VERSION ""
#define pg_attribute_printf(format, first)
#define pg_attribute_noreturn() __attribute__((noreturn))
#define FLEXIBLE_ARRAY_MEMBER
#define CppAsString2(x) #x
#define PGDLLEXPORT
#define PG_MODULE_MAGIC
#define PG_FUNCTION_INFO_V1(function)
#define ERROR 21
#define FATAL 22
#define PANIC 23
#define ereport(level, ...) do { if ((level) >= ERROR) abort(); } while (0)
#define elog(level, ...) do { if ((level) >= ERROR) abort(); } while (0)
#define foreach(cell, list) for ((cell) = list_head(list); (cell) != NULL; (cell) = lnext((list), (cell)))
#define foreach_ptr(type, var, list) for (type *var = *(type **) (list); (var) != NULL; (var)++)
#define dlist_foreach_modify(iter, list) for ((iter).cur = next_of(list); (iter).cur != NULL; (iter).cur = next_of(list))
#define PG_TRY() if (setjmp(exception_stack) == 0) { (void) 0
#define PG_CATCH() } else { (void) 0
#define PG_FINALLY() } { (void) 0
#define PG_END_TRY() }
#define PG_RE_THROW() abort()
