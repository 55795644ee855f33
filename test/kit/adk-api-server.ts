import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const installed = fileURLToPath(new URL('../foreign/adk-web', import.meta.url))

interface AdkApiServer {
  readonly server?: { address(): AddressInfo }
  start(): Promise<void>
  stop(): Promise<void>
}
interface Devtools {
  readonly AdkApiServer: new (options: object) => AdkApiServer
}

/** ADK's own API server, on the agents of a folder: what `adk api_server` starts. */
export async function adkApiServer(agentsDir: string): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const file = join(installed, 'node_modules/@google/adk-devtools/dist/esm/server/adk_api_server.js')
  if (!existsSync(file)) throw new Error('adk-devtools is not installed: run node scripts/foreign.mjs')
  const { AdkApiServer } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Devtools
  const server = new AdkApiServer({
    agentsDir,
    host: '127.0.0.1',
    port: 0,
    logLevel: 3,
    agentFileLoadOptions: { compile: false, bundle: false },
  })
  await server.start()
  return { url: `http://127.0.0.1:${server.server?.address().port}`, stop: () => server.stop() }
}
