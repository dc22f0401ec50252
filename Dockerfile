# The worker as a container image: docker build --target worker -t grantor:0.2.0 .
#
# The program is built on Debian 12 and runs on Debian 13, whose libraries have the same interfaces and are newer.

FROM swift:6.3-bookworm AS build
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        libcurl4-openssl-dev libjemalloc-dev libpq-dev librdkafka-dev libsqlite3-dev libssl-dev libyaml-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
# Package.swift takes the targets whose folders are there, so a change of a test builds nothing anew.
COPY Package.swift ./
COPY Sources Sources
RUN swift build -c release --product grantor --static-swift-stdlib -Xlinker -s \
    && install -D .build/release/grantor /out/usr/bin/grantor

FROM debian:trixie-slim AS worker
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        ca-certificates libcurl4t64 libjemalloc2 libpq5 librdkafka1 libsqlite3-0 libssl3t64 libyaml-0-2 \
    && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/debconf/*-old \
    && groupadd --gid 10001 grantor \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin grantor \
    # A worker becomes nobody else.
    && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
    # For a ledger on SQLite; nothing else is ever written.
    && install -d -o grantor -g grantor -m 0750 /var/lib/grantor \
    # What the image consists of.
    && install -d /usr/share/grantor \
    && dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\n' >/usr/share/grantor/packages.txt
COPY LICENSE NOTICE /usr/share/grantor/
COPY --from=build /out /
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Grantor" \
    org.opencontainers.image.description="Turns App Store payments into granted purchases" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}"
USER 10001:10001
WORKDIR /var/lib/grantor
# Reachable from other containers, such as a scraper of metrics. Nothing is published on the host by that.
ENV GRANTOR_HTTP_BIND=0.0.0.0:8080
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/usr/bin/grantor", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/grantor"]
CMD ["run"]

# The simulated App Store and the demo that plays on docker-compose.yml. Nothing of it is in the worker's image.
FROM build AS demo-build
COPY Tools Tools
RUN swift build -c release --product grantor-demo --static-swift-stdlib -Xlinker -s \
    && swift build -c release --product grantor-simulator --static-swift-stdlib -Xlinker -s \
    && install -D -t /out/demo/usr/bin .build/release/grantor-demo .build/release/grantor-simulator

FROM worker AS demo
USER root
# Docker's command line, because the demo kills parts of the stack.
RUN apt-get -qq update \
    && DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends docker-cli \
    && rm -rf /var/lib/apt/lists/* /var/log/*
COPY --from=demo-build /out/demo /
HEALTHCHECK NONE
ENTRYPOINT ["/usr/bin/grantor-demo"]
CMD ["containers"]

# The image that is made unless somebody asks for another target.
FROM worker
