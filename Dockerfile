# The worker as a container image. Build: docker build -t grantor .

FROM swift:6.3-bookworm AS builder
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        librdkafka-dev libcurl4-openssl-dev libssl-dev libgmp-dev libjemalloc-dev libpq-dev libsqlite3-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# Dependencies first, so that a change of a source does not fetch them again.
COPY Package.swift ./
RUN swift package resolve
# The package names its tests and benchmarks, so their folders have to be there; they are not built.
COPY Sources Sources
COPY Tests Tests
COPY Benchmarks Benchmarks
COPY Chaos Chaos
COPY Fuzzing Fuzzing
RUN swift build -c release --product grantor --static-swift-stdlib \
    # Whether its allocator is the one that it was linked with, set as the package sets it.
    && MALLOC_CONF=stats_print:true .build/release/grantor --version 2>&1 | grep -qx '  opt.narenas: 2'

FROM debian:bookworm-slim
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        ca-certificates libcurl4 libgmp10 libjemalloc2 libpq5 librdkafka1 libsqlite3-0 libssl3 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 grantor \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin grantor \
    && install -d -o grantor -g grantor -m 0750 /var/lib/grantor /authority
COPY --from=builder /source/.build/release/grantor /opt/grantor/grantor
USER 10001:10001
WORKDIR /var/lib/grantor
# The rest of the file system may be read-only; /tmp should be a tmpfs then.
VOLUME /var/lib/grantor
ENV GRANTOR_LEDGER_URL=sqlite:/var/lib/grantor/grantor.db \
    GRANTOR_HTTP_BIND=127.0.0.1:8080
# bash speaks HTTP itself, so the image needs no client for it. The port is that of GRANTOR_HTTP_BIND.
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["/bin/bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /livez HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 4 line <&3 && [[ $line == 'HTTP/1.1 200'* ]]"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/opt/grantor/grantor"]
CMD ["run"]
