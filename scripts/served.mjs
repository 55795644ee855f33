// The built server as a child of a script, in a data folder of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './install.mjs'

/** Starts it and waits until it listens. `output()` is all that it has printed; `end()` ends it and removes its folder. */
export async function served(name, args = [], env = {}) {
  const folder = mkdtempSync(join(tmpdir(), `millrace-${name}-`))
  const child = spawn(
    process.execPath,
    ['packages/cli/dist/main.js', 'serve', '--port', '0', '--data-dir', folder, ...args],
    { cwd: root, env: { PATH: process.env.PATH, MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0', ...env } },
  )
  let output = ''
  const address = await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        const [, found] = /listening on (http:\S+)/.exec(output) ?? []
        if (found !== undefined) resolve(found)
      })
    child.once('exit', () => reject(new Error(`the server ended: ${output}`)))
  })
  return {
    address,
    folder,
    pid: child.pid,
    output: () => output,
    isAlive: () => child.exitCode === null,
    end: () => {
      child.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
