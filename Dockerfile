# SPDX-License-Identifier: MIT
# gpuhisto without CUDA: docker build -t gpuhisto . && docker run --rm -i gpuhisto --letters <FILE
FROM debian:bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends \
    autoconf automake g++ gcc git libc6-dev libisal-dev libpcre2-dev libzstd-dev make \
    pkgconf
COPY . /source
WORKDIR /build
RUN cd /source && autoreconf -i
RUN /source/configure --without-cuda --prefix=/usr && make -j"$(nproc)" && \
    make install-strip DESTDIR=/installed

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libisal2 libpcre2-8-0 \
    libzstd1 && rm -rf /var/lib/apt/lists/*
COPY --from=build /installed /
# Bars are drawn with characters of UTF-8.
ENV LANG=C.UTF-8
USER nobody
WORKDIR /data
ENTRYPOINT ["gpuhisto"]
