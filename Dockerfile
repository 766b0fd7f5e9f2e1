# The image of `tutti`: the npm package, and the Node.js that the lockfile pins. A hash pins everything that the build downloads:
# test/package/shipped-bytes.test.ts fails for an instruction that could download anything else.
#
# Both base images are build arguments, for a registry of your own. Keep the digest:
#
#   docker build --tag tutti:0.1.0 --build-arg BASE=registry.example/distroless/cc-debian13@sha256:… .
#
# BUILD_BASE needs Node.js 22.19 or later with npm. The digest is that of the image for all platforms.
ARG BUILD_BASE=node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
# BASE needs glibc and libstdc++, and nothing else: no shell, no Node.js.
ARG BASE=gcr.io/distroless/cc-debian13:nonroot@sha256:e792ab3d241a468a4fd7519ddbbebe66b49b5f365771716ea688ad40b6c6f1c2

FROM ${BUILD_BASE} AS build
WORKDIR /src
# Alone, so that a change of the sources does not fetch everything again.
COPY package.json package-lock.json .npmrc ./
# npm compares every package with the hash in the lockfile. No package may run a script, which could download more.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# Leaves the package in .cache/package, with its bill of materials, to which Node.js is added. npm has installed only
# the package of Node.js for this platform.
RUN npm run package -- /tmp \
 && node scripts/sbom.ts cyclonedx image >.cache/package/dist/sbom.cdx.json \
 && cp node_modules/node-linux-*/bin/node /usr/local/bin/node-of-tutti

FROM ${BASE}
COPY --from=build /usr/local/bin/node-of-tutti /usr/local/bin/node
COPY --from=build /src/.cache/package /opt/tutti
# Where an image that is built from this one adds kubectl, `kubectl tutti` works.
COPY --from=build /src/scripts/image/kubectl-plugin /usr/local/bin/kubectl-tutti
COPY --from=build /src/scripts/image/kubectl-plugin /usr/local/bin/kubectl_complete-tutti
# By number, so that a cluster can see that it is not root. Nothing is written to the file system.
USER 65532:65532
WORKDIR /opt/tutti
EXPOSE 10259 10260
LABEL org.opencontainers.image.title="tutti" \
      org.opencontainers.image.description="A gang scheduler for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0"
# As the first line of dist/cli.js has it, which says why; nobody reads that line here.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
# Source maps are there, and read with NODE_OPTIONS=--enable-source-maps: that costs memory, so it is not the default.
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=4", "--v8-pool-size=1", "--heap-growing-percent=100", "--invocation-count-for-maglev=2000", "--expose-gc", "/opt/tutti/dist/cli.js"]
CMD ["--help"]
