import { defined, type InputMessage, isObject, type JsonObject, type ResumeAnswer, type RunInput } from '@millrace/core'
import { isShared } from '@millrace/core/store'
import {
  inputParts,
  messageText,
  type ThreadIndex,
  type ThreadRun,
  type ThreadSession,
  threadIndex,
} from './thread-index.ts'

/** What a request adds to its thread. */
export interface ThreadTurn {
  readonly input: RunInput
  /** Whether it brings something that the thread does not have: a request without news repeats an earlier one. */
  readonly isNew: boolean
  /** The runs whose place it takes, because the client has cut its history back before them. */
  readonly replaces: readonly string[]
  /** Keys that the client has removed from the state. */
  readonly removed: readonly string[]
}

/**
 * A client sends its whole conversation and state every time. This finds what is new in them, and from where the client
 * wants to go on:
 *
 * | the history of the client | the run |
 * |---|---|
 * | all that the thread has, and something new | goes on |
 * | ends with a message that the thread has (Regenerate, Reload) | answers that message again, in the place of what came after it |
 * | a part of the thread, then something new (Edit) | goes on from that part, in the place of the rest |
 * | nothing that the thread has | goes on: some clients send only their last message |
 */
export function turnOf(input: RunInput, loaded: ThreadSession): ThreadTurn {
  const thread = threadIndex(loaded)
  const resume = answersIn(input, loaded)
  const fresh = input.messages.filter((message) => isFresh(message, input.messages, thread))
  const isNew = fresh.length > 0 || resume.some(({ interrupt }) => loaded.facts.open.has(interrupt))
  const again = isNew || resume.length > 0 ? undefined : repeatedBy(input.messages, thread)
  const messages = again === undefined ? fresh : again.messages
  const replaces = again?.replaces ?? (fresh.length > 0 ? cutAway(input.messages, fresh, thread) : [])
  const cancelled = passedBy({ messages, resume, replaces }, loaded, thread)
  const { state: sent, resume: _resume, ...rest } = input
  return {
    isNew,
    replaces,
    removed: removedFrom(input, loaded, thread),
    input: {
      ...rest,
      messages,
      ...defined({ state: changedState(sent, loaded.facts.state) }),
      ...(resume.length + cancelled.length === 0 ? {} : { resume: [...resume, ...cancelled] }),
    },
  }
}

/**
 * Clients before AG-UI had `resume` answer as LangGraph's client does, with `forwardedProps.command.resume`: one answer
 * for every open question.
 */
function answersIn({ resume = [], props }: RunInput, { facts }: ThreadSession): readonly ResumeAnswer[] {
  const command = props?.command
  if (resume.length > 0 || !isObject(command) || command.resume === undefined) return resume
  const payload = command.resume as ResumeAnswer['payload']
  return [...facts.open.keys()].map((interrupt) => ({ interrupt, status: 'resolved', ...defined({ payload }) }))
}

function isFresh(message: InputMessage, all: readonly InputMessage[], thread: ThreadIndex): boolean {
  const { id, role } = message
  const known = thread.messages.get(id)
  switch (role) {
    case 'tool':
      return !inputParts(message).every(({ functionResponse }) => thread.results.has(functionResponse?.id ?? ''))
    case 'assistant': {
      if (known !== undefined) return false
      // A client makes ids of its own for what this thread said. What another thread said is recognised by its calls.
      const calls = inputParts(message).flatMap(({ functionCall }) => functionCall?.id ?? [])
      return thread.runs.length === 0 || (calls.length > 0 && calls.every((call) => !thread.calls.has(call)))
    }
    default:
      if (known === undefined) return true
      // Some clients give every message the id "1": the same id with another text is a new message.
      return message === all.at(-1) && role === 'user' && known.text !== messageText(message)
  }
}

/** The history ends with a message that the thread has: the run of that message is done again. */
function repeatedBy(
  messages: readonly InputMessage[],
  { runs, messages: known }: ThreadIndex,
): (Pick<ThreadTurn, 'replaces'> & { readonly messages: readonly InputMessage[] }) | undefined {
  const last = messages.at(-1)
  if (last === undefined || last.role === 'assistant') return undefined
  const at = known.get(last.id)?.at
  const run = at === undefined ? undefined : runs[at]
  if (at === undefined || run === undefined) return undefined
  const own = new Set(run.input.map(({ id }) => id))
  return { messages: messages.filter(({ id }) => own.has(id)), replaces: runs.slice(at).map(nameOf) }
}

/** The runs after the last turn that the client still has, if a person spoke in them. */
function cutAway(
  messages: readonly InputMessage[],
  fresh: readonly InputMessage[],
  thread: ThreadIndex,
): readonly string[] {
  const news = new Set(fresh)
  const places = messages.flatMap((message) => (news.has(message) ? [] : placesOf(message, thread)))
  if (places.length === 0 || fresh.every(({ role }) => role !== 'user')) return []
  const last = Math.max(...places)
  const next = thread.runs.findIndex(({ isTurn }, at) => at > last && isTurn)
  return next < 0 ? [] : thread.runs.slice(next).map(nameOf)
}

function placesOf(message: InputMessage, { messages, calls }: ThreadIndex): readonly number[] {
  const own = messages.get(message.id)?.at
  const called = inputParts(message).flatMap(
    ({ functionCall, functionResponse }) => calls.get(functionCall?.id ?? functionResponse?.id ?? '') ?? [],
  )
  return own === undefined ? called : [own, ...called]
}

const nameOf = ({ run }: ThreadRun): string => run

/** The client's own calls that a person passes by: they spoke instead, so the calls are cancelled. */
function passedBy(
  { messages, resume, replaces }: Pick<ThreadTurn, 'replaces'> & Required<Pick<RunInput, 'messages' | 'resume'>>,
  { facts }: ThreadSession,
  { clientTools }: ThreadIndex,
): readonly ResumeAnswer[] {
  if (!messages.some(({ role }) => role === 'user')) return []
  const answered = new Set([
    ...resume.map(({ interrupt }) => interrupt),
    ...messages.flatMap((message) => inputParts(message).map(({ functionResponse }) => functionResponse?.id)),
  ])
  return [...facts.open.values()].flatMap(({ id, call, reason, payload }): readonly ResumeAnswer[] => {
    const tool = isObject(payload) ? payload.tool : undefined
    if (reason !== 'tool_call' || typeof tool !== 'string' || !clientTools.has(tool)) return []
    if (answered.has(id) || answered.has(call) || replaces.includes(facts.asked.get(id)?.run ?? '')) return []
    return [{ interrupt: id, status: 'cancelled' }]
  })
}

function changedState(sent: JsonObject | undefined, state: JsonObject): JsonObject | undefined {
  const changed = Object.entries(sent ?? {}).filter(
    ([key, value]) => !Object.hasOwn(state, key) || JSON.stringify(state[key]) !== JSON.stringify(value),
  )
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/**
 * A key that is missing was removed, if the client has seen the thread's last message and with it the state. A client
 * without any state has not loaded it.
 */
function removedFrom({ state: sent, messages }: RunInput, { facts }: ThreadSession, { lastSaid }: ThreadIndex) {
  if (sent === undefined || !messages.some(({ id }) => id === lastSaid)) return []
  return Object.keys(facts.state).filter((key) => !Object.hasOwn(sent, key) && !isShared(key))
}
