import {
  type AdkEvent,
  type AgentSaid,
  branchOf,
  functionCallsOf,
  functionResponsesOf,
  hasText,
  isBelow,
  isErrorEvent,
  isPartial,
  type RunEvent,
  type RunInput,
  type Usage,
  usageOf,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { CallRecorder, type OpenModelCall } from '../call-recorder.ts'
import { problemOf } from '../problem.ts'
import type { RemoteCalls } from './remote-calls.ts'

/** The newest model call of one author on one branch. */
interface NewestCall {
  readonly branch: string
  /** Undefined once its record is finished. */
  call: OpenModelCall | undefined
  message: string
  /** Whether its text has come whole, and the tokens of its prompt, which tell a further piece from the next call. */
  hasWhole: boolean
  inputTokens: number | undefined
  /** Whether a tool has answered since. */
  answered: boolean
}

/**
 * The model calls that an ADK server's events show: their answers, tokens, models and finish reasons. The events do not
 * have the request, the number of tools or the time of the call, so the records do not either.
 */
export function adkCalls(input: RunInput, context: RunContext): RemoteCalls {
  // The other server makes the request, so there is no prompt to record here.
  const recorder = new CallRecorder({ ...context, recording: { ...context.recording, prompts: false } }, input)
  const { now } = context
  const newestCalls = new Map<string, NewestCall>()
  /** When each branch last had a whole event; the request itself is a sign on all of them. */
  const signs = new Map<string, number>()
  const sent = now()

  /** A call begins after the last sign of its own branch, of one around it or of one inside it. Others run beside it. */
  const sinceOf = (branch: string): number =>
    [...signs].reduce((last, [on, at]) => (isRelated(on, branch) ? Math.max(last, at) : last), sent)

  const newestCallOf = ({ author, branch = '' }: AdkEvent): NewestCall | undefined =>
    newestCalls.get(`${author}\n${branch}`)

  function* finish(newest: NewestCall): Generator<RunEvent> {
    const { call } = newest
    newest.call = undefined
    if (call !== undefined) yield call.finish()
  }

  function* begin({ event, message, node }: AgentSaid): Generator<RunEvent, NewestCall> {
    const branch = branchOf(event)
    // What is around or inside this branch waits for it, or has led to it: its own calls are over.
    for (const each of newestCalls.values()) if (isRelated(each.branch, branch)) yield* finish(each)
    const call = recorder.begin({ agent: event.author, node, since: sinceOf(branch), ...modelOf(event) })
    const newest: NewestCall = {
      branch,
      call,
      message,
      hasWhole: false,
      inputTokens: undefined,
      answered: false,
    }
    newestCalls.set(`${event.author}\n${branch}`, newest)
    yield call.started
    return newest
  }

  function* partial(said: AgentSaid): Generator<RunEvent> {
    const known = newestCallOf(said.event)
    if (hasText(said.event)) {
      const goesOn = known?.call !== undefined && (known.message === said.message || !known.hasWhole)
      const newest = goesOn ? known : yield* begin(said)
      newest.call?.heard()
    }
    yield said
  }

  function* whole(said: AgentSaid): Generator<RunEvent> {
    const { event, message } = said
    const known = newestCallOf(event)
    const sign = (): Map<string, number> => signs.set(branchOf(event), now())
    if (functionResponsesOf(event).length > 0) {
      if (known !== undefined) {
        known.answered = true
        yield* finish(known)
      }
      sign()
      yield said
      return
    }
    const usage = usageOf(event.usageMetadata)
    const goesOn = known !== undefined && continues(known, event, message, usage)
    if ((goesOn && known.call === undefined) || (!goesOn && !isOfModel(event))) {
      sign()
      yield said
      return
    }
    const newest = goesOn ? known : yield* begin(said)
    const { call } = newest
    const { content, finishReason } = event
    if (content !== undefined) call?.heard('whole')
    call?.answered(content === undefined ? undefined : message, {
      usage,
      finishReason: typeof finishReason === 'string' ? finishReason : undefined,
      error: isErrorEvent(event) ? problemOf(event) : undefined,
      ...modelOf(event),
    })
    newest.hasWhole ||= hasText(event)
    newest.inputTokens = usage?.inputTokens ?? newest.inputTokens
    sign()
    yield said
    if (endsCall(event)) yield* finish(newest)
  }

  return {
    *take(event) {
      if (event.kind !== 'agent' || event.event.author === 'user') yield event
      else yield* isPartial(event.event) ? partial(event) : whole(event)
    },
    *end(error) {
      for (const { call, hasWhole } of newestCalls.values())
        if (call !== undefined) yield call.finish(hasWhole ? undefined : error)
    },
  }
}

function isRelated(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a)
}

/** Whether a model made the event. What an agent's own code says, and what ADK asks a person, has none of these. */
function isOfModel(event: AdkEvent): boolean {
  const { usageMetadata, modelVersion, finishReason } = event
  if (usageMetadata !== undefined || modelVersion !== undefined || finishReason !== undefined) return true
  return isErrorEvent(event) || functionCallsOf(event).some(({ name }) => !name.startsWith('adk_request_'))
}

/**
 * Whether a whole event belongs to the call before it: its aggregate, one of its function calls or its empty end. They
 * repeat the tokens of the prompt; the next call has a longer prompt, because it contains what was just said.
 */
function continues(known: NewestCall, event: AdkEvent, message: string, usage: Usage | undefined): boolean {
  if (known.message === message) return true
  if (hasText(event)) return known.call !== undefined && !known.hasWhole
  const [was, is] = [known.inputTokens, usage?.inputTokens]
  return was !== undefined && is !== undefined ? was === is : !known.answered
}

/** The tools run after the calls of a turn, and nothing of a turn comes after its finish reason. */
function endsCall(event: AdkEvent): boolean {
  const { finishReason, turnComplete } = event
  return functionCallsOf(event).length > 0 || finishReason !== undefined || turnComplete === true || isErrorEvent(event)
}

function modelOf({ modelVersion }: AdkEvent): { readonly model?: string } {
  return typeof modelVersion === 'string' && modelVersion !== '' ? { model: modelVersion } : {}
}
