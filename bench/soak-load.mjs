// The load of `npm run soak`, as a process of its own: node soak-load.mjs ADDRESS USERS. It ends when it is killed, and
// prints what it did, one JSON line every five seconds.
import { setTimeout } from 'node:timers/promises'

const [address, users] = [process.argv[2], Number(process.argv[3])]
const done = {}
const faults = []
let names = 0

/** Sends a request as a user, reads the answer, and counts it under a name. `cut`: leaves after so many ms. */
async function send(name, user, path, init = {}, cut = undefined) {
  const headers = { authorization: `Bearer soak-token-${user}`, ...init.headers }
  const signal = cut === undefined ? undefined : AbortSignal.timeout(cut)
  try {
    const answer = await fetch(address + path, { ...init, headers, signal })
    const text = await answer.text()
    const key = `${name} ${answer.status}`
    done[key] = (done[key] ?? 0) + 1
    if (answer.status >= 500) faults.push(`${name} ${path} ${answer.status} ${text.slice(0, 200)}`)
    return text
  } catch (error) {
    const key = `${name} ${signal?.aborted ? 'cut' : 'broken'}`
    done[key] = (done[key] ?? 0) + 1
    if (!signal?.aborted) faults.push(`${name} ${path} ${error.cause ?? error}`)
    return ''
  }
}
const json = (body, method = 'POST') => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const hostile = [
  '{"a":',
  '['.repeat(5000),
  'null',
  '{"__proto__":{"a":1}}',
  '"\\ud800"',
  `{"messages":[${'{},'.repeat(2000)}{}]}`,
]

function exported(count) {
  const rows = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      seq: i + 1,
      at: i + 1,
      run: '',
      event: { kind: 'state', patch: [{ op: 'add', path: `/k${i % 300}`, value: { i, text: 'x'.repeat(200) } }] },
    }),
  )
  return ['{"format":"millrace.session","version":1,"session":{"agent":"assistant","title":"soak"}}', ...rows].join(
    '\n',
  )
}
const imported = exported(2000)

/** What one user does, again and again. At most ten sessions of each user exist at a time. */
async function live(user) {
  const sessions = []
  for (;;) {
    const id = `soak-${user}-${++names}`
    const messages = [{ id: '1', role: 'user', content: 'Tell me a proverb' }]
    await send('run', user, '/', json({ threadId: id, runId: 'r1', messages }))
    await send(
      'cut run',
      user,
      '/',
      json({ threadId: id, runId: 'r2', messages: [...messages, { ...messages[0], id: '2' }] }),
      30,
    )
    await send('rejoin', user, `/sessions/${id}/events?dialect=adk&until=idle&after=2`)
    await send('fork', user, `/sessions/${id}/fork`, json({ id: `${id}-f` }))
    const lines = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body: imported }
    await send('import', user, `/sessions/import?id=${id}-i`, lines)
    await send('view', user, `/sessions/${id}-i/views/state`)
    await send('cut view', user, `/sessions/${id}-i/views/timeline`, {}, 5)
    await send('state', user, `/sessions/${id}-i/state?at=${names % 2000}`)
    await send('other user', user, `/sessions/soak-${(user + 1) % users}-${names - 1}/state`)
    for (const body of hostile) await send('hostile', user, ['/', '/sessions', '/run'][names % 3], json(body))
    sessions.push(id, `${id}-f`, `${id}-i`)
    while (sessions.length > 9) await send('delete', user, `/sessions/${sessions.shift()}`, { method: 'DELETE' })
    await setTimeout(1500) // within the rate of new runs
  }
}

for (let user = 0; user < users; user++) void live(user)
for (;;) {
  await setTimeout(5000)
  console.log(JSON.stringify({ done, faults: faults.splice(0) }))
}
