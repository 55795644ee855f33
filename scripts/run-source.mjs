// Runs `main(args)` of a TypeScript module of this tree in this process, from sources, without a build.
// usage: node scripts/run-source.mjs <module, from the root> <argument>…
import { withSources } from './load.mjs'

const [module, ...args] = process.argv.slice(2)
await withSources(async (load) => {
  const { main } = await load(`/${module}`)
  process.exitCode = (await main(args)) ?? 0
})
