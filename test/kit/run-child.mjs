// Runs `main(args)` of a JavaScript module in this process.
// usage: [RUN_AS=<user id>] node test/kit/run-child.mjs <module> <argument>…
import { pathToFileURL } from 'node:url'

const [module, ...args] = process.argv.slice(2)
const { main } = await import(pathToFileURL(module).href)
// Only now: the other user need not be able to read this checkout, which may be below a home that is closed to others.
if (process.env.RUN_AS !== undefined) process.setuid(Number(process.env.RUN_AS))
process.exitCode = (await main(args)) ?? 0
