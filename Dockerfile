# The command line, the HTTP service and the worker of evenhand in one image. docs/deploying.md says how to use it.
#
#   docker build --tag evenhand .
#   docker run --rm --read-only --tmpfs /tmp --cap-drop ALL -p 127.0.0.1:8000:8000 -e EVENHAND_API_KEYS evenhand

FROM node:24.18.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY test/helpers/danfojs-tensorflow test/helpers/danfojs-tensorflow
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && mkdir /packed && npm pack --ignore-scripts --pack-destination /packed

FROM node:24.18.0-bookworm-slim AS packages
# bullmq and ioredis, for --redis. They are found here from /app/evenhand.
WORKDIR /app
COPY deploy/package.json deploy/package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
WORKDIR /app/evenhand
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY --from=build /packed /packed
# Nothing reads source maps, and they are nearly half of the packages.
RUN tar -xzf /packed/evenhand-*.tgz --strip-components=1 && find /app -name '*.map' -type f -delete

FROM node:24.18.0-bookworm-slim
ENV NODE_ENV=production
COPY --from=packages /app /app
COPY deploy/probe.mjs /app/probe.mjs
# Files of the caller, for the command line: docker run -v "$PWD:/data" evenhand validate --csv decisions.csv …
WORKDIR /data
# The user "node" of the base image. Kubernetes can only check runAsNonRoot if the user is a number.
USER 1000:1000
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/app/probe.mjs", "/health"]
ENTRYPOINT ["node", "/app/evenhand/dist/cli/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
