// The server of `npm run dev`: a process that runs from sources and is replaced after an edit.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from './install.mjs'

/** Editors write a file in several steps, and a checkout writes many files: one restart for all of them. */
const settle = 100

export function restartable(args) {
  let current = start(args)
  let timer
  let last = Promise.resolve()

  /** Only one process may have the database open, so the next one starts when the last one is gone. */
  const replace = async () => {
    await end(current)
    current = start(args)
  }

  return {
    /** Where the server listens, once it does; undefined when it ended before. */
    address: async () => {
      await last
      return current.address
    },
    restart(why) {
      clearTimeout(timer)
      timer = setTimeout(() => {
        console.log(`${why} changed: the server restarts`)
        last = last.then(replace)
      }, settle)
    },
    async stop() {
      clearTimeout(timer)
      await last
      await end(current)
    },
  }
}

function start(args) {
  const command = [`${root}scripts/run-source.mjs`, 'packages/cli/src/main.ts', 'serve', ...args]
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let output = ''
  const address = new Promise((found) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      // Its address is not the one to open: the line about it stays here.
      const rest = text.replace(/^.* is listening on .*\n/m, '')
      if (rest !== '') process.stdout.write(rest)
      output += text
      const at = /listening on (http:\S+)/.exec(output)?.[1]
      if (at !== undefined) found(at)
    })
    void exited.then(() => found(undefined))
  })
  return { child, exited, address }
}

/** An agent in an endless loop would never hear the first signal. */
async function end({ child, exited }) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const hard = setTimeout(() => child.kill('SIGKILL'), 5000)
  await exited
  clearTimeout(hard)
}
