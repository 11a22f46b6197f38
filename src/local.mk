# SPDX-License-Identifier: MIT
# --- the program ---
#
# Two archives, and the device between them: libgpuhisto.a (everything but main) asks the device to
# count, and the device takes from libhistogram.a what is counted. No arrow goes back.

bin_PROGRAMS = gpuhisto
gpuhisto_SOURCES = src/main.c $(main_sources)
gpuhisto_LDADD = libgpuhisto.a $(device) libhistogram.a $(device_libs)
# Not with libraries that are loaded when they are needed.
gpuhisto_LDFLAGS = $(AM_LDFLAGS) $(LOADED_LDFLAGS)

main_sources = src/main.h src/main_diff.c src/main_engines.c src/main_hints.c src/main_keys.c src/main_merge.c \
	src/main_output.c src/main_sandbox.c src/main_shard.c src/main_tables.c \
	src/main_tables.h

noinst_LIBRARIES += libhistogram.a libgpuhisto.a

histogram_sources = \
	src/base/byte_masks.h src/base/byte_word.h src/base/cache_line.h src/base/clock.h \
	src/base/grow.c src/base/grow.h src/base/preopened.c src/base/preopened.h src/base/library.c src/base/library.h src/base/parallel.c src/base/parallel.h src/base/radix_sort.c src/base/radix_sort.h \
	src/base/error.c src/base/error.h \
	src/base/show.c src/base/show.h \
	src/base/signals.c src/base/signals.h src/base/system_limits.c src/base/system_limits.h \
	src/base/words.c src/base/words.h \
	src/count/binning.c src/count/binning.h src/count/binning_log.c \
	src/count/binning_digits.c src/count/binning_digits.h \
	src/count/chi_square.c src/count/chi_square.h \
	src/count/coarsen.c src/count/coarsen.h \
	src/count/exact_sum.c src/count/exact_sum.h \
	src/count/field.c src/count/field.h src/count/field_csv.c src/count/json_path.c src/count/json_path.h \
	src/count/json_reader.c src/count/json_reader.h \
	src/count/file_tallies.c src/count/file_tallies.h \
	src/count/histogram_spec.c src/count/histogram_spec.h \
	src/count/key.c src/count/key.h \
	src/count/key_counts.c src/count/key_counts.h src/count/key_order.c src/count/key_order.h \
	src/count/key_sums.c src/count/key_sums.h \
	src/count/key_table.c src/count/key_table.h \
	src/count/key_tallies.c src/count/key_tallies.h \
	src/count/line_filter.c src/count/line_filter.h \
	src/count/long_power.c src/count/long_power.h \
	src/count/mode.c src/count/mode.h src/count/modes.def \
	src/count/characters.c src/count/characters.h src/count/mode_characters.c \
	src/count/unicode_groups.c \
	src/count/mode_bytes.c src/count/mode_letters.c src/count/mode_lines.c \
	src/count/mode_numbers.c src/count/mode_pairs.c \
	src/count/moments.c src/count/moments.h \
	src/count/moments_text.c src/count/moments_text.h \
	src/count/number.c src/count/number.h \
	src/count/decimal_to_double.c src/count/decimal_to_double.h \
	src/count/number_units.c src/count/number_units.h src/count/number_words.c \
	src/count/quantile.c src/count/quantile.h \
	src/count/row_label.c src/count/row_label.h \
	src/count/row_plan.c src/count/row_plan.h \
	src/count/show_number.c src/count/show_number.h \
	src/count/statistics.c src/count/statistics.h \
	src/count/tally.c src/count/tally.h \
	src/count/value_type.c src/count/value_type.h src/count/int128.h \
	src/codec/zstd.c
libhistogram_a_SOURCES = $(histogram_sources) $(gpu_plan_sources) $(gpu_decode_sources)

cpu_sources = \
	src/cpu/batch.h src/cpu/batch_moments.h src/cpu/batch_rows.h \
	src/cpu/byte_pairs.c src/cpu/byte_pairs.h \
	src/cpu/characters_ascii.h src/cpu/characters_avx2.h src/cpu/characters_avx512.h \
	src/cpu/characters_portable.h \
	src/cpu/classes_avx512.h \
	src/cpu/count.c src/cpu/count.h src/cpu/count_avx2.c src/cpu/count_avx512.c \
	src/cpu/count_neon.c src/cpu/count_portable.c \
	src/cpu/count_bytes.h src/cpu/count_characters.h src/cpu/count_keys.h src/cpu/count_letters.h \
	src/cpu/count_numbers.h src/cpu/count_tables.c src/cpu/count_tables.h \
	src/cpu/count_values.h \
	src/cpu/cpu_kernels.h \
	src/cpu/cpu_engine.c src/cpu/cpu_engine.h \
	src/cpu/digits_avx2.h src/cpu/digits_avx512.h \
	src/cpu/field_avx2.c src/cpu/field_avx512.c src/cpu/field_tokenizer.h src/cpu/field_json.h src/cpu/field_lines.h src/cpu/json_scan.h src/cpu/json_shape.h src/cpu/json_token.h \
	src/cpu/field_parser.c src/cpu/field_parser.h src/cpu/field_portable.c \
	src/cpu/find_string.h \
	src/cpu/keyed_counts.c src/cpu/keyed_counts.h \
	src/cpu/large_numbers.c src/cpu/large_numbers.h \
	src/cpu/line_spans.c src/cpu/line_spans.h \
	src/cpu/number_avx2.c src/cpu/number_avx512.c src/cpu/number_parser.c \
	src/cpu/number_parser.h src/cpu/number_portable.c \
	src/cpu/paged_counts.c src/cpu/paged_counts.h \
	src/cpu/pair_sums.h src/cpu/streams_avx512.h src/cpu/sum_ifma.h src/cpu/sum_limbs.h \
	src/cpu/words_avx512.h

