// `npm run fuzz [seconds] [seed]`: random requests to every door of the built server, with a new seed each time.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt } from './build.mjs'
import { ensureInstalled, root } from './install.mjs'
import { withSources } from './load.mjs'

ensureInstalled()
await ensureBuilt()
const seconds = Number(process.argv[2] ?? 60)
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31))
const folder = mkdtempSync(join(tmpdir(), 'millrace-fuzz-'))
const args = ['packages/cli/dist/main.js', 'serve', '--port', '0', '--data-dir', folder]
const server = spawn(process.execPath, args, {
  cwd: root,
  env: { PATH: process.env.PATH, MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0', LOG_LEVEL: 'error' },
})
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
console.log(`${seconds} s at ${address}, seed ${seed}`)
let ok = false
try {
  await withSources(async (load) => {
    const { fuzz } = await load('/test/attack/fuzz.ts')
    const { sent, statuses, never, faults, memory, files } = await fuzz({ address, seconds, seed, pid: server.pid })
    const unhandled = output.split('\n').filter((line) => /unhandled|uncaught/i.test(line))
    const grown = memory[1] > memory[0] * 1.5 + 100 || files[1] > files[0] + 50
    console.log(`${sent} requests; answers by status ${JSON.stringify(statuses)} (1: still going on after 0.4 s)`)
    console.log(`memory ${memory.join(' → ')} MB, open files ${files.join(' → ')}`)
    if (never.length > 0) console.log(`never answered with success: ${never.join(', ')}`)
    for (const fault of faults.slice(0, 20)) console.log(`FAULT ${JSON.stringify(fault)}`)
    for (const line of unhandled.slice(0, 20)) console.log(`UNHANDLED ${line}`)
    ok = faults.length === 0 && unhandled.length === 0 && !grown && server.exitCode === null
    console.log(`${ok ? 'holds' : 'MISSED'}: ${faults.length} faults, ${unhandled.length} unhandled, growth ${grown}`)
  })
} finally {
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
process.exit(ok ? 0 : 1)
