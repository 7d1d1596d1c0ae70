/*
 * features.c
 *		The list of the features.
 */
#include "postgres.h"

#include "store/feature.h"

/* One that was left out of the build is a null pointer. */
#define BUILT_OR_NOT __attribute__((weak))

extern const SfFeature sf_hold_feature BUILT_OR_NOT;
extern const SfFeature sf_access_feature;
extern const SfFeature sf_rule_feature BUILT_OR_NOT;
extern const SfFeature sf_schedule_feature BUILT_OR_NOT;
extern const SfFeature sf_deadline_feature BUILT_OR_NOT;
extern const SfFeature sf_event_feature BUILT_OR_NOT;
extern const SfFeature sf_human_feature BUILT_OR_NOT;
extern const SfFeature sf_delay_feature;
extern const SfFeature sf_label_feature BUILT_OR_NOT;
extern const SfFeature sf_archive_feature BUILT_OR_NOT;
extern const SfFeature sf_trace_feature BUILT_OR_NOT;
extern const SfFeature sf_start_key_feature BUILT_OR_NOT;
extern const SfFeature sf_node_feature BUILT_OR_NOT;
extern const SfFeature sf_home_feature BUILT_OR_NOT;
extern const SfFeature sf_move_feature BUILT_OR_NOT;
extern const SfFeature sf_metric_feature;
extern const SfFeature sf_limit_feature BUILT_OR_NOT;

/* In the order of calls and of locks (store/feature.h): limits take slots, so they come last. */
static const SfFeature *const all[] = {
	&sf_hold_feature,
	&sf_access_feature,
	&sf_rule_feature,
	&sf_schedule_feature,
	&sf_deadline_feature,
	&sf_event_feature,
	&sf_human_feature,
	&sf_delay_feature,
	&sf_label_feature,
	&sf_archive_feature,
	&sf_trace_feature,
	&sf_start_key_feature,
	&sf_node_feature,
	&sf_home_feature,
	&sf_move_feature,
	&sf_metric_feature,
	&sf_limit_feature,
};

/* Register the features that were built, and have them reserve what they need. */
void
sf_features_init(void)
{
	const SfFeature *built[lengthof(all)];
	int			n = 0;

	for (size_t i = 0; i < lengthof(all); i++)
		if (all[i] != NULL)
			built[n++] = all[i];
	sf_feature_register(built, n);
	SF_TELL(init);
}
