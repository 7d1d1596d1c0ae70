/*
 * aws.h
 *		What stands in for AWS: ARNs, DynamoDB, Lambda, S3.
 *
 * This layer is the highest; nothing but sfflow.c includes it.
 */
#ifndef SF_AWS_AWS_H
#define SF_AWS_AWS_H

extern void sf_aws_init(void);

#endif							/* SF_AWS_AWS_H */
