import { expect } from 'vitest'
import type { Studio } from './studio-page.ts'

interface Row {
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly event: Record<string, unknown>
}

/** A session of many runs: the runs of a real one, again and again, with ids of their own. Resolves with its id. */
export async function repeatedSession({ app }: Studio, session: string, events: number): Promise<string> {
  const [header = '', ...lines] = (await app.inject(`/sessions/${session}/log`)).body.trim().split('\n')
  const rows = lines.map((line) => JSON.parse(line) as Row)
  const [first, last] = [rows[0]?.at ?? 0, rows.at(-1)?.at ?? 0]
  const times = Math.max(2, Math.floor(events / rows.length))
  const made: string[] = []
  for (let time = 0; time < times; time++) {
    // An hour passes between two runs.
    const later = time * (last - first + 3_600_000)
    for (const row of rows) {
      const event = renamed(row.event, `~${time}`)
      made.push(JSON.stringify({ seq: made.length + 1, at: row.at + later, run: `${row.run}~${time}`, event }))
    }
  }
  const about = JSON.parse(header) as { session: object }
  const count = { lastSeq: made.length, events: made.length, runs: times }
  const payload = [
    JSON.stringify({ ...about, session: { ...about.session, ...count, title: 'A long session' } }),
    ...made,
  ]
  const answer = await app.inject({
    method: 'POST',
    url: '/sessions/import',
    headers: { 'content-type': 'application/x-ndjson' },
    payload: `${payload.join('\n')}\n`,
  })
  expect(answer.statusCode, answer.body).toBe(201)
  return (answer.json() as { id: string }).id
}

/** The ids that join rows: those of messages, of calls and of invocations. An `id` is one only where these have it. */
const ids = new Set(['message', 'call', 'invocationId'])
const owners = new Set(['functionCall', 'functionResponse', 'messages'])

/** The event with another ending of each id in it, also of those inside its parts. */
function renamed<T>(value: T, ending: string, within = ''): T {
  if (Array.isArray(value)) {
    const isIds = within === 'messages'
    return value.map((each) =>
      isIds && typeof each === 'string' ? `${each}${ending}` : renamed(each, ending, within),
    ) as T
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => {
      const isId = ids.has(key) || (key === 'id' && owners.has(within))
      // What a tool was given and what it returned stays as it is.
      if (key === 'args' || key === 'response') return [key, each]
      return [key, isId && typeof each === 'string' ? `${each}${ending}` : renamed(each, ending, key)]
    }),
  ) as T
}
