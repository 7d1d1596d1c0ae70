/*
 * copy_decision.c
 *		Whether a data directory may go on with what its tables say is driven.
 *
 * The rules were found by trying backups, clones and failovers on PostgreSQL
 * 15.  Neither the timeline nor the LSN tells a copy that was opened from a
 * standby that was promoted; signal files do, unless the first start was
 * without the library; and an instance file that is not its own does.
 */
#include "postgres.h"

#include "copy/copy_decision.h"

#define KIND_NAME(sym, name) name,
static const char *const kind_names[] = {SF_DIRECTORY_KIND_LIST(KIND_NAME)};

/* The name of a kind. */
const char *
sf_copy_kind_name(SfDirectoryKind kind)
{
	return kind_names[kind];
}

/* Find the kind of a name. */
bool
sf_copy_kind_of(const char *name, SfDirectoryKind *kind)
{
	for (size_t i = 0; i < lengthof(kind_names); i++)
	{
		if (strcmp(kind_names[i], name) == 0)
		{
			*kind = (SfDirectoryKind) i;
			return true;
		}
	}
	return false;
}

/* Decide what a data directory with a standby.signal is. */
static SfCopyDecision
decide_standby(const SfCopyFacts *facts)
{
	/* recovery stops at the target and promotes: a restore, not a failover */
	if (facts->recovery_target)
		return (SfCopyDecision) {SF_DIRECTORY_COPY, false};
	/* a restored copy that is restarted as a standby stays one */
	if (facts->own && facts->kind == SF_DIRECTORY_COPY)
		return (SfCopyDecision) {SF_DIRECTORY_COPY, true};
	return (SfCopyDecision) {SF_DIRECTORY_FOLLOWER, facts->own};
}

/* Decide what the data directory is; depends on the facts alone. */
SfCopyDecision
sf_copy_decide(const SfCopyFacts *facts)
{
	if (facts->standby_signal)
		return decide_standby(facts);
	if (facts->recovery_signal || !facts->own || facts->backup_label)
		return (SfCopyDecision) {SF_DIRECTORY_COPY, false};
	/* its primary may still run: standby.signal was removed by hand */
	if (facts->kind == SF_DIRECTORY_FOLLOWER && facts->shut_down_in_recovery)
		return (SfCopyDecision) {SF_DIRECTORY_COPY, false};
	return (SfCopyDecision) {facts->kind, true};
}
