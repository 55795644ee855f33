import { adkRequest, type JsonObject, type Recorded, readRecording } from '@millrace/core'
import { openQuestions, post, postUntil, startTurn, type Turn } from './session.ts'

export const wireNames = ['adk', 'ag-ui', 'studio', 'plan'] as const
export type WireName = (typeof wireNames)[number]

/** A conversation as a client of one dialect has it: the rows that our decoder reads from what the server sent. */
export interface Conversation {
  readonly session: string
  readonly rows: readonly Recorded[]
}

interface Place {
  readonly address: string
  readonly agent: string
  readonly session: string
}

/** Takes the turns one after the other at the door of this dialect, each to its end. */
export async function converse(
  address: string,
  agent: string,
  wire: WireName,
  turns: readonly Turn[],
): Promise<Conversation> {
  const place = { address, agent, session: `${agent}-${wire}-${crypto.randomUUID()}` }
  await doors[wire].open?.(place)
  let rows: readonly Recorded[] = []
  let streams: readonly string[] = []
  let asked: readonly string[] = []
  for (const [i, turn] of turns.entries()) {
    const text = await doors[wire].take(place, turn, asked)
    const run = `${place.session}.${i}`
    // A client of AG-UI keeps its document from run to run, and a snapshot repeats what it has.
    streams = wire === 'ag-ui' ? [...streams, text] : [text]
    const read = await decoded(streams, { from: wire, run, agent })
    asked = openQuestions(read)
    rows = wire === 'ag-ui' ? read : [...rows, ...read].map((row, at) => ({ ...row, seq: at + 1 }))
  }
  return { session: place.session, rows }
}

interface Door {
  open?(place: Place): Promise<unknown>
  /** One turn, as the text of its stream. `asked` are the open questions that the client has seen. */
  take(place: Place, turn: Turn, asked: readonly string[]): Promise<string>
}

const user = 'user'

const doors: Readonly<Record<WireName, Door>> = {
  adk: {
    open: ({ address, agent, session }) => post(address, `/apps/${agent}/users/${user}/sessions/${session}`, {}),
    take({ address, agent, session }, turn, asked) {
      const parts =
        'say' in turn
          ? [{ text: turn.say }]
          : asked.map((id) => ({ functionResponse: { id, name: adkRequest.input, response: asResponse(turn.answer) } }))
      const newMessage = { role: 'user', parts }
      return post(address, '/run_sse', {
        appName: agent,
        userId: user,
        sessionId: session,
        newMessage,
        streaming: true,
      })
    },
  },
  'ag-ui': {
    take({ address, agent, session }, turn, asked) {
      const messages = 'say' in turn ? [{ id: crypto.randomUUID(), role: 'user', content: turn.say }] : []
      const resume =
        'say' in turn
          ? {}
          : { resume: asked.map((interruptId) => ({ interruptId, status: 'resolved', payload: turn.answer })) }
      const input = { threadId: session, runId: crypto.randomUUID(), protocolVersion: '1.0' }
      const empty = { state: {}, tools: [], context: [], forwardedProps: {} }
      return post(address, `/ag-ui/${agent}`, { ...input, ...empty, messages, ...resume })
    },
  },
  studio: {
    // Studio's console sends an answer as the next input.
    take: ({ address, agent, session }, turn) =>
      postUntil(asksInStudio, address, `/api/projects/${agent}/stream`, {
        input: 'say' in turn ? turn.say : JSON.stringify(turn.answer),
        session_id: session,
      }),
  },
  plan: {
    open: ({ address, agent, session }) => post(address, '/sessions', { id: session, agent }),
    async take({ address, agent, session }, turn) {
      if ('say' in turn) return post(address, `/sessions/${session}/chat`, { message: turn.say })
      // This dialect has no questions: they are answered at the door that every session has.
      const run = await startTurn(address, agent, session, turn)
      const stream = await fetch(`${address}/sessions/${session}/events?dialect=plan&run=${encodeURIComponent(run)}`)
      return stream.text()
    },
  },
}

/** A stream of Studio stays open at a question, for the run that has the answer. This client leaves it there. */
const asksInStudio = /^data: \{"type":"interrupted"[^\n]*\n(id: [^\n]*\n)?\n/m

/** ADK answers with objects only, and its own page wraps anything else like this. */
function asResponse(answer: unknown): JsonObject {
  const isPlain = typeof answer === 'object' && answer !== null && !Array.isArray(answer)
  return (isPlain ? answer : { result: answer }) as JsonObject
}

async function decoded(
  streams: readonly string[],
  as: { readonly from: WireName; readonly run: string; readonly agent: string },
): Promise<readonly Recorded[]> {
  async function* all(): AsyncGenerator<string> {
    yield* streams
  }
  const rows: Recorded[] = []
  for await (const row of readRecording(all(), { ...as, now: () => 0 })) rows.push(row)
  return rows
}
