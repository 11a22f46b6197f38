# For GNU make, called by `make fuzz` in the build directory: builds $(fuzzers), with coverage and
# sanitizers. The program's sources and the tests' helpers, $(fuzzed), are compiled once into an archive,
# from which each fuzzer takes what it needs.

FUZZ_CC = clang
FUZZ_CXX = clang++
sanitizers = address,undefined
flags = -g -O1 -include config.h -I. -I$(srcdir) -D_GNU_SOURCE -MMD -MP -ffp-contract=off \
	-fsanitize=$(coverage)$(sanitizers) -fno-sanitize-recover=all
coverage = fuzzer-no-link,
objects = $(patsubst %,tests/fuzz/objects/%.o,$(basename $(filter %.c %.cpp,$(fuzzed))))
# What a fuzzer is linked with beside $(LIBS).
link_compressed = -Wl,--wrap=helpers_wait -lz
link_gzip = -lz
VPATH = $(srcdir)

all: $(fuzzers)
$(fuzzers): tests/fuzz/%: tests/fuzz/objects/tests/fuzz/%.o tests/fuzz/libfuzzed.a
	@echo "  CXXLD    $@"
	@$(FUZZ_CXX) -fsanitize=fuzzer,$(sanitizers) -o $@ $^ $(link_$(@F)) $(LIBS) -pthread
tests/fuzz/libfuzzed.a: $(objects)
	@rm -f $@
	@$(AR) cr $@ $^
# What the emulation does with its threads is not what an input is worth.
tests/fuzz/objects/tests/device/emulation.o: coverage =
tests/fuzz/objects/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC       $@"
	@$(FUZZ_CC) -std=c17 $(flags) -c -o $@ $<
tests/fuzz/objects/%.o: %.cpp
	@mkdir -p $(@D)
	@echo "  CXX      $@"
	@$(FUZZ_CXX) -std=c++17 $(flags) -c -o $@ $<

.PHONY: all
.SECONDARY:
-include $(objects:.o=.d) $(fuzzers:%=tests/fuzz/objects/%.d)
