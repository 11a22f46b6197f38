/* SPDX-License-Identifier: MIT */
/* Compressed files that an engine over the emulated device decompresses, one after the other: as a
 * reader gives them to it, in batches of any size. */
#ifndef GPUHISTO_TESTS_GPU_FILES_H
#define GPUHISTO_TESTS_GPU_FILES_H

#include "src/codec/codec.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_files;

/* Opens an engine that counts bytes, whose batches hold what `batch` says (GPUHISTO_BATCH in
 * emulated_device.h; NULL: what is usual), and which verifies checksums of zstd unless no_check.
 * Ends the process if it cannot be opened. One thread, and
 * one engine at a time. */
struct gpu_files *gpu_files_open(const struct codec *codec, const char *batch, bool no_check);

enum gpu_file_result {
    GPU_FILE_LEFT,  /* it was refused, and nothing of it is counted */
    GPU_FILE_TAKEN, /* all of it was counted, as its content is */
    GPU_FILE_WRONG  /* anything else */
};

/* Gives the engine a file, bytes[0..len), whose content is content[0..size); NULL: it has none, and
 * must not be taken. It comes `at_once` bytes at a time as from a pipe, or as a file is read if
 * that is 0. */
enum gpu_file_result gpu_files_count(struct gpu_files *files, const unsigned char *bytes,
                                     size_t len, size_t at_once, const unsigned char *content,
                                     size_t size);

void gpu_files_close(struct gpu_files *files);

#ifdef __cplusplus
}
#endif

#endif
