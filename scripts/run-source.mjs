// Runs `main(args)` of a TypeScript module of this tree in this process, from sources, without a build.
// With MILLRACE_PACKED=1, our packages are the ones that ship.
// usage: [RUN_AS=<user id>] node scripts/run-source.mjs <module, from the root> <argument>…
import { withSources } from './load.mjs'

const [module, ...args] = process.argv.slice(2)
await withSources(async (load) => {
  const { main } = await load(`/${module}`)
  // Only now: the other user need not be able to read this checkout, which may be below a home that is closed to others.
  if (process.env.RUN_AS !== undefined) process.setuid(Number(process.env.RUN_AS))
  process.exitCode = (await main(args)) ?? 0
})
