import { openInterrupts, type ResumeAnswer, type SessionInfo, type Transcript, transcriptView } from '@millrace/core'
import { type RunControls, type SessionHandle, useRun, useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import { showToast } from '../app/toast.tsx'
import { isFile } from '../session/files.ts'
import { fork, rerun } from '../session/session-actions.ts'
import type { Actions } from './actions.ts'

/** The ways to go on with a session, and the agent that would. */
export function useActionsOf(
  session: SessionHandle,
  info: SessionInfo | undefined,
  at: number | undefined,
): { readonly actions: Actions; readonly run: RunControls; readonly agent: string } {
  const latest = useView(session.log, transcriptView, { select: latestAgent })
  const working = useView(session.log, transcriptView, { select: isWorking, ...(at === undefined ? {} : { at }) })
  // By their ids: an array that is made anew would look like news to every row of the conversation.
  const open = useView(session.log, transcriptView, { select: openIds })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids tell when it is another
  const asked = useMemo(() => openInterrupts(session.log.read(transcriptView)), [session, open])
  const agent = latest ?? info?.agent ?? ''
  const run = useRun(session.id, agent)
  const [given, setGiven] = useState<ReadonlyMap<string, ResumeAnswer>>(new Map())
  const live = at === undefined && !isFile(session.id)
  const { pending, resume, send } = run
  const actions = useMemo((): Actions => {
    return {
      live,
      pending,
      working,
      given,
      waiting: asked.filter(({ id }) => !given.has(id)).length,
      edit(message, text) {
        if (info !== undefined) showToast(rerun(info, message.seq - 1, agent, text))
      },
      retry(end) {
        const said = lastWords(session, end.seq)
        if (said !== undefined) showToast(send(said))
      },
      forkAt(seq) {
        if (info !== undefined) showToast(fork(info, seq))
      },
      answer(question, answer) {
        const answers = new Map(given).set(question.id, answer)
        const missing = asked.filter(({ id }) => !answers.has(id))
        if (missing.length > 0) return setGiven(answers)
        setGiven(new Map())
        showToast(resume([...answers.values()]))
      },
    }
  }, [session, info, agent, asked, live, pending, working, given, resume, send])
  return { actions, run, agent }
}

const openIds = (said: Transcript): string =>
  openInterrupts(said)
    .map(({ key }) => key)
    .join('\n')
const isWorking = ({ latest }: Transcript): boolean => latest?.status === 'running'
const latestAgent = ({ latest }: Transcript): string | undefined => (latest?.agent === '' ? undefined : latest?.agent)

/** What a person said last before this moment. */
function lastWords({ log }: SessionHandle, seq: number): string | undefined {
  const { settled } = log.readAt(transcriptView, seq)
  for (let i = settled.length - 1; i >= 0; i--) {
    const item = settled.at(i)
    if (item?.kind === 'message' && item.role === 'user' && item.text !== '') return item.text
  }
  return undefined
}
