# SPDX-License-Identifier: MIT
# --- the program ---
#
# Two archives, and the device between them: libgpuhisto.a (everything but main) asks the device to
# count, and the device takes from libhistogram.a what is counted. No arrow goes back.

bin_PROGRAMS = gpuhisto
gpuhisto_SOURCES = src/main.c $(run_sources)
gpuhisto_LDADD = libgpuhisto.a $(device) libhistogram.a $(device_libs)
# Not with libraries that are loaded when they are needed.
gpuhisto_LDFLAGS = $(AM_LDFLAGS) $(LOADED_LDFLAGS)

run_sources = src/run.h src/run_diff.c src/run_merge.c src/run_output.c \
	src/run_sandbox.c

noinst_LIBRARIES += libhistogram.a libgpuhisto.a

histogram_sources = \
	src/base/byte_masks.h src/base/byte_word.h src/base/cache_line.h src/base/clock.h \
	src/base/held.c src/base/held.h src/base/library.c src/base/library.h \
	src/base/reason.c src/base/reason.h \
	src/base/show.c src/base/show.h \
	src/base/signals.c src/base/signals.h \
	src/base/words.c src/base/words.h \
	src/histogram/binned_rows.c src/histogram/binned_rows.h \
	src/histogram/binning.c src/histogram/binning.h src/histogram/binning_log.c \
	src/histogram/binning_decades.c \
	src/histogram/binning_digits.c src/histogram/binning_digits.h \
	src/histogram/binning_whole_digits.c src/histogram/binning_whole_digits.h \
	src/histogram/byte_rows.c src/histogram/byte_rows.h \
	src/histogram/chi_square.c src/histogram/chi_square.h \
	src/histogram/coarsen.c src/histogram/coarsen.h \
	src/histogram/edge_text.c src/histogram/edge_text.h \
	src/histogram/exact_sum.c src/histogram/exact_sum.h \
	src/histogram/facts.c src/histogram/facts.h \
	src/histogram/field.c src/histogram/field.h src/histogram/field_csv.c src/histogram/field_hint.c \
	src/histogram/field_hint.h src/histogram/field_token.h \
	src/histogram/file_tallies.c src/histogram/file_tallies.h \
	src/histogram/histogram.c src/histogram/histogram.h \
	src/histogram/map_rows.c src/histogram/map_rows.h \
	src/histogram/mode.c src/histogram/mode.h src/histogram/modes.def \
	src/histogram/characters.c src/histogram/characters.h src/histogram/mode_characters.c src/histogram/mode_character_groups.c \
	src/histogram/unicode_groups.c \
	src/histogram/mode_bytes.c src/histogram/mode_letters.c \
	src/histogram/mode_numbers.c src/histogram/mode_pairs.c src/histogram/mode_values.c \
	src/histogram/moments.c src/histogram/moments.h \
	src/histogram/moments_text.c src/histogram/moments_text.h \
	src/histogram/number.c src/histogram/number.h src/histogram/number_token.h \
	src/histogram/number_nearest.c src/histogram/number_nearest.h \
	src/histogram/number_units.c src/histogram/number_units.h \
	src/histogram/power.c src/histogram/power.h \
	src/histogram/probability.c src/histogram/probability.h \
	src/histogram/quantile.c src/histogram/quantile.h \
	src/histogram/row_blocks.c src/histogram/row_blocks.h \
	src/histogram/row_plan.c src/histogram/row_plan.h \
	src/histogram/show_number.c src/histogram/show_number.h \
	src/histogram/value_type.c src/histogram/value_type.h
libhistogram_a_SOURCES = $(histogram_sources) $(gpu_plan_sources) $(gpu_zstd_sources)

cpu_sources = \
	src/cpu/cpu_engine.c src/cpu/cpu_engine.h \
	src/cpu/count.c src/cpu/count.h src/cpu/count_avx2.c src/cpu/count_avx512.c \
	src/cpu/count_neon.c src/cpu/count_nibbles.h src/cpu/count_pairs.h src/cpu/count_portable.c \
	src/cpu/byte_pairs.c src/cpu/byte_pairs.h \
	src/cpu/characters_ascii.c src/cpu/characters_ascii.h src/cpu/count_characters.h \
	src/cpu/count_moments.h src/cpu/count_values.h \
	src/cpu/field_avx2.c src/cpu/field_avx512.c src/cpu/field_gather.h \
	src/cpu/field_lines.h \
	src/cpu/field_parser.c src/cpu/field_parser.h src/cpu/field_portable.c \
	src/cpu/digits_avx2.h src/cpu/digits_avx512.h \
	src/cpu/large_numbers.c src/cpu/large_numbers.h \
	src/cpu/number_parser.c src/cpu/number_parser.h src/cpu/number_avx2.c \
	src/cpu/number_avx512.c src/cpu/number_portable.c \
	src/cpu/paged_counts.c src/cpu/paged_counts.h src/cpu/pair_sums.h src/cpu/sum_ifma.h \
	src/cpu/scaled_batch.h src/cpu/sum_limbs.h

