import { randomUUID } from 'node:crypto'
import { expect, vi } from 'vitest'
import { repeatedSession } from '../long-session.ts'
import type { Studio } from '../studio-page.ts'
import type { Kind } from './place.ts'

interface MatrixSession {
  readonly session: string
  /** A session of the same kind that has a plan. */
  readonly plan: string
}

/** The sessions of the matrix, each made when it is first wanted. */
export type Sessions = Readonly<Record<Kind, () => Promise<MatrixSession>>>

/** A plan and two briefings in one session, its ADK stream as the recording of another system, and its runs many times. */
export async function matrixSessions(studio: Studio, events: number): Promise<Sessions> {
  const { app } = studio
  const session = randomUUID()
  await app.inject({
    method: 'POST',
    url: '/sessions',
    payload: { id: session, agent: 'recovery', title: 'A plan and two briefings' },
  })
  await runIn(studio, session, 'planner', 'Plan a competitor analysis of the CRM market')
  await runIn(studio, session, 'recovery', 'Give me a recovery briefing for Cedar Creek Fire')
  await runIn(studio, session, 'recovery', 'Give me the recovery briefing for Cedar Creek Fire again')
  return {
    examples: async () => ({ session, plan: session }),
    imported: once(async () => ({
      session: await recording(studio, session),
      plan: await studio.bring('plan', 'chat-then-execution'),
    })),
    long: once(async () => {
      const long = await repeatedSession(studio, session, events)
      return { session: long, plan: long }
    }),
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The stream of a session, imported as that of an agent which this server does not have. */
async function recording({ app }: Studio, session: string): Promise<string> {
  const wire = await app.inject(`/sessions/${session}/events?dialect=adk&until=idle`)
  const brought = await app.inject({
    method: 'POST',
    url: '/sessions/import?dialect=adk&agent=elsewhere&title=A%20recording',
    headers: { 'content-type': 'text/event-stream' },
    payload: wire.body,
  })
  expect(brought.statusCode, brought.body).toBe(201)
  return brought.json<{ id: string }>().id
}

async function runIn({ app }: Studio, session: string, agent: string, text: string): Promise<void> {
  const content = { role: 'user', parts: [{ text }] }
  const input = { messages: [{ id: randomUUID(), role: 'user', content }] }
  const begun = await app.inject({ method: 'POST', url: `/sessions/${session}/runs`, payload: { agent, input } })
  expect(begun.statusCode, begun.body).toBeLessThan(300)
  const status = async (): Promise<string> => (await app.inject(`/sessions/${session}`)).json().run
  await vi.waitUntil(async () => (await status()) === 'done', { timeout: 90_000, interval: 50 })
}
