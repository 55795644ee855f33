import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { packedMain } from './built-packages.ts'

/** A folder of an author, and the packed command on it, as processes of their own. */
export interface Author {
  readonly folder: string
  write(path: string, text: string): void
  remove(path: string): void
  serve(args?: readonly string[], env?: Readonly<Record<string, string>>): AuthorServer
  /** Ends every server and removes the folder. */
  close(): Promise<void>
}

export interface AuthorServer {
  readonly address: Promise<string>
  /** Everything that it printed so far, on both outputs. */
  said(): string
  /** Resolves once it has printed a text that matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>
  get(path: string): Promise<unknown>
  /** One run by AG-UI: the whole answer as text. */
  run(agent: string, text: string, session: string): Promise<string>
  stop(): Promise<number | null>
}

export function author(): Author {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-author-'))
  const servers = new Set<ChildProcess>()
  let count = 0
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('agents/.gitkeep', '')
  return {
    folder,
    write,
    remove: (path) => rmSync(join(folder, path), { recursive: true }),
    serve(args = [], env = {}) {
      count += 1
      const common = ['serve', '--port', '0', '--data-dir', join(folder, `data-${count}`), '--agents', 'agents']
      const child = spawn(process.execPath, [packedMain, ...common, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH, MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      servers.add(child)
      return opened(child)
    },
    async close() {
      for (const child of servers) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function opened(child: ChildProcess): AuthorServer {
  let text = ''
  const waiting = new Set<() => void>()
  const take = (chunk: unknown): void => {
    text += String(chunk)
    for (const look of waiting) look()
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  const exit = once(child, 'exit')
  const says = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(text)
        if (found === null) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
      void exit.then(() => reject(new Error(`the server ended before it said ${pattern}: ${text}`)))
    })
  const address = says(/listening on (http:\S+)/).then((found) => found[1] ?? '')
  address.catch(() => {})
  return {
    address,
    said: () => text,
    says,
    get: async (path) => (await fetch((await address) + path)).json(),
    async run(agent, words, session) {
      const body = { threadId: session, runId: `run of ${session}`, state: {}, tools: [], context: [] }
      const messages = [{ id: `${words} in ${session}`, role: 'user', content: words }]
      const answer = await fetch(`${await address}/ag-ui/${agent}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ ...body, messages, forwardedProps: {} }),
      })
      return answer.text()
    },
    async stop() {
      child.kill('SIGTERM')
      const [code] = await exit
      return code
    },
  }
}
