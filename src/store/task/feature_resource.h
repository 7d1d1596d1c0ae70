/*
 * feature_resource.h
 *		A kind of resources whose tasks a feature runs: they wait for what it gives them.
 */
#ifndef SF_STORE_FEATURE_RESOURCE_H
#define SF_STORE_FEATURE_RESOURCE_H

#include "asl/program.h"
#include "base/error/errors.h"
#include "store/branch/branch.h"

struct SfDraft;
struct SfFeatureWait;
struct SfStimulus;
struct SfTaskRequest;

typedef struct SfFeatureResource
{
	/*
	 * A task begins to wait: *stimulus says that it does, or why it cannot.  What it waits for, an SfFeatureWait, is
	 * put into the waits of the draft, and written after the branches, when no user code follows.
	 */
	void		(*begin_wait) (struct SfDraft *draft, const SfBranch *branch, const SfResource *resource,
							   const struct SfTaskRequest *request, struct SfStimulus *stimulus);
	void		(*write_wait) (const struct SfFeatureWait *wait);

	/* Why a machine of the caller cannot use such a resource; NULL: it can */
	char	   *(*problem_of) (const SfResource *resource);

	/* --- each of the others may be NULL --- */

	/* Are the parameters of such a task right, in a test of its state? */
	bool		(*allows) (const SfResource *resource, const Jsonb *parameters, SfError *error);

	/* A session is about to advance an execution: find what this waits for; true: something has come. */
	bool		(*find_awaited) (int64 execution_no);

	SfResourceKind kind;
} SfFeatureResource;

#endif							/* SF_STORE_FEATURE_RESOURCE_H */
