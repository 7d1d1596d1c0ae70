/*
 * task_runner.c
 *		Storage of what task_runner.h declares.
 */
#include "postgres.h"

#include "run/task/task_runner.h"

SfTaskRunner sf_task_runner;
