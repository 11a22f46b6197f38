# Fuzzers, which need clang: `make fuzz` builds them, `make fuzz-smoke` runs each for a minute.
#
# To go on for longer: mkdir CORPUS; tests/fuzz/number -max_len=300 CORPUS $(srcdir)/tests/fuzz/seeds/number
# FUZZ_FIELDS=csv tests/fuzz/fields ... is for fields of one kind alone; see the head of fields.c.
#
# To add one: its name in `fuzzers`, its source, seeds and dictionary in EXTRA_DIST. fuzzers.mk builds it.

FUZZ_SECONDS = 60

fuzzers = tests/fuzz/characters tests/fuzz/fields tests/fuzz/gpu_zstd tests/fuzz/npy tests/fuzz/number \
	tests/fuzz/options tests/fuzz/pairs
if FUZZ_GZIP
fuzzers += tests/fuzz/compressed tests/fuzz/gzip
endif
if HAVE_YAJL
fuzzers += tests/fuzz/merge
endif
EXTRA_DIST += tests/fuzz/fuzzers.mk tests/fuzz/smoke \
	tests/fuzz/characters.c tests/fuzz/seeds/characters/invalid \
	tests/fuzz/seeds/characters/scripts \
	tests/fuzz/compressed.c tests/fuzz/seeds/compressed/frames \
	tests/fuzz/seeds/compressed/members \
	tests/fuzz/fields.c tests/fuzz/seeds/fields/after tests/fuzz/seeds/fields/blanks \
	tests/fuzz/seeds/fields/csv \
	tests/fuzz/gpu_zstd.cpp tests/fuzz/seeds/gpu_zstd/coded tests/fuzz/seeds/gpu_zstd/described \
	tests/fuzz/seeds/gpu_zstd/made1 tests/fuzz/seeds/gpu_zstd/made2 tests/fuzz/seeds/gpu_zstd/made3 \
	tests/fuzz/seeds/gpu_zstd/predefined tests/fuzz/seeds/gpu_zstd/repeated \
	tests/fuzz/gzip.c tests/fuzz/seeds/gzip/blocks tests/fuzz/seeds/gzip/members \
	tests/fuzz/merge.c tests/fuzz/merge.dict tests/fuzz/seeds/merge/channels \
	tests/fuzz/seeds/merge/csv tests/fuzz/seeds/merge/digits tests/fuzz/seeds/merge/letters \
	tests/fuzz/seeds/merge/letters_tsv tests/fuzz/seeds/merge/log tests/fuzz/seeds/merge/shares \
	tests/fuzz/seeds/merge/stats tests/fuzz/seeds/merge/tsv tests/fuzz/seeds/merge/two \
	tests/fuzz/npy.c tests/fuzz/npy.dict tests/fuzz/seeds/npy/version1 \
	tests/fuzz/seeds/npy/version2 tests/fuzz/seeds/npy/version3 \
	tests/fuzz/number.c tests/fuzz/seeds/number/integers tests/fuzz/seeds/number/odd \
	tests/fuzz/options.c tests/fuzz/options.dict tests/fuzz/seeds/options/also tests/fuzz/seeds/options/characters tests/fuzz/seeds/options/letters \
	tests/fuzz/seeds/options/numbers tests/fuzz/seeds/options/refused \
	tests/fuzz/seeds/options/values \
	tests/fuzz/pairs.c tests/fuzz/seeds/pairs/repeated tests/fuzz/seeds/pairs/text

.PHONY: fuzz fuzz-smoke
fuzz:
	@$(MAKE) -f $(srcdir)/tests/fuzz/fuzzers.mk srcdir='$(srcdir)' fuzzers='$(fuzzers)' LIBS='$(LIBS)' \
	  AR='$(AR)' fuzzed='gpu/no_device.c $(libhistogram_a_SOURCES) $(libgpuhisto_a_SOURCES) \
	    $(tests_helpers_libhelpers_a_SOURCES) tests/device/emulation.cpp \
	    tests/device/zstd_on_host.cpp tests/device/zstd_batches.cpp \
	    tests/device/zstd_made.cpp'
fuzz-smoke: fuzz
	@$(srcdir)/tests/fuzz/smoke $(FUZZ_SECONDS) '$(srcdir)/tests/fuzz' $(fuzzers)
CLEANFILES += $(fuzzers) tests/fuzz/libfuzzed.a
clean-local: clean-fuzz
.PHONY: clean-fuzz
clean-fuzz:
	rm -rf tests/fuzz/objects
