import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url))
const main = path('packages/cli/dist/main.js')
/** Where the package with adk-web is installed; the command looks for it from its working directory up. */
const installed = path('test/foreign/adk-web')
const bundle = join(installed, 'node_modules/@google/adk-devtools/dist/browser')

export interface AdkWebServer {
  readonly address: string
  stop(): Promise<void>
}

/** The built command with `--adk-web`, on the agents of these tests. */
export async function adkWebServer(dataDir: string, ...args: readonly string[]): Promise<AdkWebServer> {
  if (!existsSync(bundle)) throw new Error('adk-web is not installed: run node scripts/foreign.mjs')
  const agents = path('test/kit/adk-web-agents')
  const flags = ['--port', '0', '--grace', '0', '--data-dir', dataDir, '--agents', agents, '--adk-web', ...args]
  const { child, said } = command(installed, 'serve', ...flags)
  const [, address = ''] = await said(/listening on (http:\S+)/)
  return {
    address,
    async stop() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** The built command in a folder, and what it prints. */
export function command(
  cwd: string,
  ...args: readonly string[]
): { readonly child: ChildProcess; readonly said: (pattern: RegExp) => Promise<RegExpExecArray> } {
  const child = spawn(process.execPath, [main, ...args], { cwd, env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      for (const look of heard) look()
    })
  }
  const said = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(output)
        if (found !== null) resolve(found)
      }
      heard.add(look)
      look()
      child.once('close', () => reject(new Error(`the command ended: ${output}`)))
    })
  return { child, said }
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** adk-web on a server of its own, whose configuration names another server as its backend. */
export async function foreignAdkWeb(backend: () => string): Promise<Server> {
  const server = createServer(({ url = '/' }, answer) => {
    const name = new URL(url, 'http://any').pathname
    if (name === '/assets/config/runtime-config.json') {
      answer.setHeader('content-type', 'application/json')
      answer.end(JSON.stringify({ backendUrl: backend() }))
      return
    }
    const file = join(bundle, name === '/' ? 'index.html' : name)
    answer.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream')
    createReadStream(file)
      .on('error', () => answer.writeHead(404).end())
      .pipe(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

export const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
