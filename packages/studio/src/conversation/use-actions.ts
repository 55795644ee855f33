import { openInterrupts, type ResumeAnswer, type SessionInfo, type Transcript, transcriptView } from '@millrace/core'
import { type RunControls, type SessionHandle, useRun, useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import { showFailure } from '../app/toast.tsx'
import { openChange } from '../change/open-change.ts'
import { useAgentAbsent } from '../session/agent-absent.ts'
import { isFile } from '../session/files.ts'
import { cutEnds, runsView } from '../session/runs.ts'
import { fork } from '../session/session-actions.ts'
import { useSessions } from '../session/sessions.ts'
import { type Actions, noActions } from './actions.ts'
import { useCallFacts } from './call-facts.ts'

interface ConversationActions {
  readonly actions: Actions
  readonly run: RunControls
  /** The agent that would run next. */
  readonly agent: string
  /** It is not on this server. */
  readonly absent: boolean
  readonly agentsReady: boolean
}

/** The actions on a session, and the agent that would run next. */
export function useConversationActions(
  session: SessionHandle,
  info: SessionInfo | undefined,
  at: number | undefined,
): ConversationActions {
  const latest = useView(session.log, transcriptView, { select: latestAgent })
  const activeRun = useView(session.log, transcriptView, { select: runAtWork, at })
  // Selected by id: a rebuilt array would look like a change and render every row of the conversation.
  const open = useView(session.log, transcriptView, { select: openIds })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids change whenever the questions do
  const asked = useMemo(() => openInterrupts(session.log.read(transcriptView)), [session, open])
  const { rejected, callTimes } = useCallFacts(session.log)
  const spans = useView(session.log, runsView, { at })
  const runs = useMemo(() => new Map(spans.toArray().map((span) => [span.run, span])), [spans])
  const cuts = useMemo(() => cutEnds(session.log, spans), [session, spans])
  const planRun = useMemo(() => spans.toArray().findLast(({ plans }) => plans === true)?.run, [spans])
  const agent = latest ?? info?.agent ?? ''
  const run = useRun(session.id, agent)
  const [given, setGiven] = useState<ReadonlyMap<string, ResumeAnswer>>(new Map())
  const absent = useAgentAbsent(agent)
  const agentsReady = useSessions((state) => state.agentsReady)
  const canFork = at === undefined && !isFile(session.id)
  // Until the agents are known, nothing is offered that may have to be taken back.
  const canRun = canFork && agentsReady && !absent
  const { pending, resume, send } = run
  const actions = useMemo((): Actions => {
    return {
      ...noActions,
      canFork,
      canRun,
      pending,
      working: activeRun !== undefined,
      activeRun,
      given,
      waiting: asked.filter(({ id }) => !given.has(id)).length,
      rejected,
      callTimes,
      runs,
      cuts,
      planRun,
      change: isFile(session.id) ? undefined : (target) => void openChange(session.id, target),
      retry(end) {
        const text = lastUserText(session, end.seq)
        if (text !== undefined) showFailure(send(text))
      },
      forkAt(seq) {
        if (info !== undefined) showFailure(fork(info, seq))
      },
      answer(question, answer) {
        const answers = new Map(given).set(question.id, answer)
        const missing = asked.filter(({ id }) => !answers.has(id))
        if (missing.length > 0) return setGiven(answers)
        setGiven(new Map())
        showFailure(resume([...answers.values()]))
      },
    }
  }, [
    session,
    info,
    asked,
    canFork,
    canRun,
    pending,
    activeRun,
    given,
    rejected,
    callTimes,
    runs,
    cuts,
    planRun,
    resume,
    send,
  ])
  return { actions, run, agent, absent, agentsReady }
}

const openIds = (transcript: Transcript): string =>
  openInterrupts(transcript)
    .map(({ key }) => key)
    .join('\n')
const runAtWork = ({ latest }: Transcript): string | undefined =>
  latest?.status === 'running' ? latest.run : undefined
const latestAgent = ({ latest }: Transcript): string | undefined => (latest?.agent === '' ? undefined : latest?.agent)

/** The text of the last user message before this seq. */
function lastUserText({ log }: SessionHandle, seq: number): string | undefined {
  const { settled } = log.readAt(transcriptView, seq)
  for (let i = settled.length - 1; i >= 0; i--) {
    const item = settled.at(i)
    if (item?.kind === 'message' && item.role === 'user' && item.text !== '') return item.text
  }
  return undefined
}
