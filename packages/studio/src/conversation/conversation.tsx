import { type RunStatus, type SessionInfo, type Transcript, transcriptView } from '@millrace/core'
import { type SessionHandle, useConnectionState, useView } from '@millrace/react'
import { memo, useEffect, useMemo } from 'react'
import { FeedbackContext } from '../feedback/feedback.tsx'
import { isFile } from '../session/files.ts'
import { titleOf, useSessions } from '../session/sessions.ts'
import { Button, Empty } from '../ui/controls.tsx'
import { ActionsContext } from './actions.ts'
import { BlockList } from './block-list.tsx'
import { Composer } from './composer.tsx'
import { connectionLabel } from './connection-label.ts'
import { FindBar } from './find-bar.tsx'
import { ConversationHeader } from './header.tsx'
import { MomentBar } from './moment-bar.tsx'
import { PlanContext } from './plan-card.tsx'
import { rowMaker } from './rows.ts'
import { useConversationActions } from './use-actions.ts'
import './conversation.css'

interface ConversationProps {
  readonly session: SessionHandle
  readonly info: SessionInfo | undefined
  readonly at: number | undefined
}

/** The messages and tool calls at the cursor, and the field for the next message. */
export const Conversation = memo(function Conversation({ session, info, at }: ConversationProps) {
  const transcript = useView(session.log, transcriptView, { at })
  const latest = useView(session.log, transcriptView, { select: latestOf })
  const connection = useConnectionState(session)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each session needs its own cache of rows
  const rowsAt = useMemo(rowMaker, [session])
  const { actions, run, agent, absent, agentsReady } = useConversationActions(session, info, at)
  const { runs } = actions
  const shown = useMemo(() => {
    const cause = (run: string) => runs.get(run)?.cause ?? 'message'
    return rowsAt(transcript, (run) => cause(run) !== 'message')
  }, [rowsAt, transcript, runs])
  const plan = useMemo(() => ({ session, agent, at }), [session, agent, at])
  const label = connectionLabel(connection, latest, isFile(session.id))
  const refresh = useSessions((state) => state.refresh)
  const { status } = latest ?? {}
  // biome-ignore lint/correctness/useExhaustiveDependencies: a run that starts or ends changes the list
  useEffect(() => void refresh(), [status, refresh])
  useEffect(() => {
    document.title = info === undefined ? 'Millrace' : `${titleOf(info)} · Millrace`
  }, [info])
  const running = status === 'running'
  useEffect(() => {
    document.documentElement.toggleAttribute('data-frozen', label.frozen === true)
    return () => document.documentElement.removeAttribute('data-frozen')
  }, [label.frozen])
  return (
    <ActionsContext value={actions}>
      <FeedbackContext value={session}>
        <PlanContext value={plan}>
          <ConversationHeader session={session} info={info} at={at} agent={agent} label={label} />
          <MomentBar session={session} />
          <FindBar blocks={shown} session={session.id} />
          {label.banner !== undefined && (
            <div className="banner" role="alert" data-testid="banner">
              <span>{label.banner}</span>
              {label.lost === true && <Button onClick={() => location.reload()}>Reload</Button>}
            </div>
          )}
          <BlockList blocks={shown} at={at} running={running && at === undefined} agent={agent}>
            {session.log.lastSeq === 0 && connection.phase === 'connecting' && <LoadingSession />}
            {shown.length === 0 && connection.phase === 'open' && session.log.lastSeq === 0 && (
              <Empty icon="thought" title="No messages yet">
                Write the first message below. The run is recorded from its first event.
              </Empty>
            )}
          </BlockList>
          {!isFile(session.id) && label.lost !== true && absent && !running && (
            <p className="read-only" data-testid="read-only">
              {agent === '' ? 'This session names no agent' : `${agent} is not an agent of this server`}, so the session
              can be read but not continued.
            </p>
          )}
          {/* Until the agents are known, nothing is offered that may have to be taken back. */}
          {!isFile(session.id) && label.lost !== true && !agentsReady && !running && (
            <div className="composer-place awaited" />
          )}
          {!isFile(session.id) && label.lost !== true && ((agentsReady && !absent) || running) && (
            <div className="composer-place">
              {run.error !== undefined && (
                <p className="bad-text" role="alert">
                  {run.error.message}
                </p>
              )}
              <Composer
                running={running}
                pending={run.pending}
                disabled={at !== undefined || agent === ''}
                placeholder={placeholder(at, status, agent)}
                onSend={(text) => void run.send(text).catch(() => undefined)}
                onStop={() => void run.stop().catch(() => undefined)}
              >
                <span className="hint">
                  {running ? `${agent} is working` : at === undefined && 'Enter to send, Shift+Enter for a new line'}
                </span>
              </Composer>
            </div>
          )}
        </PlanContext>
      </FeedbackContext>
    </ActionsContext>
  )
})

/** Shown while a long session is loading; a short one is there before this becomes visible. */
function LoadingSession() {
  return (
    <div className="reading" role="status">
      <span className="visually-hidden">Loading the session</span>
      <i />
      <i />
      <i />
    </div>
  )
}

const latestOf = ({ latest }: Transcript): RunStatus | undefined => latest

function placeholder(at: number | undefined, status: string | undefined, agent: string): string {
  if (at !== undefined) return 'Viewing an earlier moment. Press Esc to return to the latest, or fork here.'
  if (status === 'interrupted') return 'Answer the question above, or write something else'
  return `Message ${agent}`
}
