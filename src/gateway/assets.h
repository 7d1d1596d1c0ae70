/*
 * assets.h
 *		The files of the console, which are part of the program.
 */
#ifndef SFG_ASSETS_H
#define SFG_ASSETS_H

#include "gateway/http_request.h"

extern bool sfg_asset_exists(const char *path);
extern void sfg_asset(SfgRequest *request);

#endif							/* SFG_ASSETS_H */
