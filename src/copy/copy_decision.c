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

#define ROLE_NAME(sym, name) name,
static const char *const role_names[] = {SF_COPY_ROLE_LIST(ROLE_NAME)};

/* The name of a role. */
const char *
sf_copy_role_name(SfCopyRole role)
{
	return role_names[role];
}

/* Find the role of a name. */
bool
sf_copy_role_of(const char *name, SfCopyRole *role)
{
	for (size_t i = 0; i < lengthof(role_names); i++)
	{
		if (strcmp(role_names[i], name) == 0)
		{
			*role = (SfCopyRole) i;
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
		return (SfCopyDecision) {SF_COPY_COPY, false};
	/* a restored copy that is restarted as a standby stays one */
	if (facts->own && facts->role == SF_COPY_COPY)
		return (SfCopyDecision) {SF_COPY_COPY, true};
	return (SfCopyDecision) {SF_COPY_FOLLOWER, facts->own};
}

/* Decide what the data directory is; depends on the facts alone. */
SfCopyDecision
sf_copy_decide(const SfCopyFacts *facts)
{
	if (facts->standby_signal)
		return decide_standby(facts);
	if (facts->recovery_signal || !facts->own || facts->backup_label)
		return (SfCopyDecision) {SF_COPY_COPY, false};
	/* its primary may still run: standby.signal was removed by hand */
	if (facts->role == SF_COPY_FOLLOWER && facts->shut_down_in_recovery)
		return (SfCopyDecision) {SF_COPY_COPY, false};
	return (SfCopyDecision) {facts->role, true};
}
