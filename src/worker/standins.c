/*
 * standins.c
 *		Weak stand-ins until the worker layer is linked in.
 */
#include "postgres.h"

#include "store/instance.h"
#include "worker/await.h"

pg_attribute_unused() __attribute__((weak)) SfInstanceState
sf_instance_check_or_adopt(void)
{
	return SF_INSTANCE_DRIVEN;
}

__attribute__((weak)) bool
sf_await_ended(int64 execution_no, TimestampTz until)
{
	return false;
}

__attribute__((weak)) void
sf_await_done(void)
{
}
