/*
 * table_copy.h
 *		What a backend keeps of a small table, or derives from it.
 */
#ifndef SF_DB_TABLE_COPY_H
#define SF_DB_TABLE_COPY_H

/* A copy of a table; the first three members are set by the owner of the struct */
typedef struct SfTableCopy
{
	const char *table;
	void		(*load) (struct SfTableCopy *copy); /* read the table, in the context of the caller */
	bool		is_latest;			/* load reads what there is now, whatever the snapshot */
	bool		is_current;			/* false: the table may have changed */
	MemoryContext context;			/* for what is kept; NULL before the first load */
	Oid			relation;
	struct SfTableCopy *next;
} SfTableCopy;

extern void sf_table_copy_refresh(SfTableCopy *copy);
extern void sf_table_copy_accept_changes(void);

#endif							/* SF_DB_TABLE_COPY_H */
