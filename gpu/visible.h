/* Which GPUs CUDA gets to see. */
#ifndef GPUHISTO_VISIBLE_H
#define GPUHISTO_VISIBLE_H

#include "src/base/reason.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The GPU that the user asked for. */
struct visible {
    int asked;   /* its number, from 0, among those that CUDA_VISIBLE_DEVICES leaves */
    int ordinal; /* the number by which CUDA knows it */
    char *list;  /* the user's CUDA_VISIBLE_DEVICES, on the heap; NULL: it was not set */
};

/* Leaves only one GPU visible to CUDA, the one that the user asks for, as CUDA sets up every GPU
 * that it sees, which takes an eighth of a second each. If the user's list has no such entry,
 * nothing is changed. Sets the environment variable, so it is to be called before other threads
 * start. */
struct visible visible_only(int asked);

/* Says why CUDA does not have the one that was asked for. `root` goes before
 * /dev, where GPUs are looked for: "", or a test's folder. Any thread. */
void visible_explain(const struct visible *visible, const char *root, struct reason *why);

#ifdef __cplusplus
}
#endif

#endif