gpuhisto_sources = src/run_share.c src/run_share.h \
	src/cli/diag.c src/cli/diag.h \
	src/cli/option.h src/cli/option_help.c src/cli/option_rules.c src/cli/option_table.c \
	src/cli/options.c src/cli/options.def src/cli/options.h src/cli/options_also.c \
	src/cli/options_bins.c src/cli/options_engine.c src/cli/options_fields.c \
	src/cli/options_input.c src/cli/options_lay.c src/cli/options_messages.c src/cli/options_mode.c \
	src/cli/options_output.c src/cli/options_tables.c src/cli/options_words.c \
	src/cli/parse.c src/cli/parse.h \
	src/cli/progress.c src/cli/progress.h \
	$(cpu_sources) \
	src/engine/chunk.h src/engine/engine.h \
	src/hash/xxh64.c src/hash/xxh64.h src/hash/xxh64_step.h \
	src/hash/xxh64_avx2.c src/hash/xxh64_avx512.c \
	src/engine/lines.c src/engine/lines.h \
	src/engine/records.c src/engine/records.h \
	src/input/admission.c \
	src/input/codec.c src/input/codec.h \
	src/input/codec_zstd.c src/input/codec_zstd.h \
	src/input/content.c src/input/content.h \
	src/input/decoding.c src/input/decoding_batch.c src/input/decoding_seams.c \
	src/input/decoding_steps.c \
	src/input/enter.c src/input/enter.h \
	src/input/first_header.c \
	src/input/foreign.c src/input/foreign.h \
	src/input/header.c src/input/header.h src/input/npy.c src/input/pnm.c src/input/wav.c \
	src/input/heading.c src/input/heading.h \
	src/input/helpers.c src/input/helpers.h \
	src/input/input.c src/input/input.h \
	src/input/kept.c src/input/kept.h \
	src/input/fingerprint.c src/input/fingerprint.h \
	src/input/part.c src/input/part.h src/input/part_units.c src/input/part_units.h \
	src/input/peek.c src/input/peek.h \
	src/input/pieces.c src/input/plain.c \
	src/input/share.c src/input/share.h \
	src/input/source.c src/input/source.h src/input/source_internal.h \
	src/input/seams.c src/input/seams.h \
	src/input/takeover.c \
	src/input/undecoded.c \
	src/input/unit_walk.c src/input/unit_walk.h \
	src/input/units.c src/input/units.h \
	src/input/wide_read.c src/input/wide_read.h \
	src/merge/find_rows.c src/merge/find_rows.h \
	src/merge/grow.c src/merge/grow.h \
	src/merge/known_rows.c src/merge/known_rows.h \
	src/merge/merge.c src/merge/merge.h \
	src/merge/merge_files.c src/merge/merge_files.h \
	src/merge/read_table.c src/merge/read_table.h \
	src/merge/share_join.c src/merge/share_join.h src/merge/share_proof.c \
	src/merge/table_file.c src/merge/table_file.h \
	src/merge/table_json.h \
	src/merge/table_members.c src/merge/table_members.h \
	src/merge/table_rows.c src/merge/table_rows.h \
	src/pool/cgroup.c src/pool/cgroup.h \
	src/pool/cost.c src/pool/cost.h \
	src/pool/handover.c src/pool/handover.h \
	src/pool/memory_limit.c src/pool/memory_limit.h \
	src/pool/pool.c src/pool/pool.h src/pool/pool_options.h \
	src/pool/processors.c src/pool/processors.h \
	src/pool/thread.c src/pool/thread.h \
	src/pool/workers.c src/pool/workers.h \
	src/report/bar.c src/report/bar.h \
	src/report/channels.c src/report/channels.h \
	src/report/diff.c src/report/diff.h \
	src/report/field_text.c src/report/field_text.h \
	src/report/format.c src/report/format.h src/report/formats.def \
	src/report/format_csv.c src/report/format_json.c src/report/format_pgm.c src/report/format_plot.c \
	src/report/format_tsv.c \
	src/report/json_text.c src/report/json_text.h \
	src/report/mount_point.c src/report/mount_point.h \
	src/report/output.c src/report/output.h src/report/permissions.c src/report/permissions.h \
	src/report/picture_label.c src/report/picture_label.h \
	src/report/report.c src/report/report.h \
	src/report/rows.c src/report/rows.h \
	src/report/screen.c src/report/screen.h \
	src/report/share.c src/report/share.h \
	src/report/share_record.c src/report/share_record.h \
	src/report/target.c src/report/target.h \
	src/report/temporary.c src/report/temporary.h \
	src/report/writer.c src/report/writer.h
gzip_sources = \
	src/input/codec_gzip.c src/input/codec_gzip.h \
	src/input/gzip_header.c src/input/gzip_header.h
libgpuhisto_a_SOURCES = $(gpuhisto_sources) $(gpu_engine_sources) src/sandbox/sandbox.h
if HAVE_SANDBOX
libgpuhisto_a_SOURCES += src/sandbox/sandbox.c \
	src/sandbox/calls.c src/sandbox/calls.h
else
libgpuhisto_a_SOURCES += src/sandbox/no_sandbox.c
endif
if HAVE_ISAL
libgpuhisto_a_SOURCES += $(gzip_sources)
endif
if HAVE_YAJL
libgpuhisto_a_SOURCES += \
	src/merge/table_events.c src/merge/table_fill.c src/merge/table_json.c src/merge/table_parser.h
else
libgpuhisto_a_SOURCES += src/merge/no_table_json.c
endif

# What made src/histogram/unicode_groups.c.
EXTRA_DIST += src/histogram/make_unicode_groups
