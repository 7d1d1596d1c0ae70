/*
 * deadline_functions.h
 *		Declarations that the functions about deadlines share.
 */
#ifndef SF_API_DEADLINE_FUNCTIONS_H
#define SF_API_DEADLINE_FUNCTIONS_H

extern const char *sf_deadlines_require(const char *text);

#endif							/* SF_API_DEADLINE_FUNCTIONS_H */
