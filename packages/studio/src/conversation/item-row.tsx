import { type Item, type Message, type Part, runWord } from '@millrace/core'
import { memo, type ReactNode } from 'react'
import { navigate, useRoute } from '../app/route.ts'
import { type ComparedSide, printSides } from '../compare/sides.ts'
import { MessageFeedback } from '../feedback/feedback.tsx'
import { goTo } from '../session/cursor.ts'
import { useLit } from '../session/lit.ts'
import { useSessions } from '../session/sessions.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Avatar } from '../ui/avatar.tsx'
import { IconButton, Pill } from '../ui/controls.tsx'
import './cards.css'
import { duration } from '../ui/duration.ts'
import { eventNumber } from '../ui/event-number.ts'
import { Icon } from '../ui/icon.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { wordTones } from '../ui/state-word.ts'
import { Time } from '../ui/time.tsx'
import { useActions } from './actions.ts'
import { changeSentence } from './change-sentence.ts'
import { InterruptForm } from './interrupt-form.tsx'
import { PlanCard } from './plan-card.tsx'
import { ToolCardRow } from './tool-card.tsx'
import { UserMessage } from './user-message.tsx'
import { visibleParts } from './visible-parts.ts'

/** One row of the conversation. */
export const ItemRow = memo(function ItemRow({ item }: { readonly item: Item }) {
  switch (item.kind) {
    case 'message':
      return item.role === 'user' ? <UserMessage message={item} /> : <MessageRow message={item} />
    case 'transfer':
      return (
        <p className="note" data-testid="transfer">
          <Icon name="transfer" /> <b>{item.from}</b> handed over to{' '}
          <b style={{ color: agentColour(item.to) }}>{item.to}</b>
        </p>
      )
    case 'foreign':
      return (
        <div className="foreign" data-testid="foreign">
          <p className="foreign-reason">
            <Icon name="problems" /> Could not be read: {item.reason}
          </p>
          <code>{item.raw}</code>
        </div>
      )
    case 'artifact':
      if (item.superseded === true) return null
      return (
        <p className="note">
          <Icon name="file" /> {item.deleted === true ? 'Removed' : 'Saved'} <b>{item.name}</b>{' '}
          <span className="faint">version {item.version}</span>
        </p>
      )
    case 'changed':
      return <ChangeNote item={item} />
    case 'end':
      return <RunEnd item={item} />
    case 'log':
      return <p className="note faint">{item.message}</p>
    case 'start':
      return <RunStartNote item={item} />
    case 'interrupt':
      return <InterruptForm asked={item} />
  }
})

/** What a person changed before the run went on. */
function ChangeNote({ item }: { readonly item: Extract<Item, { kind: 'changed' }> }) {
  const me = useSessions((state) => state.caller?.user)
  return (
    <p className="note" data-testid="changed">
      <Icon name="pencil" /> {changeSentence(item, me)}{' '}
      <span className="faint">event {eventNumber(item.of.seq)} of the original</span>
    </p>
  )
}

/** Why a run began, where no message of the user says it. */
function RunStartNote({ item }: { readonly item: Extract<Item, { kind: 'start' }> }) {
  const run = useActions().runs.get(item.run)
  if (item.forkOf !== undefined) {
    return (
      <p className="note">
        <Icon name="fork" /> Forked from another session{' '}
        {item.forkOf.seq === 0 ? 'before its first event' : `at event ${eventNumber(item.forkOf.seq)}`}{' '}
        <CompareLink sides={(session) => [{ session: item.forkOf?.session ?? session }, { session }]}>
          Compare with the original
        </CompareLink>
      </p>
    )
  }
  if (run?.cause === 'plan') {
    return (
      <p className="note" data-testid="run-cause">
        <Icon name="play" /> <b>You</b> executed the plan <span className="faint">run {run.number}</span>
      </p>
    )
  }
  return (
    <p className="note" data-testid="run-cause">
      <Icon name="play" /> The run continued with the answer
    </p>
  )
}

