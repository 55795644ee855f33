import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * How large each half of the heap for new objects may become, in MB; V8 lets it grow while many objects survive. With
 * the default limit of 16 MB, objects of concurrent runs survived collections: 50 runs at once took 5 to 10 % longer.
 */
const youngSpace = 64

/** Starts a process that waits for its agent. It does not keep the server's process alive. */
export function forkChild(memory: number, env?: Readonly<Record<string, string | undefined>>): ChildProcess {
  const child = fork(entry(), {
    // A group of its own: Ctrl-C reaches the server only, and what the agent started can be ended with it.
    detached: true,
    ...(env === undefined ? {} : { env: { ...env } }),
    // Nothing of the server's own flags, such as the port of a debugger.
    execArgv: [`--max-old-space-size=${memory}`, `--max-semi-space-size=${youngSpace}`],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Copies a text as it is. The default would print it as JSON, which our messages are already.
    serialization: 'advanced',
  })
  child.unref()
  child.channel?.unref()
  return child
}

/** Node runs JavaScript only: a server that runs from sources (tests) starts what was built. */
function entry(): string {
  const path = fileURLToPath(new URL('./child.js', import.meta.url))
  return import.meta.url.endsWith('.ts') ? path.replace('/src/agent/', '/dist/agent/') : path
}
