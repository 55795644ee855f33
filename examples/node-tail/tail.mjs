// @ts-check
// Prints the events of a session, from the first one on, and reconnects after every cut: node tail.mjs <session> [server]
import { connect, functionCallsOf, millrace, webHost } from '@millrace/core'

const [session = '', server = 'http://127.0.0.1:8000'] = process.argv.slice(2)
const stream = connect(`${server}/sessions/${encodeURIComponent(session)}/events`, {
  dialect: millrace,
  host: webHost(globalThis),
  follow: true,
  onState: (state) => console.error(`-- ${'how' in state ? state.how : state.phase}`),
})
for await (const { seq, event } of stream) {
  if (event.kind === 'run.finished') console.log(`${seq} run ${event.outcome}`)
  if (event.kind !== 'agent' || event.event.partial) continue
  const { author, content } = event.event
  for (const { name } of functionCallsOf(event.event)) console.log(`${seq} ${author} calls ${name}`)
  for (const { text, thought } of content?.parts ?? []) {
    if (text) console.log(`${seq} ${author}${thought ? ' (thinks)' : ''}: ${text}`)
  }
}
process.exitCode = stream.state.phase === 'closed' && stream.state.how === 'refused' ? 1 : 0
