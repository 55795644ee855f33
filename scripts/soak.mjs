// `npm run soak [minutes]`: mixed load on the built server; memory, files, disk and delay must stay flat.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'
import { served } from './served.mjs'

ensureInstalled()
await ensureBuilt()
const minutes = Number(process.argv[2] ?? 10)
const users = 4
const tokens = Array.from({ length: users }, (_, i) => ['--token', `user-${i}=soak-token-${i}`]).flat()
const server = await served('soak', tokens)
const { address, folder } = server
const load = spawn(process.execPath, ['bench/soak-load.mjs', address, String(users)], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
let done = {}
const faults = []
load.stdout.setEncoding('utf8').on('data', (text) => {
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const report = JSON.parse(line)
    done = report.done
    faults.push(...report.faults)
  }
})

const samples = []
let survived = false
try {
  for (const end = Date.now() + minutes * 60_000; Date.now() < end && server.isAlive(); ) {
    samples.push(await sample())
    const { memory, files, disk, delay } = samples.at(-1)
    console.log(`memory ${memory} MB, open files ${files}, disk ${disk} MB, longest answer of /health ${delay} ms`)
  }
  survived = server.isAlive()
} finally {
  load.kill('SIGKILL')
  server.end()
}
const quarter = Math.floor(samples.length / 4)
const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)]
const slack = { memory: 60, files: 20, disk: 20, delay: 50 }
let flat = survived
for (const [what, more] of Object.entries(slack)) {
  const [before, after] = [median(early, what), median(late, what)]
  const ok = after <= before * 1.25 + more
  flat &&= ok
  console.log(`${ok ? 'flat  ' : 'GROWS '} ${what}: second quarter ${before}, last quarter ${after}`)
}
const unhandled = server
  .output()
  .split('\n')
  .filter((line) => /unhandled|uncaught/i.test(line))
console.log(JSON.stringify(done))
for (const line of [...faults, ...unhandled].slice(0, 20)) console.log(`FAULT ${line}`)
console.log(
  `${flat && faults.length + unhandled.length === 0 ? 'holds' : 'MISSED'}: ${faults.length} faults, ${unhandled.length} unhandled`,
)
process.exit(flat && faults.length + unhandled.length === 0 ? 0 : 1)

/** Five seconds: what the server holds at their end, and how long the slowest of some requests took. */
async function sample() {
  let delay = 0
  for (const end = Date.now() + 5000; Date.now() < end; await setTimeout(100)) {
    const begun = performance.now()
    await (await fetch(`${address}/health`)).text()
    delay = Math.max(delay, Math.round(performance.now() - begun))
  }
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8')
  const memory = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  return { memory, files: readdirSync(`/proc/${server.pid}/fd`).length, disk: Math.round(bytes / 2 ** 20), delay }
}

function median(list, what) {
  const sorted = list.map((each) => each[what]).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
