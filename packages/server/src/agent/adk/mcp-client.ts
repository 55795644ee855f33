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

/**
 * ADK opens a connection for every list of tools and for every call, which for a server on stdio means a new process
 * each time. Here all runs of a toolset use one connection. Undefined for a toolset that is not one of MCP. While `isUsed`
 * says no, nothing connects: ADK may ask for the tools once more after a run was stopped.
 */
export function mcpClientOf(toolset: BaseToolset, isUsed: () => boolean): McpClient | undefined {
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
    if (!isUsed()) throw new MillraceError('cancelled', 'the run is over')
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
  client.onclose = lost
  const connected = client.connect(transport).then(
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
  // The SDK would wait four seconds for it, longer than a server that stops does. It has no public handle of the
  // process; where the field is missing, its own SIGKILL comes later.
  const child: unknown = Reflect.get(transport, '_process')
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      if (isObject(child) && typeof child.kill === 'function') child.kill('SIGKILL')
      resolve()
    }, patience)
  })
  const closing = closed(transport).finally(() => clearTimeout(timer))
  await Promise.race([closing, late])
}

async function closed(transport: Transport): Promise<void> {
  const terminate: unknown = Reflect.get(transport, 'terminateSession')
  // A server on HTTP keeps a session until the client ends it.
  if (typeof terminate === 'function') await Promise.resolve(terminate.call(transport)).catch(() => undefined)
  await transport.close().catch(() => undefined)
}
