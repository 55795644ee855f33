import type { BaseToolset, MCPConnectionParams, MCPSessionManager } from '@google/adk'
import { isObject, MillraceError } from '@millrace/core'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { messageOf } from '../problem.ts'

/** How long, in ms, an MCP server may take to end by itself; less than a run's own grace. */
const patience = 700

interface Connection {
  readonly transport: Transport
  readonly client: Promise<Client>
}

/** The connection of one toolset to its MCP server: opened when it is first used, closed by `close`. */
export interface McpClient {
  close(): Promise<void>
}

/** The processes of MCP servers that have not ended. */
const alive = new Set<number>()
let watching = false

/**
 * ADK opens a connection for every list of tools and for every call, which for a server on stdio means a new process
 * each time. Here all runs of a toolset use one connection. Undefined for a toolset that is not one of MCP.
 */
export function mcpClientOf(toolset: BaseToolset): McpClient | undefined {
  const sessions: unknown = Reflect.get(toolset, 'mcpSessionManager')
  if (!isSessions(sessions)) return undefined
  const params: MCPConnectionParams = Reflect.get(sessions, 'connectionParams')
  let current: Promise<Connection> | undefined
  const opened = (): Promise<Connection> => {
    const opening = connect(params, () => {
      if (current === opening) current = undefined
    })
    return opening
  }
  sessions.createSession = async () => {
    current ??= opened()
    return (await current).client
  }
  // ADK closes after each use, and when a run ends: the connection outlives both, until the last run has ended.
  sessions.closeSession = async () => {}
  sessions.getActiveSessions = () => []
  return {
    async close() {
      const closing = current
      current = undefined
      if (closing !== undefined) await closing.then(end, () => undefined)
    },
  }
}

function isSessions(value: unknown): value is MCPSessionManager {
  return isObject(value) && typeof value.createSession === 'function' && isObject(value.connectionParams)
}

/** Starts to connect. Resolves before the server has answered, so that a server that never does can be closed. */
async function connect(params: MCPConnectionParams, lost: () => void): Promise<Connection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const transport = await transportOf(params)
  const client = new Client({ name: 'millrace', version: '1.0.0' })
  const connecting = client.connect(transport)
  // The process has been spawned by now, although it has not answered.
  const pid = watched(transport)
  client.onclose = () => {
    if (pid !== undefined) alive.delete(pid)
    lost()
  }
  const connected = connecting.then(
    () => client,
    (error) => {
      lost()
      throw new MillraceError(
        'agent-error',
        `The MCP server ${placeOf(params)} did not answer: ${messageOf(error)}. Check its command or its address.`,
        {},
        error,
      )
    },
  )
  connected.catch(() => undefined)
  return { transport, client: connected }
}

async function transportOf(params: MCPConnectionParams): Promise<Transport> {
  if (params.type === 'StdioConnectionParams') {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    return new StdioClientTransport(params.serverParams)
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const { header, transportOptions } = params
  const headers = header === undefined ? {} : { requestInit: { headers: header as Record<string, string> } }
  return new StreamableHTTPClientTransport(new URL(params.url), { ...headers, ...transportOptions }) as Transport
}

function placeOf(params: MCPConnectionParams): string {
  if (params.type !== 'StdioConnectionParams') return params.url
  // Not the arguments: authors put keys there.
  return params.serverParams.command
}

/** Ends the connection and, for a server on stdio, its process: it gets the end of its input, and then SIGKILL. */
async function end({ transport }: Connection): Promise<void> {
  const pid = pidOf(transport)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      if (pid !== undefined) kill(pid)
      resolve()
    }, patience)
  })
  const closing = closed(transport).finally(() => {
    clearTimeout(timer)
    if (pid !== undefined) alive.delete(pid)
  })
  await Promise.race([closing, late])
}

async function closed(transport: Transport): Promise<void> {
  const terminate: unknown = Reflect.get(transport, 'terminateSession')
  // A server on HTTP keeps a session until it is told that the session is over.
  if (typeof terminate === 'function') await Promise.resolve(terminate.call(transport)).catch(() => undefined)
  await transport.close().catch(() => undefined)
}

function pidOf(transport: Transport): number | undefined {
  const pid: unknown = Reflect.get(transport, 'pid')
  return typeof pid === 'number' ? pid : undefined
}

/** Makes sure that the process of an MCP server does not outlive this one, even when this one exits at once. */
function watched(transport: Transport): number | undefined {
  const pid = pidOf(transport)
  if (pid === undefined) return undefined
  alive.add(pid)
  if (watching) return pid
  watching = true
  process.once('exit', () => {
    for (const left of alive) kill(left)
  })
  return pid
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
