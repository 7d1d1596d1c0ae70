/*
 * register.c
 *		What this layer registers in the layers below.
 */
#include "postgres.h"

#include "aws/arn.h"
#include "aws/aws.h"
#include "aws/s3.h"
#include "aws/services.h"

/* Register the syntax of ARNs and the shapes of the APIs; from _PG_init. */
void
sf_aws_init(void)
{
	sf_name_syntax = (SfNameSyntax)
	{
		.print = sf_arn_print,
		.parse = sf_arn_parse
	};
	sf_service = (SfService)
	{
		.resolve = sf_lambda_resolve,
		.is_named_by_request = sf_lambda_is_invoke,
		.other_names = sf_lambda_other_names,
		.shape_outcome = sf_lambda_shape_outcome,
		.shape_result = sf_lambda_shape_result,
		.check_result = sf_response_check,
		.describe_source = sf_s3_describe_source,
		.read_listed = sf_s3_read_listed,
		.write_files = sf_s3_write_files
	};
}
