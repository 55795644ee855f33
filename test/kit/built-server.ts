import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { packedFolder } from '../../scripts/pack.mjs'
import { packedMain } from './built-packages.ts'
import { full } from './full.ts'

/** Packages are built and packed once, before the first test (`built-packages.ts`). This only says so when they are not. */
export async function built(): Promise<void> {
  if (!existsSync(packedMain)) throw new Error(`there is no ${packedMain}: run this test in the project built or slow`)
}

/** The packed command as a process of its own, with nothing of our env but what is said here. */
export interface Served {
  readonly address: string
  readonly child: ChildProcess
  /** Ends it at once, as a crash would, and waits until it is gone. */
  kill(): Promise<void>
}

/**
 * For a server whose agents are not what the test is about: in `npm test` they share its process. A process for each of
 * them imports ADK once more, which took half of the CPU of all slow tests. The whole form has them as they ship.
 */
export const oneProcess: readonly string[] = full ? [] : ['--isolate', 'off']

export function serveBuilt(
  args: readonly string[],
  env: Record<string, string> = {},
  nodeFlags: readonly string[] = [],
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<Served> {
  return serveCommand(process.execPath, [...nodeFlags, packedMain, ...args], { cwd: packedFolder, env }, stderr)
}

/** Any command that prints `listening on http://…`. */
export async function serveCommand(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
  stderr: 'inherit' | 'ignore' = 'inherit',
): Promise<Served> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', stderr] })
  const exited = once(child, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    let output = ''
    const look = (text: string): void => {
      output += text
      const [, found] = /listening on (http:\S+)/.exec(output) ?? []
      if (found === undefined) return
      // What a busy server logs later is only drained: searching all of it again for each line cost a benchmark more than its requests.
      child.stdout.off('data', look).resume()
      resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', look)
    void exited.then(() => reject(new Error(`the server ended: ${output}`)))
  })
  return {
    address,
    child,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
