/*
 * instance.h
 *		Whether this copy of the database is the one that is driven.
 */
#ifndef SF_COPY_INSTANCE_H
#define SF_COPY_INSTANCE_H

#include "copy/copy_decision.h"

typedef enum SfInstanceStatus
{
	SF_INSTANCE_DRIVEN,			/* the row is there, is ours and is enabled */
	SF_INSTANCE_DISABLED,		/* ours, switched off by sf_disable() */
	SF_INSTANCE_NEW,			/* no row, and no state machine: nothing to drive */
	SF_INSTANCE_RESTORED,		/* no row, but state machines: a restored dump */
	SF_INSTANCE_COPY,			/* another database's row: a copy, or upgraded */
	SF_INSTANCE_FILES_COPIED,	/* this database's row, another data directory's id */
	SF_INSTANCE_STANDBY,		/* to be driven after promotion, or in a moment */
	SF_INSTANCE_STOPPED,		/* sfflow stopped driving it, and says why */
	SF_INSTANCE_UNGUARDED,		/* the triggers that notice loaded rows were off */
	SF_INSTANCE_UPGRADING		/* pg_upgrade runs this server */
} SfInstanceStatus;

extern SfInstanceStatus sf_instance_status(void);
extern bool sf_instance_is_driven(void);
extern bool sf_instance_takes_work(void);
extern const char *sf_instance_explain(SfInstanceStatus status);
extern void sf_instance_tell(int elevel, SfInstanceStatus status, const char *what);
extern void sf_instance_refuse_upgrade(const char *function);
extern void sf_instance_adopt_new(void);

/* Adopt this copy, or have it driven no longer; asks no permission. */
extern void sf_instance_enable(void);
extern void sf_instance_disable(void);
extern void sf_instance_set_node(int node);

/* Numbers that nodes may have: of higher ones, programs that read numbers as doubles lose the last digits */
#define SF_MAX_NODE	31

/* The numbers of a node are above this, and those of nodes with lower numbers are below */
#define SF_NODE_NUMBERS(node)	((int64) (node) << 48)

/* Where the number of a node may stand, of sf_set_node() or of sf_add_node(): there is none */
#define SF_NO_NODE	(-1)

extern void sf_instance_stop(const char *reason);

/*
 * The launcher's first look at a database, not in recovery: what was driven
 * under the id of another data directory is taken over or marked as a copy, as
 * the kind of this one asks for.
 */
extern void sf_instance_settle(void);

/*
 * --- the file by which a data directory knows itself from its copies: instance_file.c ---
 *
 * It lies in the root of the data directory and says which file it is itself,
 * so that in a copy of the directory it is seen to be a copy.
 */

extern void sf_instance_file_start(void);
extern void sf_instance_file_reread(void);
extern int64 sf_instance_file_id(void);

/*
 * Id of this data directory; makes the file where it has none of its own.
 * Takes a lock until the end of the transaction; raises where the file cannot
 * be written.
 */
extern int64 sf_instance_file_require(void);

extern SfDirectoryKind sf_instance_file_kind(void);
extern bool sf_instance_file_write_settled(void);

#endif							/* SF_COPY_INSTANCE_H */
