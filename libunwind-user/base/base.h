/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base.h - what every room may use: arrays that grow, strings that grow, intervals
 */
#ifndef BASE_H
#define BASE_H

#include "cover.h"
#include "text.h"
#include "vec.h"

#endif
