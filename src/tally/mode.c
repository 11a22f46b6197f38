/* SPDX-License-Identifier: MIT */
/* The table of modes. */
#include "histogram_spec.h"

const struct mode *const modes[MODES] = {
#define MODE(identifier, descriptor, build) [MODE_##identifier] = &mode_##descriptor,
#include "modes.def"
#undef MODE
};
