import { createRequire } from 'node:module'
import { HttpAgent as Current } from '@ag-ui/client'
import { threadAgentFor } from './ag-ui-older-thread-agent.ts'
import { MillraceAgent } from './ag-ui-thread-agent.ts'

// The AG-UI clients that people have installed, and what a scenario does with one of them.

/** What the clients of all versions have in common. */
export interface AgUiClient {
  readonly threadId: string
  readonly messages: readonly ClientMessage[]
  readonly state: unknown
  /** From 0.0.55 on. */
  readonly pendingInterrupts?: readonly Question[]
  addMessage(message: ClientMessage): void
  setMessages(messages: readonly ClientMessage[]): void
  setState(state: unknown): void
  runAgent(parameters: RunParameters, subscriber: Subscriber): Promise<unknown>
  connectAgent(parameters: RunParameters, subscriber: Subscriber): Promise<unknown>
  abortRun(): void
}
export interface ClientMessage {
  readonly id: string
  readonly role: string
  readonly content?: unknown
  readonly toolCallId?: string
  readonly toolCalls?: readonly ClientCall[]
}
export interface ClientCall {
  readonly id: string
  readonly type: string
  readonly function: { readonly name: string; readonly arguments: string }
}
interface Question {
  readonly id: string
  readonly message?: string
}
export interface RunParameters {
  readonly runId?: string
  readonly tools?: readonly unknown[]
  readonly context?: readonly unknown[]
  readonly forwardedProps?: unknown
  readonly resume?: readonly unknown[]
}
interface Subscriber {
  onEvent(received: { readonly event: ClientEvent }): void
}
export interface ClientEvent {
  readonly type: string
  readonly [field: string]: unknown
}
interface ClientConfig {
  readonly url: string
  readonly threadId: string
  readonly headers: Readonly<Record<string, string>>
  readonly initialState?: unknown
}
export type HttpAgentClass = new (config: ClientConfig) => AgUiClient

export interface AgUiLine {
  readonly version: string
  readonly HttpAgent: HttpAgentClass
  /** Whether it speaks AG-UI 1.0. */
  readonly isCurrent: boolean
  /** Whether `runAgent` takes `resume`. */
  readonly resumes: boolean
}

// The ES builds of 0.x cannot find `applyPatch` in Node, so that state would never change; the CommonJS builds can.
const require = createRequire(import.meta.url)
const older = (version: string, { HttpAgent }: { readonly HttpAgent: HttpAgentClass }, resumes: boolean): AgUiLine => ({
  version,
  HttpAgent,
  isCurrent: false,
  resumes,
})
export const agUiLines: readonly AgUiLine[] = [
  { version: '1.0.0', HttpAgent: Current as unknown as HttpAgentClass, isCurrent: true, resumes: true },
  older('0.0.59', require('ag-ui-client-0.0.59'), true),
  older('0.0.55', require('ag-ui-client-0.0.55'), true),
  older('0.0.52', require('ag-ui-client-0.0.52'), false),
  older('0.0.46', require('ag-ui-client-0.0.46'), false),
]

/** The version that npm installed under each name, for the table. */
export function installedVersion({ version, isCurrent }: AgUiLine): string {
  return require(`${isCurrent ? '@ag-ui/client' : `ag-ui-client-${version}`}/package.json`).version
}

/** One client line at work on one server, as a user of its own. */
export class ClientBench {
  readonly line: AgUiLine
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly #Agent: HttpAgentClass
  #ids = 0

  constructor(line: AgUiLine, address: string, token: string) {
    this.line = line
    this.address = address
    this.headers = { authorization: `Bearer ${token}` }
    this.#Agent = line.isCurrent ? (MillraceAgent as unknown as HttpAgentClass) : threadAgentFor(line.HttpAgent)
  }

  /** A name that no other scenario uses. */
  name(): string {
    this.#ids += 1
    return `${this.line.version}-${this.#ids}`
  }

  thread(agent = 'desk', more: { threadId?: string; query?: string; initialState?: unknown } = {}): AgUiClient {
    const { threadId = `thread-${this.name()}`, query = '', ...config } = more
    return new this.#Agent({
      url: `${this.address}/ag-ui/${agent}${query}`,
      threadId,
      headers: this.headers,
      ...config,
    })
  }

  async run(client: AgUiClient, parameters: RunParameters = {}): Promise<readonly ClientEvent[]> {
    const events: ClientEvent[] = []
    await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) })
    return events
  }

  async connect(client: AgUiClient): Promise<readonly ClientEvent[]> {
    const events: ClientEvent[] = []
    await client.connectAgent({}, { onEvent: ({ event }) => void events.push(event) })
    return events
  }

  ask(client: AgUiClient, content: unknown, parameters: RunParameters = {}): Promise<readonly ClientEvent[]> {
    client.addMessage({ id: `user-${this.name()}`, role: 'user', content })
    return this.run(client, parameters)
  }

  /** The client's answer to a call of one of its tools. */
  toolAnswer(client: AgUiClient, { id }: ClientCall, content: string): void {
    client.addMessage({ id: `tool-${this.name()}`, role: 'tool', toolCallId: id, content })
  }

  /** Answers every open question, in the way that this client has for it. */
  answer(client: AgUiClient, payload: unknown, parameters: RunParameters = {}): Promise<readonly ClientEvent[]> {
    if (!this.line.resumes) return this.run(client, { ...parameters, forwardedProps: { command: { resume: payload } } })
    const resume = (client.pendingInterrupts ?? []).map(({ id }) => ({ interruptId: id, status: 'resolved', payload }))
    return this.run(client, { ...parameters, resume })
  }

  /** A request of its own, beside the client. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.address}${path}`, { ...init, headers: { ...this.headers, ...init.headers } })
  }

  /** What the log of the thread says: how many runs it has, and how the last one ended. */
  async session({ threadId }: AgUiClient): Promise<{ readonly status: string; readonly runs: number }> {
    const lines = (await (await this.fetch(`/sessions/${threadId}/log`)).text()).trim().split('\n').slice(1)
    const events = lines.map((line) => JSON.parse(line).event as { readonly kind: string; readonly outcome?: string })
    const marks = events.filter(({ kind }) => kind === 'run.started' || kind === 'run.finished')
    return {
      status: marks.at(-1)?.outcome ?? 'running',
      runs: marks.filter(({ kind }) => kind === 'run.started').length,
    }
  }

  /** Waits for the active run of the thread to end, and returns its status. */
  async ended(client: AgUiClient): Promise<string> {
    await (await this.fetch(`/sessions/${client.threadId}/events?until=idle`)).text()
    return (await this.session(client)).status
  }
}

export function typesOf(events: readonly ClientEvent[]): readonly string[] {
  return events.map(({ type }) => type)
}

/** The conversation as role and text. */
export function saidIn({ messages }: AgUiClient): readonly (readonly [string, unknown])[] {
  return messages.map(({ role, content }) => [role, content])
}

/** What the agent said last. */
export function lastWords({ messages }: AgUiClient): unknown {
  return messages.findLast(({ role, content }) => role === 'assistant' && content !== undefined && content !== '')
    ?.content
}

export function callsIn({ messages }: AgUiClient): readonly ClientCall[] {
  return messages.flatMap(({ toolCalls = [] }) => toolCalls)
}
