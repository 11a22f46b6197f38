/* Which GPUs CUDA gets to see. */
#ifndef GPUHISTO_VISIBLE_H
#define GPUHISTO_VISIBLE_H

/* Has CUDA see but one device, the ordinal-th (from 0) of those that CUDA_VISIBLE_DEVICES leaves:
 * CUDA sets up every one that it sees, which takes an eighth of a second each. Returns the ordinal
 * by which CUDA knows it from then on; the same one, and nothing is changed, if the list ends
 * before. Sets the environment variable: to be called before there are other threads. */
int visible_only(int ordinal);

#endif
