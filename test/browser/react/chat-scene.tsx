import { type Item, itemsOf, type Message, openInterrupts, type Transcript, transcriptView } from '@millrace/core'
import {
  createClient,
  MillraceProvider,
  SessionProvider,
  useConnectionState,
  useRun,
  useSession,
  useView,
} from '@millrace/react'
import { memo, Profiler, useState } from 'react'
import { rendered, report } from './scene.ts'

/** New code: a session, its transcript, and what a person can do with it. */
export function Chat() {
  const [client] = useState(() => createClient())
  const query = new URLSearchParams(location.search)
  return (
    <MillraceProvider client={client}>
      <Followed id={query.get('session') ?? 's'} agent={query.get('agent') ?? ''} />
    </MillraceProvider>
  )
}

function Followed({ id, agent }: { id: string; agent: string }) {
  const session = useSession(id)
  const connection = useConnectionState(session)
  report.values.connection = connection
  report.acts.json = () => JSON.parse(JSON.stringify(session.log.read(transcriptView)))
  return (
    <SessionProvider session={session} agent={agent}>
      <Profiler id="list" onRender={() => rendered('commit')}>
        <List />
      </Profiler>
      <Keys />
      <Controls />
    </SessionProvider>
  )
}

/** The plain way: the whole list, rows memoised by the item's identity. */
function List() {
  rendered('list')
  const items = useView(transcriptView, { select: itemsOf })
  report.values.live = items.findLast((item): item is Message => item.kind === 'message')?.text.length
  return items.map((item) => <Row key={item.key} item={item} />)
}

const Row = memo(function Row({ item }: { item: Item }) {
  rendered(item.kind === 'message' ? `message ${item.id}` : item.kind)
  return item.kind === 'message' ? <p data-author={item.author}>{item.text}</p> : null
})

/** A selector that makes a new list each time: the list is the same as long as its items are. */
const keysOf = (state: Transcript): readonly string[] => itemsOf(state).map(({ key }) => key)
function Keys() {
  rendered('keys')
  report.values.keys = useView(transcriptView, { select: keysOf }).length
  return null
}

function Controls() {
  const { send, stop, resume, pending, error } = useRun()
  const asked = useView(transcriptView, { select: openInterrupts })
  const latest = useView(transcriptView, { select: (state) => state.latest })
  Object.assign(report.acts, { send, stop, resume })
  Object.assign(report.values, { pending, error: error?.message, asked, latest })
  return null
}
