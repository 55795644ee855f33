// One user does the worst that a user may do, until this process is ended: node noisy-neighbour-client.mjs ADDRESS TOKEN
// It prints what it was answered, one JSON line every second.
import { setTimeout } from 'node:timers/promises'

const [address, token] = process.argv.slice(2)
const authorization = `Bearer ${token}`
const counts = {}
let names = 0

async function send(path, init = {}) {
  try {
    const answer = await fetch(address + path, { ...init, headers: { authorization, ...init.headers } })
    counts[answer.status] = (counts[answer.status] ?? 0) + 1
    await answer.body?.pipeTo(new WritableStream())
    if (answer.status === 429 || answer.status === 507) await setTimeout(100)
    return answer.status
  } catch {
    counts.broken = (counts.broken ?? 0) + 1
    await setTimeout(100)
    return 0
  }
}
const json = (method, body) => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const lines = (text) => ({ method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: text })

function exported(events) {
  const rows = events.map((event, i) => JSON.stringify({ seq: i + 1, at: i + 1, run: '', event }))
  return ['{"format":"millrace.session","version":1,"session":{"agent":"assistant","title":"noise"}}', ...rows].join(
    '\n',
  )
}
const patch = (path, value) => ({ kind: 'state', patch: [{ op: path === '' ? 'replace' : 'add', path, value }] })
const range = (length, of) => Array.from({ length }, (_, i) => of(i))
const wide = exported([
  patch('', Object.fromEntries(range(100_000, (i) => [`k${i}`, 1]))),
  ...range(1000, (i) => patch(`/k${i}`, i)),
])
const rows = exported(range(60_000, () => ({ kind: 'log', level: 'info', message: '' })))
const lists = exported(
  range(12, (i) =>
    patch(
      `/a${i}`,
      range(120_000, () => []),
    ),
  ),
)
const views = ['transcript', 'timeline', 'state', 'flow', 'usage', 'proof', 'plan', 'problems']

/** Imports, reads in every way at once, forks and deletes. */
async function storm(text) {
  for (;;) {
    const id = `noise-${process.pid}-${++names}`
    if ((await send(`/sessions/import?id=${id}`, lines(text))) !== 201) continue
    await Promise.all([
      ...views.map((view) => send(`/sessions/${id}/views/${view}`)),
      ...range(8, (i) => send(`/sessions/${id}/state?at=${i + 1}`)),
      ...['adk', 'ag-ui', 'studio', 'plan'].map((name) => send(`/sessions/${id}/events?dialect=${name}&until=idle`)),
      send(`/sessions/${id}`),
      send(`/apps/assistant/users/ada/sessions/${id}`),
    ])
    await send(`/sessions/${id}/fork`, json('POST', { id: `${id}-fork` }))
    await send(`/sessions/${id}-fork`, { method: 'DELETE' })
    await send(`/sessions/${id}`, { method: 'DELETE' })
  }
}

/** Runs that it does not read to the end. */
async function runs() {
  for (;;) {
    const messages = [{ id: '1', role: 'user', content: 'hello' }]
    await send('/', json('POST', { threadId: `noise-run-${++names}`, runId: 'r', messages }))
    await setTimeout(20)
  }
}

for (const text of [wide, rows, lists]) void storm(text)
for (let i = 0; i < 4; i++) void runs()
for (;;) {
  await setTimeout(1000)
  process.stdout.write(`${JSON.stringify(counts)}\n`)
}