/** The end of a run: outcome, duration and error, with the actions to retry it or to fork from there. */
function RunEnd({ item }: { readonly item: Extract<Item, { kind: 'end' }> }) {
  const { outcome, error, duration: took, seq } = item
  const { canFork, canRun, pending, retry, forkAt, planRun, runs, cuts } = useActions()
  const isLaterRun = (runs.get(item.run)?.number ?? 1) > 1
  const word = runWord(outcome, error?.code)
  // A recording without its end is no failure: nothing is known of how the run ended.
  const cut = word === 'cut off'
  return (
    <footer className={`run-end ${outcome}`} data-testid="message-complete">
      {error !== undefined && outcome !== 'done' && !cut && (
        <p className="run-error" data-testid="run-error" role={canFork && outcome === 'failed' ? 'alert' : undefined}>
          {error.message} <code>{error.code}</code>
        </p>
      )}
      {item.run === planRun && <PlanCard />}
      <div>
        <Pill tone={wordTones[word]}>{word}</Pill>
        {/* No run takes 0 ms: a recording without times has none. */}
        {!cut && took !== undefined && took > 0 && <span className="number">{duration(took)}</span>}
        <Time at={cuts.get(seq)?.at ?? item.at} />
        <button type="button" className="link" title="Show the session at this moment" onClick={() => goTo(seq)}>
          event {eventNumber(seq)}
        </button>
        {cut && <span>{error?.message}</span>}
        {canFork && (
          <span className="run-tools">
            {canRun && outcome !== 'interrupted' && (
              <button type="button" className="link" disabled={pending} onClick={() => retry(item)} data-testid="retry">
                <Icon name="retry" size={13} /> Retry
              </button>
            )}
            <button type="button" className="link" onClick={() => forkAt(seq)}>
              <Icon name="fork" size={13} /> Fork here
            </button>
            {isLaterRun && (
              <CompareLink sides={(session) => newest([...runs.keys()]).map((run) => ({ session, run }))}>
                <Icon name="compare" size={13} /> Compare runs
              </CompareLink>
            )}
          </span>
        )}
      </div>
    </footer>
  )
}

/** More runs than these are no table that a person reads. */
const mostRuns = 20
const newest = (runs: readonly string[]): readonly string[] => runs.slice(-mostRuns)

interface CompareLinkProps {
  readonly sides: (session: string) => readonly ComparedSide[]
  readonly children: ReactNode
}

/** Opens the comparison. Only a row of an open session has it. */
function CompareLink({ sides, children }: CompareLinkProps) {
  const session = useRoute('session')
  const { canFork } = useActions()
  if (session === undefined || !canFork) return null
  return (
    <button
      type="button"
      className="link"
      data-testid="compare-link"
      onClick={() => navigate({ compare: printSides(sides(session)) })}
    >
      {children}
    </button>
  )
}

function MessageRow({ message }: { readonly message: Message }) {
  const { author, status, superseded, error } = message
  const shown = visibleParts(message)
  const isLit = useLit(({ seqs }) => message.endSeq !== undefined && seqs.has(message.endSeq))
  return (
    <article
      className={`message ${isLit ? 'lit ' : ''}${superseded === true ? 'superseded' : ''}`}
      data-testid={`message-${message.id}`}
    >
      <Avatar agent={author} />
      <div className="message-body">
        <header>
          <span className="author" data-testid="message-author" style={{ color: agentColour(author) }}>
            {author}
          </span>
          <span className="message-time faint">
            <Time at={message.at} />
          </span>
          {superseded === true && <Pill tone="warn">superseded</Pill>}
          {status === 'cut' && <Pill tone="warn">cut off</Pill>}
          {message.finishReason !== undefined && <Pill>{message.finishReason}</Pill>}
        </header>
        {shown.map((part, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message only ever grow at the end
          <PartRow key={i} part={part} run={message.run} streaming={status === 'streaming' && i === shown.length - 1} />
        ))}
        {error !== undefined && <p className="bad-text">{error.message}</p>}
        {status !== 'streaming' && message.text.trim() !== '' && (
          <MessageFeedback about={{ run: message.run, message: message.id }} />
        )}
      </div>
      <OpenStep message={message} />
    </article>
  )
}

/** Opens the step that a message came from. */
export function OpenStep({ message: { endSeq, seq } }: { readonly message: Message }) {
  const { openStep } = useActions()
  return (
    <IconButton
      icon="step"
      label="Open the step: prompt, response, state and cost"
      className="message-step"
      data-testid="message-step"
      onClick={() => openStep(endSeq ?? seq)}
    />
  )
}

function PartRow({ part, run, streaming }: { readonly part: Part; readonly run: string; readonly streaming: boolean }) {
  switch (part.kind) {
    case 'text':
      return (
        <div className={streaming ? 'streaming' : ''}>
          <MarkdownText text={part.text} />
        </div>
      )
    case 'thought':
      return (
        <details className="thought">
          <summary>
            <Icon name="thought" /> {streaming ? 'Thinking…' : 'Thought'}
          </summary>
          <p>{part.text}</p>
        </details>
      )
    case 'tool':
      return <ToolCardRow card={part} run={run} />
    case 'file':
      return part.data !== undefined && /^image\/(png|jpeg|gif|webp)$/.test(part.mimeType ?? '') ? (
        <img
          className="inline-image"
          src={`data:${part.mimeType};base64,${part.data}`}
          alt={part.name ?? 'Image from the agent'}
        />
      ) : (
        <p className="note">
          <Icon name="file" /> {part.name ?? part.uri ?? part.mimeType ?? 'file'}
        </p>
      )
    case 'code':
      return <pre className="code">{part.code}</pre>
    case 'code-result':
      return <pre className="code result">{part.output ?? part.outcome ?? ''}</pre>
    case 'other':
      return <pre className="code">{JSON.stringify(part.part)}</pre>
  }
}
