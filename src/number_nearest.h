/* From decimal to binary: the double nearest to an integer times a power of ten. */
#ifndef GPUHISTO_NUMBER_NEAREST_H
#define GPUHISTO_NUMBER_NEAREST_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the table of powers; before the first use of the other function, and not at the same time
 * as anything else. */
void number_nearest_prepare(void);

/* Sets *value to the double nearest to mantissa * 10^power, half way the even one, infinity if it
 * is too large. False, and nothing is set, if that would take more bits than are looked at. */
bool number_nearest(uint64_t mantissa, int64_t power, double *value);

#endif
