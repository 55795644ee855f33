import {
  type App,
  type Event,
  InMemoryArtifactService,
  InMemoryMemoryService,
  InMemorySessionService,
  LogLevel,
  Runner,
  StreamingMode,
  setLogLevel,
} from '@google/adk'
import { type Json, type Recorded, readRecording } from '@millrace/core'
import type { Turn } from '../kit/session.ts'
import { stepsTaken } from './scripted-model.ts'

/** One session of an agent that ran on ADK's own Runner and services, without a server. */
export interface BareSession {
  readonly rows: readonly Recorded[]
  readonly state: Readonly<Record<string, unknown>>
}
export interface BareRun {
  readonly sessions: readonly BareSession[]
  /** How many steps of the script it took. */
  readonly steps: number
}

const userId = 'user'

/** Runs the sessions one after the other, on services that they share, as one process of an author would. */
export async function bareRun(pattern: string, talks: readonly (readonly Turn[])[]): Promise<BareRun> {
  setLogLevel(LogLevel.ERROR)
  const before = stepsTaken(pattern)
  const { rootAgent, app } = (await import(`./${pattern}/agent.ts`)) as { rootAgent: Runner['agent']; app?: App }
  const sessionService = new InMemorySessionService()
  const services = { artifactService: new InMemoryArtifactService(), memoryService: new InMemoryMemoryService() }
  const runner = new Runner({
    ...(app === undefined ? { appName: pattern, agent: rootAgent } : { app }),
    sessionService,
    ...services,
  })
  const sessions: BareSession[] = []
  for (const turns of talks) {
    const { id: sessionId } = await sessionService.createSession({ appName: pattern, userId })
    const events: Event[] = []
    for (const turn of turns) {
      const newMessage = { role: 'user', parts: 'say' in turn ? [{ text: turn.say }] : answers(events, turn.answer) }
      const runConfig = { streamingMode: StreamingMode.SSE }
      for await (const event of runner.runAsync({ userId, sessionId, newMessage, runConfig })) {
        events.push(JSON.parse(JSON.stringify(event)) as Event)
      }
    }
    const session = await sessionService.getSession({ appName: pattern, userId, sessionId })
    sessions.push({ rows: await rowsOf(pattern, events), state: JSON.parse(JSON.stringify(session?.state ?? {})) })
  }
  return { sessions, steps: stepsTaken(pattern) - before }
}

/** The answers to the calls that wait: the newest of them, as ADK's documentation sends them. */
function answers(events: readonly Event[], answer: Json) {
  const asking = events.findLast(({ longRunningToolIds = [] }) => longRunningToolIds.length > 0)
  return (asking?.content?.parts ?? []).flatMap(({ functionCall }) => {
    if (functionCall?.id === undefined || functionCall.name === undefined) return []
    const { id, name } = functionCall
    return [{ functionResponse: { id, name, response: answer as Record<string, unknown> } }]
  })
}

async function rowsOf(agent: string, events: readonly Event[]): Promise<readonly Recorded[]> {
  const lines = (async function* () {
    for (const event of events) yield `${JSON.stringify(event)}\n`
  })()
  const rows: Recorded[] = []
  for await (const row of readRecording(lines, { from: 'adk', run: 'bare', agent, now: () => 0 })) rows.push(row)
  return rows
}
