import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url))
const builder = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))

/** Builds what is stale, so that a test of what is built does not judge yesterday's sources. */
export async function built(): Promise<void> {
  const [code] = await once(spawn(process.execPath, [builder], { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  if (code !== 0) throw new Error(`the build failed with exit code ${code}: run npm run build to see why`)
}

/** The built command as a process of its own, with nothing of our env but what is said here. */
export interface Served {
  readonly address: string
  readonly child: ChildProcess
  /** Ends it at once, as a crash would, and waits until it is gone. */
  kill(): Promise<void>
}

export async function serveBuilt(args: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const address = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const [, found] = /listening on (http:\S+)/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
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
