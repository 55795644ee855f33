import {
  type AdkEvent,
  type AdkPart,
  defined,
  functionCallsOf,
  isFinalResponse,
  type JsonObject,
  type Recorded,
} from '@millrace/core'
import { isNested } from '../agent/nested-event.ts'
import type { Invocation, ToolUse } from './eval-set.ts'

/**
 * The runs of a session as the turns of a conversation. What happens inside a function call is left out, as in ADK: only
 * the call itself is part of the trajectory.
 */
export function conversationOf(rows: readonly Recorded[]): readonly Invocation[] {
  const turns: Turn[] = []
  const open = new Map<string, Turn>()
  for (const { at, run, event } of rows) {
    if (event.kind === 'run.started') {
      const parts = event.input.messages.flatMap(({ role, content }) =>
        role === 'user' || role === 'tool' ? (content.parts ?? []) : [],
      )
      // A run without a message continues the turn before it.
      const before = parts.length === 0 ? turns.at(-1) : undefined
      const turn = before ?? { run, at, parts, events: [] }
      if (turn !== before) turns.push(turn)
      open.set(run, turn)
    } else if (event.kind === 'agent' && event.event.partial !== true && !isNested(event.event)) {
      open.get(run)?.events.push(event.event)
    }
  }
  return turns.map(invocationOf)
}

interface Turn {
  readonly run: string
  readonly at: number
  readonly parts: readonly AdkPart[]
  readonly events: AdkEvent[]
}

function invocationOf({ run, at, parts, events }: Turn): Invocation {
  const said = events.filter((event) => event.author !== 'user' && textParts(event).length > 0)
  const final = said.findLast(isFinalResponse)
  return {
    invocationId: run,
    userContent: { role: 'user', parts },
    // adk-web reads the text of the first part without asking whether there is one.
    finalResponse: { role: 'model', parts: final === undefined ? [{ text: '' }] : textParts(final) },
    intermediateData: {
      toolUses: events.flatMap((event) => functionCallsOf(event).map(toolUse)),
      intermediateResponses: said.filter((event) => event !== final).map((event) => [event.author, textParts(event)]),
    },
    creationTimestamp: at / 1000,
  }
}

function toolUse({
  id,
  name,
  args,
}: {
  readonly id?: string
  readonly name: string
  readonly args?: unknown
}): ToolUse {
  return { ...defined({ id }), name, args: (args ?? {}) as JsonObject }
}

/** What a person reads of an event: its text, without thoughts. */
const textParts = ({ content }: AdkEvent): readonly AdkPart[] =>
  (content?.parts ?? []).filter(({ text, thought }) => text !== undefined && text !== '' && thought !== true)
