# One replica of Millrace. `test/process/image.slow.test.ts` takes these steps apart and runs what they make.

# The page, the declarations and the JavaScript.
FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm run build

# The packages of others that the command needs, as the lock file has them.
FROM node:22-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/core/package.json packages/core/package.json
COPY packages/server/package.json packages/server/package.json
COPY packages/cli/package.json packages/cli/package.json
RUN npm install --no-save --omit=dev --no-audit --no-fund -w packages/cli

FROM node:22-bookworm-slim
WORKDIR /app
# The data folder belongs to the user that runs the server, also as a new volume.
RUN mkdir /data && chown node:node /data
COPY --from=modules /app/node_modules node_modules
COPY --from=modules /app/packages packages
COPY --from=build /src/packages/core/dist packages/core/dist
COPY --from=build /src/packages/server/dist packages/server/dist
COPY --from=build /src/packages/cli/dist packages/cli/dist
COPY --from=build /src/packages/cli/page packages/cli/page
COPY --from=build /src/packages/cli/agents packages/cli/agents
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000 DATA_DIR=/data
USER node
EXPOSE 8000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# With more room for new objects than Node gives: with many runs at once, collecting them is the largest cost (docs/load.md).
# Without a shell, so that SIGTERM reaches the server. It refuses to start until users have tokens: see docs/scale.md.
ENTRYPOINT ["node", "--max-semi-space-size=64", "packages/cli/dist/main.js"]
CMD ["serve"]