blocks_sources = \
	src/parallel/block_loops.c src/parallel/block_loops.h src/parallel/block_loops_avx2.c \
	src/parallel/deflate.h src/parallel/deflate_loop.h src/parallel/deflate_parse.c \
	src/parallel/deflate_tables.c \
	src/parallel/execute_loop.h \
	src/parallel/gzip_pieces.c src/parallel/gzip_pieces.h \
	src/parallel/operations.c src/parallel/operations.h \
	src/parallel/zstd_blocks.c src/parallel/zstd_blocks.h \
	src/parallel/zstd_loop.h \
	src/parallel/zstd_piece.c src/parallel/zstd_piece.h \
	src/parallel/zstd_tables.c

gpuhisto_sources = \
	$(blocks_sources) \
	src/cli/diag.c src/cli/diag.h \
	src/cli/option.h src/cli/option_help.c src/cli/option_rules.c src/cli/option_table.c \
	src/cli/options.c src/cli/options.def src/cli/options.h src/cli/options_also.c \
	src/cli/options_bins.c src/cli/options_engine.c src/cli/options_fields.c \
	src/cli/options_input.c src/cli/options_build.c src/cli/options_messages.c src/cli/options_mode.c \
	src/cli/options_output.c src/cli/options_tables.c src/cli/options_words.c \
	src/cli/parse.c src/cli/parse.h \
	src/cli/progress.c src/cli/progress.h \
	$(cpu_sources) \
	src/codec/codec.h src/input/frames.c src/input/frames.h src/codec/gzip.c \
	src/hash/xxh64.c src/hash/xxh64.h src/hash/xxh64_variant.h \
	src/hash/xxh64_portable.c src/hash/xxh64_avx2.c src/hash/xxh64_avx512.c \
	src/input/bytes.c src/input/bytes.h src/input/engine.h src/input/error_locator.c \
	src/input/header.c src/input/input.c src/input/input.h src/input/open.c \
	src/input/records.c src/input/records.h \
	src/schedule/engines.c src/schedule/gpu.c \
	src/schedule/pieces.c src/schedule/pieces.h src/schedule/pieces_zstd.c \
	src/schedule/policy.c src/schedule/pool.c src/schedule/pool_state.h \
	src/schedule/run.c src/schedule/schedule.h src/schedule/segment.c src/schedule/serial.c \
	src/schedule/source.c src/schedule/worker.c src/schedule/worker.h \
	src/merge/merge.c src/merge/merge.h src/merge/merge_files.c \
	src/merge/parsed_table.c src/merge/parsed_table.h \
	src/merge/shard_proof.c src/merge/table_keys.c src/merge/table_rows.c \
	src/report/diff.c src/report/diff.h \
	src/report/field_text.c src/report/field_text.h \
	src/report/format.c src/report/format.h src/report/formats.def \
	src/report/format_delimited.c src/report/format_heat.c src/report/format_json.c \
	src/report/format_pgm.c src/report/format_plot.c src/report/format_prometheus.c \
	src/report/group_rows.c src/report/group_rows.h \
	src/report/groups.c src/report/groups.h \
	src/report/heat.c src/report/heat.h \
	src/report/json.c src/report/json.h \
	src/report/mount_point.c src/report/mount_point.h \
	src/report/name_text.c src/report/name_text.h \
	src/report/output.c src/report/output.h src/report/permissions.c src/report/permissions.h \
	src/report/picture.c src/report/picture.h \
	src/report/report.c src/report/report.h \
	src/report/rows.c src/report/rows.h \
	src/report/screen.c src/report/screen.h \
	src/report/percent.c src/report/percent.h \
	src/report/shard_record.c src/report/shard_record.h \
	src/report/target.c src/report/target.h \
	src/report/temporary.c src/report/temporary.h \
	src/report/writer.c src/report/writer.h
gzip_sources = src/schedule/pieces_gzip.c
libgpuhisto_a_SOURCES = $(gpuhisto_sources) $(gpu_engine_sources) src/sandbox/sandbox.h
if HAVE_SANDBOX
libgpuhisto_a_SOURCES += src/sandbox/sandbox.c \
	src/sandbox/seccomp.c src/sandbox/seccomp.h
else
libgpuhisto_a_SOURCES += src/sandbox/no_sandbox.c
endif
if HAVE_ISAL
libgpuhisto_a_SOURCES += $(gzip_sources)
endif
# What made src/count/unicode_groups.c.
EXTRA_DIST += src/count/make_unicode_groups
