import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dialectNames, type Frame, sseReader } from '@millrace/core'
import { discoverAgents } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { testServer } from '../kit/server.ts'

/**
 * Each example, offline, in each dialect, against what was recorded once (vectors/examples). Ids, times and the order in
 * which parallel branches interleave differ from run to run and are left out: what is said and done is not.
 * `MILLRACE_RECORD=1` records them again; read the difference before you commit it.
 */
const runs = [
  { agent: 'assistant', prompt: 'What is the weather in Lisbon?' },
  { agent: 'recovery', prompt: 'Give me a recovery briefing for Cedar Creek Fire' },
  { agent: 'research', prompt: 'Research quantum computing' },
  { agent: 'planner', prompt: 'Plan a competitor analysis of the CRM market' },
] as const
const dialects = dialectNames.filter((name) => name !== 'millrace')

describe('the examples in every dialect', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    const agents = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    server = await testServer({ agents })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
    for (const { agent, prompt } of runs) {
      const message = { id: `m-${agent}`, role: 'user', content: { parts: [{ text: prompt }] } }
      const body = JSON.stringify({ agent, run: `run-${agent}`, input: { messages: [message] } })
      await fetch(`${address}/sessions/${agent}-1/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      expect(await server.engine.wait(`${agent}-1`, `run-${agent}`)).toBe('done')
    }
  })
  afterAll(() => server.close(0))

  test.each(runs.flatMap(({ agent }) => dialects.map((dialect) => [agent, dialect] as const)))(
    '%s as %s',
    async (agent, dialect) => {
      const text =
        await // How often Studio repeats a text depends on which of two parallel agents was first, so its pieces are read.
        (
          await fetch(
            `${address}/sessions/${agent}-1/events?dialect=${dialect === 'studio' ? 'studio-delta' : dialect}&run=run-${agent}`,
          )
        ).text()
      const facts = factsOf(sseReader().feed(text))
      const file = new URL(`../../vectors/examples/${agent}.${dialect}.json`, import.meta.url)
      if (process.env.MILLRACE_RECORD === '1') writeFileSync(file, `${JSON.stringify(facts, null, 1)}\n`)
      expect(facts.length).toBeGreaterThan(2)
      expect(facts).toEqual(JSON.parse(readFileSync(file, 'utf8')))
    },
  )
})

/** Frames that carry a piece of a text: what they say together is one fact, whatever the order of the pieces. */
function pieceOf({ event, data }: Frame): string | undefined {
  if (event === 'chunk' || event === 'thinking') return data
  if (!data.startsWith('{')) return undefined
  const { type, delta, content, partial } = JSON.parse(data) as Record<string, unknown>
  if (typeof delta === 'string') return delta
  if (type === 'content' && typeof content === 'string') return content
  return partial === true ? '' : undefined
}

function factsOf(frames: readonly Frame[]): readonly string[] {
  const pieces = frames.flatMap((frame) => pieceOf(frame) ?? [])
  const words = pieces.flatMap((piece) => piece.match(/\S+/g) ?? []).toSorted()
  const whole = frames.filter((frame) => pieceOf(frame) === undefined).flatMap(facts)
  const digest = createHash('sha256').update(words.join(' ')).digest('hex').slice(0, 16)
  return [...whole, `text of ${words.length} words ${digest}`].toSorted()
}

/** A frame without what differs between two equal runs. */
function facts({ event, data, comment }: Frame): readonly string[] {
  if (comment !== undefined) return comment.startsWith('run.') ? [comment.replace(/run-\w+/, 'RUN')] : []
  const value = /^[{[]/.test(data) ? strip(JSON.parse(data)) : data
  return [`${event ?? ''} ${typeof value === 'string' ? value : JSON.stringify(value)}`]
}

const fleeting =
  /^(id|timestamp|invocationId|messageId|toolCallId|parentMessageId|subagentRunId|parentSubagentRunId|parentToolCallId|branch|isolationScope|createdAt|duration_ms|call|call_id|callId|taskId|artifactId|threadId|runId|sessionId|step|stepName|node_id|path|message|interruptId|usage)$/

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip)
  // Whether a key is new or known depends on which of two parallel agents was first to write it.
  if (value === 'replace') return 'add'
  if (typeof value !== 'object' || value === null) return value
  // Which keys the others had written by then depends on which of the parallel agents was first.
  const among = 'type' in value && (value.type === 'node_start' || value.type === 'node_end')
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(among && key === 'state_keys'))
      .filter(([key]) => !fleeting.test(key) && key !== 'state_snapshot' && key !== 'snapshot' && key !== 'messages')
      .map(([key, inner]) => [key, key === 'state_keys' && Array.isArray(inner) ? inner.toSorted() : strip(inner)]),
  )
}
