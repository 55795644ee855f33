import { transcriptView } from '@millrace/core'
import { createClient, MillraceProvider, useConnectionState, useSession, useSSE, useView } from '@millrace/react'
import { useEffect, useState } from 'react'
import { report } from './scene.ts'

const heard: string[] = []
const states: string[] = []
const statuses: string[] = []

/** One run, read twice over connections that are cut: the run's own stream, and the session's. */
export function Cuts() {
  const [client] = useState(() => createClient())
  return (
    <MillraceProvider client={client}>
      <Stream />
      <Session />
    </MillraceProvider>
  )
}

function Stream() {
  const { connect, status, error } = useSSE({
    canonical: true,
    onMessage: ({ rawEvent }) => heard.push(rawEvent.id),
  })
  if (statuses.at(-1) !== status) statuses.push(status)
  Object.assign(report.values, { heard, statuses, error: error?.message })
  report.acts.run = (body: unknown) => connect('/run_sse', body)
  return null
}

function Session() {
  const session = useSession('s')
  const { phase } = useConnectionState(session)
  useEffect(
    () =>
      session.subscribeState(() => {
        states.push(session.state.phase)
      }),
    [session],
  )
  const state = useView(session.log, transcriptView)
  const lastSeq = session.log.lastSeq
  report.acts.json = () => JSON.parse(JSON.stringify(state))
  Object.assign(report.values, { phase, states, lastSeq, latest: state.latest?.status })
  return <p>{phase}</p>
}
