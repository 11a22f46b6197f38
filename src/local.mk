# SPDX-License-Identifier: MIT
# --- the program ---
#
# Two archives, and the device between them: libgpuhisto.a (everything but main) asks the device to
# count, and the device takes from libhistogram.a what is counted. No arrow goes back.

bin_PROGRAMS = gpuhisto
gpuhisto_SOURCES = src/main.c
gpuhisto_LDADD = libgpuhisto.a $(device) libhistogram.a $(device_libs)
# Not with libraries that are loaded when they are needed.
gpuhisto_LDFLAGS = $(AM_LDFLAGS) $(LOADED_LDFLAGS)

noinst_LIBRARIES += libhistogram.a libgpuhisto.a

histogram_sources = \
	src/base/byte_masks.h src/base/byte_word.h src/base/cpu_features.h src/base/error.c src/base/error.h src/base/library.c src/base/library.h \
	src/base/memory.c src/base/memory.h src/base/preopened.c src/base/preopened.h src/base/signals.c src/base/signals.h \
	src/base/system.c src/base/system.h src/base/utf8.h \
	src/bins/binning.c src/bins/binning.h src/bins/binning_log.c \
	src/tally/coarsen.c src/tally/coarsen.h \
	src/bins/sums.c src/bins/sums.h \
	src/text/field.c src/text/field.h \
	src/text/json_reader.c src/text/json_reader.h \
	src/tally/file_tallies.c src/tally/file_tallies.h \
	src/tally/histogram_spec.c src/tally/histogram_spec.h \
	src/text/key.c src/text/list.c \
	src/tally/key_sums.c \
	src/tally/key_table.c \
	src/tally/key_tallies.c src/tally/key_tallies.h src/tally/key_times.c \
	src/text/line_filter.c src/text/where.c \
	src/text/regex.c src/text/regex.h \
	src/text/line_format.c src/text/line_format.h \
	src/tally/modes.c src/tally/unicode_groups.c \
	src/tally/characters.h \
	src/text/number.c src/text/number.h \
	src/text/units.c src/text/units.h \
	src/text/time.c src/text/time.h \
	src/text/weight.h \
	src/tally/radix_sort.c src/tally/radix_sort.h \
	src/tally/statistics.c src/tally/statistics.h \
	src/tally/tally.c src/tally/tally.h \
	src/codec/zstd.c
libhistogram_a_SOURCES = $(histogram_sources) $(gpu_plan_sources) $(gpu_decode_sources)

cpu_sources = \
	src/cpu/batch.h src/cpu/batch_sums.h \
	src/cpu/count.c src/cpu/count.h src/cpu/count_avx2.c src/cpu/count_avx512.c \
	src/cpu/count_neon.c src/cpu/count_portable.c \
	src/cpu/count_bytes.h src/cpu/count_characters.h src/cpu/count_letters.h \
	src/cpu/count_numbers.h src/cpu/sum_ifma.h \
	src/cpu/cpu_engine.c \
	src/text/field_parser_avx2.c src/text/field_parser_avx512.c src/text/json_loop.h src/text/line_format_loop.h src/text/lines_loop.h src/text/json_scan.h \
	src/text/field_parser.c src/text/field_parser.h src/text/field_parser_portable.c \
	src/text/lines.c src/text/lines.h \
	src/tally/keyed_counts.c src/tally/keyed_counts.h \
	src/tally/paged_counts.c src/tally/paged_counts.h

blocks_sources = \
	src/parallel/block_loops.c src/parallel/block_loops.h src/parallel/block_loops_avx2.c \
	src/parallel/block_loops_avx512.c src/parallel/search_loop.h \
	src/parallel/deflate.c src/parallel/deflate.h src/parallel/deflate_loop.h \
	src/parallel/execute_loop.h \
	src/parallel/gzip_pieces.c src/parallel/gzip_pieces.h \
	src/parallel/operations.c src/parallel/operations.h \
	src/parallel/zstd_blocks.c src/parallel/zstd_blocks.h \
	src/parallel/zstd_loop.h \
	src/parallel/zstd_piece.c src/parallel/zstd_piece.h \
	src/parallel/zstd_tables.c

gpuhisto_sources = \
	$(blocks_sources) \
	src/cli/cli.h src/cli/messages.c src/cli/option.h src/cli/option_table.c src/cli/options.c \
	src/cli/options_bins.c src/cli/options_fields.c src/cli/options_run.c src/cli/options_words.c src/cli/parse.c src/cli/terms.c \
	src/cli/run.c src/cli/run_count.c src/cli/run_diff.c src/cli/run_merge.c \
	$(cpu_sources) \
	src/codec/codec.h src/input/frames.c src/input/frames.h src/codec/gzip.c \
	src/hash/xxh64.c src/hash/xxh64.h \
	src/input/csv_pieces.c src/input/bytes.c src/input/bytes.h src/input/engine.h src/input/error_locator.c \
	src/input/header.c src/input/input.c src/input/input.h src/input/open.c \
	src/input/records.c src/input/records.h \
	src/schedule/engines.c \
	src/schedule/pieces.c src/schedule/pieces.h src/schedule/pieces_zstd.c \
	src/schedule/policy.c src/schedule/pool.c src/schedule/pool_state.h \
	src/schedule/run.c src/schedule/schedule.h src/schedule/segment.c src/schedule/serial.c \
	src/schedule/source.c src/schedule/worker.c src/schedule/worker.h \
	src/merge/merge.c src/merge/merge.h \
	src/merge/parsed_table.c src/merge/parsed_table.h \
	src/merge/shard_proof.c src/merge/table_rows.c \
	src/report/delimited.c src/report/diff.c src/report/format.h \
	src/report/group_order.c src/report/groups.c src/report/heat.c src/report/json.c \
	src/report/output.c src/report/output.h src/report/plot.c src/report/prometheus.c \
	src/report/report.c src/report/report.h src/report/rows.c src/report/table.c src/report/writer.c src/report/writer.h
gzip_sources = src/schedule/pieces_gzip.c
libgpuhisto_a_SOURCES = $(gpuhisto_sources) $(gpu_engine_sources) src/sandbox/sandbox.c src/sandbox/sandbox.h
if HAVE_ISAL
libgpuhisto_a_SOURCES += $(gzip_sources)
endif
# What made src/tally/unicode_groups.c.
EXTRA_DIST += src/tally/make_unicode_groups
