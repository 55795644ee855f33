// `npm run soak [minutes]`: mixed load on the built server; memory, files, disk and delay must stay flat.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'

ensureInstalled()
await ensureBuilt()
const minutes = Number(process.argv[2] ?? 10)
const users = 4
const folder = mkdtempSync(join(tmpdir(), 'millrace-soak-'))
const tokens = Array.from({ length: users }, (_, i) => ['--token', `user-${i}=soak-token-${i}`]).flat()
const args = ['packages/cli/dist/main.js', 'serve', '--port', '0', '--data-dir', folder, ...tokens]
const env = { PATH: process.env.PATH, MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' }
const server = spawn(process.execPath, args, { cwd: root, env })
let output = ''
const address = await new Promise((resolve, reject) => {
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      const [, found] = /listening on (http:\S+)/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
  server.once('exit', () => reject(new Error(`the server ended: ${output}`)))
})
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
try {
  for (const end = Date.now() + minutes * 60_000; Date.now() < end && server.exitCode === null; ) {
    samples.push(await sample())
    const { memory, files, disk, delay } = samples.at(-1)
    console.log(`memory ${memory} MB, open files ${files}, disk ${disk} MB, longest answer of /health ${delay} ms`)
  }
} finally {
  load.kill('SIGKILL')
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
const quarter = Math.floor(samples.length / 4)
const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)]
const slack = { memory: 60, files: 20, disk: 20, delay: 50 }
let flat = server.exitCode === null
for (const [what, more] of Object.entries(slack)) {
  const [before, after] = [median(early, what), median(late, what)]
  const ok = after <= before * 1.25 + more
  flat &&= ok
  console.log(`${ok ? 'flat  ' : 'GROWS '} ${what}: second quarter ${before}, last quarter ${after}`)
}
const unhandled = output.split('\n').filter((line) => /unhandled|uncaught/i.test(line))
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
