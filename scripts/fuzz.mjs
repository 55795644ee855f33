// `npm run fuzz [seconds] [seed]`: random requests to every door of the built server, with a new seed each time.
import { ensureBuilt } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { withSources } from './load.mjs'
import { served } from './served.mjs'

ensureInstalled()
await ensureBuilt()
const seconds = Number(process.argv[2] ?? 60)
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31))
const server = await served('fuzz', [], { LOG_LEVEL: 'error' })
const { address, pid, folder } = server
console.log(`${seconds} s at ${address}, seed ${seed}`)
let ok = false
try {
  await withSources(async (load) => {
    const { fuzz } = await load('/test/attack/fuzz.ts')
    const { sent, statuses, good, never, faults, before, after, grown } = await fuzz({
      address,
      until: { seconds },
      seed,
      pid,
      folder,
    })
    const unhandled = server
      .output()
      .split('\n')
      .filter((line) => /unhandled|uncaught/i.test(line))
    console.log(`${sent} requests; answers by status ${JSON.stringify(statuses)} (1: no answer yet after 10 s)`)
    for (const [door, count] of Object.entries(good).sort()) console.log(`${String(count).padStart(6)} × 2xx ${door}`)
    console.log(`after the warm-up ${JSON.stringify(before)}, at the end ${JSON.stringify(after)}`)
    for (const door of never) console.log(`NEVER answered with success: ${door}`)
    for (const what of grown) console.log(`GROWS ${what}`)
    for (const fault of faults.slice(0, 20)) console.log(`FAULT ${JSON.stringify(fault)}`)
    for (const line of unhandled.slice(0, 20)) console.log(`UNHANDLED ${line}`)
    ok = faults.length + unhandled.length + never.length + grown.length === 0 && server.isAlive()
    console.log(
      `${ok ? 'holds' : 'MISSED'}: ${faults.length} faults, ${unhandled.length} unhandled, ${never.length} doors never reached, ${grown.length} grow; seed ${seed}`,
    )
  })
} finally {
  server.end()
}
process.exit(ok ? 0 : 1)
