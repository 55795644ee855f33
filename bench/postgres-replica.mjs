// A replica that appends as fast as it can: `postgres-replica.mjs URL SCHEMA NAME MS`. It begins when it reads a line, and prints
// how many events it wrote and how much processor time that took.
import { once } from 'node:events'
import { postgresLog } from '@millrace/server'

const [url, schema, name, ms] = process.argv.slice(2)
const log = await postgresLog({ url, schema, connections: 10 })
const ids = Array.from({ length: 16 }, (_, i) => `${name}-${i}`)
for (const id of ids) await log.create({ id, user: 'u', agent: 'a' })
const drafts = Array.from({ length: 10 }, (_, i) => ({
  run: '',
  event: { kind: 'log', level: 'info', message: `event ${i} ${'x'.repeat(200)}` },
}))
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const before = process.cpuUsage()
const end = performance.now() + Number(ms)
let events = 0
await Promise.all(
  ids.map(async (id) => {
    while (performance.now() < end) events += (await log.append(id, drafts)).length
  }),
)
const { user, system } = process.cpuUsage(before)
process.stdout.write(`${JSON.stringify({ events, cpu: (user + system) / 1000 })}\n`)
await log.close()
process.exit(0)
