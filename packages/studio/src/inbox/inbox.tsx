import { type Asked, openInterrupts, type SessionInfo, transcriptView } from '@millrace/core'
import { useConnectionState, useSession, useView } from '@millrace/react'
import { useEffect, useMemo, useState } from 'react'
import { closeDrawer } from '../app/panes.ts'
import { navigate } from '../app/route.ts'
import { showFailure } from '../app/toast.tsx'
import { ActionsContext } from '../conversation/actions.ts'
import { InterruptForm } from '../conversation/interrupt-form.tsx'
import { useConversationActions } from '../conversation/use-actions.ts'
import { client } from '../session/client.ts'
import { titleOf, useSessions } from '../session/sessions.ts'
import { StatusDot } from '../session/status-dot.tsx'
import { agentColour } from '../ui/agent-colour.ts'
import { Button, Empty, IconButton } from '../ui/controls.tsx'
import { ago } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { Sheet } from '../ui/sheet.tsx'
import { hideInbox, runningIn, useInbox, waitingIn } from './inbox-store.ts'
import './inbox.css'

/** The sessions that wait for a person, with their questions, and those that run. */
export function Inbox() {
  const { open } = useInbox()
  return (
    <Sheet open={open} onClose={hideInbox} className="inbox" testId="inbox" titleId="inbox-title">
      {open && <InboxBody />}
    </Sheet>
  )
}

function InboxBody() {
  const { sessions, status, error, refresh } = useSessions()
  const waiting = useMemo(() => waitingIn(sessions), [sessions])
  const running = useMemo(() => runningIn(sessions), [sessions])
  // One question at a time is open: each has a connection of its own, of which a browser has few.
  const [chosen, setChosen] = useState<string>()
  const opened = waiting.find(({ id }) => id === chosen)?.id ?? (chosen === '' ? undefined : waiting[0]?.id)
  useEffect(() => void refresh(), [refresh])
  return (
    <div className="inbox-body">
      <header>
        <h2 id="inbox-title">Inbox</h2>
        <IconButton icon="close" label="Close" onClick={hideInbox} />
      </header>
      <div className="inbox-list scroll">
        {status === 'failed' && (
          <p className="bad-text" role="alert">
            Cannot load the sessions: {error}
          </p>
        )}
        {waiting.length === 0 && running.length === 0 && status === 'ready' && (
          <Empty icon="check" title="Nothing waits for you">
            Questions of agents and running sessions appear here.
          </Empty>
        )}
        {waiting.length > 0 && (
          <section aria-label="Waiting for you">
            <h3>Waiting for you</h3>
            {waiting.map((info) => (
              <article key={info.id} className="inbox-item" data-testid={`inbox-${info.id}`}>
                <button
                  type="button"
                  className="inbox-head"
                  aria-expanded={info.id === opened}
                  onClick={() => setChosen(info.id === opened ? '' : info.id)}
                >
                  <Line info={info} />
                  <Icon name={info.id === opened ? 'down' : 'right'} size={14} />
                </button>
                {info.id === opened && <Questions info={info} />}
              </article>
            ))}
          </section>
        )}
        {running.length > 0 && (
          <section aria-label="Running">
            <h3>Running</h3>
            {running.map((info) => (
              <article key={info.id} className="inbox-item running" data-testid={`inbox-${info.id}`}>
                <button type="button" className="inbox-head" onClick={() => openSession(info.id)}>
                  <Line info={info} />
                </button>
                <IconButton
                  icon="stop"
                  label={`Stop ${titleOf(info)}`}
                  onClick={() => showFailure(client.cancel(info.id).then(refresh))}
                />
              </article>
            ))}
          </section>
        )}
      </div>
    </div>
  )
}

function Line({ info }: { readonly info: SessionInfo }) {
  return (
    <>
      <StatusDot info={info} />
      <span className="inbox-name ellipsis">{titleOf(info)}</span>
      <span className="ellipsis" style={{ color: agentColour(info.agent) }}>
        {info.agent}
      </span>
      <span className="inbox-age">{ago(info.updatedAt, Date.now())}</span>
    </>
  )
}

/** The open questions of a session, in the same forms as in its conversation. */
function Questions({ info }: { readonly info: SessionInfo }) {
  const session = useSession(info.id)
  const connection = useConnectionState(session)
  const { actions, run } = useConversationActions(session, info, undefined)
  const transcript = useView(session.log, transcriptView)
  const asked: readonly Asked[] = useMemo(() => openInterrupts(transcript), [transcript])
  const refresh = useSessions((state) => state.refresh)
  const { latest } = transcript
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer changes the list
  useEffect(() => void refresh(), [latest?.status, refresh])
  return (
    <div className="inbox-questions">
      <ActionsContext value={actions}>
        {asked.map((each) => (
          <InterruptForm key={each.key} asked={each} />
        ))}
      </ActionsContext>
      {asked.length === 0 && (
        <p className="faint" role="status">
          {latest?.status === 'running'
            ? 'The run continues.'
            : connection.phase === 'connecting'
              ? 'Loading the question…'
              : 'This session has no open question. Open it to see why it waits.'}
        </p>
      )}
      {run.error !== undefined && (
        <p className="bad-text" role="alert">
          {run.error.message}
        </p>
      )}
      <Button icon="right" onClick={() => openSession(info.id)}>
        Open the session
      </Button>
    </div>
  )
}

function openSession(id: string): void {
  hideInbox()
  navigate({ session: id })
  closeDrawer()
}
