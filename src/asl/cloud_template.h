/*
 * cloud_template.h
 *		Templates of CloudFormation and SAM that were given in place of a definition.
 */
#ifndef SF_ASL_CLOUD_TEMPLATE_H
#define SF_ASL_CLOUD_TEMPLATE_H

#include "asl/tree.h"

/* What a template says of its state machines */
typedef struct SfCloudTemplate
{
	char	   *message;		/* what the text is, and is not */
	char	   *detail;			/* where the definitions lie in it */
	char	   *hint;			/* what to do */
} SfCloudTemplate;

extern bool sf_asl_read_cloud_template(const SfNode *root, SfCloudTemplate *template);

#endif							/* SF_ASL_CLOUD_TEMPLATE_H */
