# SPDX-License-Identifier: MIT
# --- the GPU: its engine in plain C, the device, and the kernels ---

# What the device needs to know of a histogram, and of the GPU that was asked for.
gpu_plan_sources = \
	gpu/count/sample_map.c gpu/count/sample_map.h gpu/count/strategy.c gpu/count/strategy.h \
	gpu/engine/cuda_devices.c

gpu_engine_sources = \
	gpu/decode/decoder.h \
	gpu/engine/device.h \
	gpu/engine/device_thread.c \
	gpu/engine/engine.c gpu/engine/engine_internal.h gpu/engine/gpu_engine.h \
	gpu/engine/group.c \
	gpu/engine/snapshot.c

# The decoder: what the host plans, its batches, the device that is extended by it, and who gives it files.
decoder_sources = gpu/decode/content_check.c gpu/decode/decoder.c gpu/decode/queue.c src/schedule/gpu.c
decoder_headers = gpu/decode/batch.h gpu/decode/decoder_internal.h gpu/decode/plan.h
if HAVE_GPU_DECODING
gpu_decode_sources = gpu/decode/plan.c $(decoder_headers)
gpu_engine_sources += $(decoder_sources)
decode_objects = gpu/decode/device_decoding.o gpu/decode/stage_table.o
endif
EXTRA_DIST += gpu/decode/plan.c $(decoder_sources) $(decoder_headers)

cuda_sources = gpu/engine/device.cu gpu/decode/device_decoding.cu gpu/count/kernel_table.cu gpu/decode/stage_table.cu
kernel_headers = \
	gpu/count/bitsliced.cuh gpu/count/characters.cuh gpu/count/counting.cuh \
	gpu/count/fields.cuh gpu/count/lanes.cuh gpu/count/launch.h gpu/count/numbers.cuh gpu/count/packed.cuh \
	gpu/count/pairs.cuh gpu/count/partitioned.cuh gpu/count/rows.cuh gpu/count/textbook/aggregated.cuh \
	gpu/count/textbook/clusters.cuh gpu/count/textbook/contiguous.cuh gpu/count/textbook/interleaved.cuh \
	gpu/count/textbook/naive.cuh gpu/count/textbook/privatized.cuh gpu/count/textbook/shared.cuh \
	gpu/decode/gzip/chain.cuh gpu/decode/gzip/codes.cuh gpu/decode/gzip/content.cuh \
	gpu/decode/gzip/find.cuh gpu/decode/gzip/parse.cuh gpu/decode/matches.cuh \
	gpu/decode/stages.h gpu/decode/tile.cuh gpu/decode/zstd/headers.cuh \
	gpu/decode/zstd/literals.cuh gpu/decode/zstd/sequences.cuh \
	gpu/decode/zstd/tables.cuh gpu/engine/device_internal.cuh gpu/ptx.cuh

if HAVE_CUDA
device = gpu/engine/device.o gpu/count/kernel_table.o $(decode_objects)
device_libs = $(CUDA_LIBS)
else
noinst_LIBRARIES += libnodevice.a
libnodevice_a_SOURCES = gpu/engine/no_device.c
device = libnodevice.a
device_libs =
endif

# The kernels' objects: nvcc writes the dependencies as gcc would. The name of a temporary file is in each object; in
# the temporary folder it would hold the number of a process, and no two builds would make the same program.
SUFFIXES = .cu
AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =
.cu.o:
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC) $(CUDA_GENCODE) -std=c++17 -O3 --threads=0 --objdir-as-tempdir -I$(srcdir) \
	  $(CUDA_CPPFLAGS) -Werror all-warnings $(NVCC_HOST_FLAGS) $(NVCCFLAGS) -MMD -MP -MF $@.d -c -o $@ $<
-include gpu/engine/device.o.d gpu/decode/device_decoding.o.d gpu/count/kernel_table.o.d gpu/decode/stage_table.o.d

# With what an interrupted nvcc leaves.
MOSTLYCLEANFILES += gpu/engine/device.o gpu/engine/device.o.* gpu/decode/device_decoding.o gpu/decode/device_decoding.o.* gpu/count/kernel_table.o gpu/count/kernel_table.o.* \
	gpu/decode/stage_table.o gpu/decode/stage_table.o.*

EXTRA_DIST += $(cuda_sources) $(kernel_headers) gpu/engine/no_device.c
