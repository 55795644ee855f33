import { isObject, type Problem, type RunEvent, type RunInput } from '@millrace/core'
import type { AgentDescription, RunContext } from '../agent.ts'
import type { ModelSettings } from '../model/settings.ts'
import { printEvents, readEvents } from './event-lines.ts'
import type { SentHistory } from './history-transfer.ts'

// What the server and the process of an agent send to each other. Every message is a text: JSON, and for events lines
// of JSON that the server need not parse. Both send lists of them, because each sending costs a system call.

/** What the process needs to load its agent. It is a message, because every user of a machine can read the arguments of a process, and this has keys. */
export interface OpenAgent {
  readonly name: string
  readonly file: string
  readonly models: Omit<ModelSettings, 'fetch'>
  /** The variables of the process; absent: those that it began with. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** The context of a run without its history and without what cannot be sent: the signal, the clock and the ids. */
export type ContextData = Omit<RunContext, 'signal' | 'now' | 'newId' | 'history'>

/** `call` numbers a run or a question, so that its answers find it. */
export type ToProcess =
  /** Imports the packages of these engines, before there is an agent. */
  | { readonly kind: 'prepare'; readonly engines: readonly string[] }
  | { readonly kind: 'open'; readonly agent: OpenAgent }
  | { readonly kind: 'describe'; readonly call: number }
  | {
      readonly kind: 'run'
      readonly call: number
      readonly input: RunInput
      readonly context: ContextData
      readonly history: SentHistory
      /** The functions of the context that the agent may call: `search`, `memory.search`. */
      readonly functions: readonly string[]
    }
  | { readonly kind: 'credit'; readonly call: number; readonly count: number }
  | { readonly kind: 'abort'; readonly call: number; readonly problem: Problem }
  | { readonly kind: 'returned'; readonly call: number; readonly of: number; readonly value?: unknown }
  | { readonly kind: 'threw'; readonly call: number; readonly of: number; readonly problem: Problem }
  | { readonly kind: 'ping' }

export type FromProcess =
  | { readonly kind: 'described'; readonly call: number; readonly description: AgentDescription }
  /** `last`: no more events will come, and the run had no problem. */
  | { readonly kind: 'events'; readonly call: number; readonly events: readonly RunEvent[]; readonly last?: boolean }
  | { readonly kind: 'end'; readonly call: number; readonly problem?: Problem }
  /** A call of one of the context's functions; `of` numbers it inside the run. */
  | {
      readonly kind: 'calls'
      readonly call: number
      readonly of: number
      readonly name: string
      readonly args: unknown
    }
  | { readonly kind: 'pong'; readonly used: ProcessUse }
  /** An exception that the agent's code did not catch: the process ends. */
  | { readonly kind: 'fault'; readonly message: string; readonly stack?: string }
  /** A rejection that the agent's code did not handle: it harms no run. */
  | { readonly kind: 'stray'; readonly message: string; readonly stack?: string }

/** What a process has used since it got its agent. */
export interface ProcessUse {
  /** What the whole process holds, in bytes. */
  readonly memory: number
  /** Milliseconds that its event loop waited, and that it worked. */
  readonly idle: number
  readonly active: number
  /** Milliseconds of CPU of all its threads. */
  readonly cpu: number
}

/** Throws when something in the message is not JSON. */
export function printSent(message: FromProcess): string {
  if (message.kind !== 'events') return JSON.stringify(message)
  return `${message.call}${message.last === true ? lastMark : ''}\n${printEvents(message.events)}`
}

/** The messages that a process sent. Its agent's code can send anything over the same channel; that is left out. */
export function readSent(sent: unknown): readonly FromProcess[] {
  if (!Array.isArray(sent)) return []
  return sent.flatMap((text: unknown) => {
    try {
      return typeof text === 'string' ? [readSentText(text)] : []
    } catch {
      return []
    }
  })
}

/** Throws when it is no message. */
export function readSentText(text: string): FromProcess {
  if (text.startsWith('{')) return messageIn(JSON.parse(text))
  const start = text.indexOf('\n')
  const last = text[start - 1] === lastMark
  const call = Number(text.slice(0, last ? start - 1 : start))
  return { kind: 'events', call, events: readEvents(text, start + 1), last }
}

const lastMark = '.'

function messageIn(sent: unknown): FromProcess {
  if (!isMessage(sent)) throw new SyntaxError('not a message of the process of an agent')
  return sent
}

/** Looks at the fields that the server itself reads. Events come as lines, whose events are checked. */
function isMessage(sent: unknown): sent is FromProcess {
  if (!isObject(sent)) return false
  const { kind, call, of, name, description, problem, message, stack, used } = sent
  switch (kind) {
    case 'described':
      return typeof call === 'number' && isObject(description)
    case 'end':
      return typeof call === 'number' && (problem === undefined || isProblem(problem))
    case 'calls':
      return typeof call === 'number' && typeof of === 'number' && typeof name === 'string'
    case 'pong':
      return isObject(used) && [used.memory, used.idle, used.active, used.cpu].every(Number.isFinite)
    case 'fault':
    case 'stray':
      return typeof message === 'string' && (stack === undefined || typeof stack === 'string')
    default:
      return false
  }
}

const isProblem = (value: unknown): boolean =>
  isObject(value) && typeof value.code === 'string' && typeof value.message === 'string'

/** How many events of one run may be on their way before the agent has to wait for the log. */
export const eventsOnTheWay = 256
