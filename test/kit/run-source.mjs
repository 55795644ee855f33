// Runs `main(args)` of a TypeScript module of ours in this process, from sources: what tests kill, limit or lock out.
// usage: [RUN_AS=<user id>] node test/kit/run-source.mjs <module, from the root> <argument>…
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'

const [module, ...args] = process.argv.slice(2)
const conditions = ['source']
const vite = await createServer({
  root: fileURLToPath(new URL('../../', import.meta.url)),
  configFile: false,
  logLevel: 'error',
  appType: 'custom',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
  ssr: { resolve: { conditions, externalConditions: conditions } },
})
const { main } = await vite.ssrLoadModule(`/${module}`)
// Only now: the other user need not be able to read this checkout, which may be below a home that is closed to others.
if (process.env.RUN_AS !== undefined) process.setuid(Number(process.env.RUN_AS))
process.exitCode = (await main(args)) ?? 0
await vite.close()
