/*
 * copy_decision.h
 *		Whether a data directory may go on with what its tables say is driven.
 *
 * docs/copies.md tells what each situation means to an operator.
 */
#ifndef SF_COPY_COPY_DECISION_H
#define SF_COPY_COPY_DECISION_H

/*
 * What a data directory is: symbol, name in the file.
 *
 *	COPY		its files came from elsewhere, or it is new: databases that were
 *				driven under another id are marked as copies, not driven
 *	FOLLOWER	it replays another server's WAL: when it is promoted, it takes
 *				over what was driven under another id
 *	SETTLED		one of the two was done in all databases
 */
#define SF_DIRECTORY_KIND_LIST(X) \
	X(COPY, "copy") \
	X(FOLLOWER, "follower") \
	X(SETTLED, "settled")

#define SF_DIRECTORY_KIND_ENUM(sym, name) SF_DIRECTORY_##sym,
typedef enum SfDirectoryKind
{
	SF_DIRECTORY_KIND_LIST(SF_DIRECTORY_KIND_ENUM)
} SfDirectoryKind;

/* What the start of a server finds in its data directory */
typedef struct SfCopyFacts
{
	bool		own;			/* the instance file is there and is no copy */
	SfDirectoryKind	kind;			/* that it names; matters only when own */
	bool		standby_signal;
	bool		recovery_signal;
	bool		recovery_target;	/* one of the recovery_target settings is set */
	bool		backup_label;
	bool		shut_down_in_recovery;	/* by the control file */
} SfCopyFacts;

typedef struct SfCopyDecision
{
	SfDirectoryKind	kind;
	bool		keep_id;		/* else it gets a new one */
} SfCopyDecision;

extern SfCopyDecision sf_copy_decide(const SfCopyFacts *facts);

/* The name of a kind, and the kind of a name (false: there is none). */
extern const char *sf_copy_kind_name(SfDirectoryKind kind);
extern bool sf_copy_kind_of(const char *name, SfDirectoryKind *kind);

#endif							/* SF_COPY_COPY_DECISION_H */
