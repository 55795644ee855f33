import { citedSources, type Proof, proofView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Empty, IconButton, Pill } from '../ui/controls.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { BasisList, CitationList } from './citations.tsx'
import { ConfidenceDial, OriginPill } from './confidence.tsx'
import { ReasoningChain } from './reasoning.tsx'
import { WhyThisAnswer } from './why.tsx'
import './proof.css'

/** The evidence behind an answer. A value that the answer does not give is shown as not given, never invented. */
export function ProofPanel({ session, at }: PanelProps) {
  const { proofs } = useView(session.log, proofView, { at })
  const answers = useMemo(() => answersIn(proofs.toArray()), [proofs])
  const [chosen, setChosen] = useState<string>()
  const found = answers.findIndex(({ id }) => id === chosen)
  const place = found < 0 ? answers.length - 1 : found
  const shown = answers[place]
  const specialists = useMemo(
    () => (shown === undefined ? [] : specialistsOf(shown, proofs.toArray())),
    [shown, proofs],
  )
  if (shown === undefined) {
    return (
      <Empty icon="proof" title="No answer yet">
        Once an agent answers, its stated confidence, its citations and its reasoning steps appear here.
      </Empty>
    )
  }
  const go = (step: number) => () => setChosen(answers[place + step]?.id)
  return (
    <div className="proof-panel scroll">
      {answers.length > 1 && (
        <div className="answer-choice">
          <span className="number">
            Answer <b>{place + 1}</b> of {answers.length}
          </span>
          <span className="spacer" />
          <IconButton icon="left" label="Previous answer" disabled={place === 0} onClick={go(-1)} />
          <IconButton icon="right" label="Next answer" disabled={place === answers.length - 1} onClick={go(1)} />
        </div>
      )}
      <AnswerProof answer={shown} specialists={specialists} session={session} />
    </div>
  )
}

interface Answered {
  readonly answer: Proof
  /** The results that other agents and tools returned before it in the same run. */
  readonly specialists: readonly Proof[]
}

function answersIn(proofs: readonly Proof[]): readonly Proof[] {
  return proofs.filter(({ kind, superseded }) => kind === 'answer' && superseded !== true)
}

function specialistsOf({ run, seq }: Proof, proofs: readonly Proof[]): readonly Proof[] {
  return proofs.filter(
    (each) => each.kind !== 'answer' && each.superseded !== true && each.run === run && each.seq <= seq,
  )
}

function AnswerProof({ answer, specialists, session }: Answered & Pick<PanelProps, 'session'>) {
  const { confidence, refused } = answer
  const sources = citedSources([answer, ...specialists])
  return (
    <>
      <section className="proof-head" data-testid="proof-confidence">
        {confidence !== undefined && <ConfidenceDial confidence={confidence} />}
        <div>
          <h3>{confidence === undefined ? 'Evidence' : 'Overall confidence'}</h3>
          <p className="proof-by">
            <b style={{ color: agentColour(answer.author) }}>{answer.author}</b>
            <SeqLink seq={answer.seq} />
          </p>
          {confidence === undefined ? (
            <p className="faint">{summaryOf(answer, sources.length)}</p>
          ) : (
            <p>
              <OriginPill origin={confidence.from.origin} />
              {confidence.note !== undefined && <span className="faint"> {confidence.note}</span>}
            </p>
          )}
        </div>
      </section>
      {refused !== undefined && (
        <p className="refused">
          A <code>proof_layer</code> at <code>{refused.path}</code> was not used: {refused.reason}.
        </p>
      )}
      <WhyThisAnswer key={answer.id} session={session} answer={answer} />
      <Sections answer={answer} />
      <Ledgers specialists={specialists} />
      <BasisList basis={[answer, ...specialists].flatMap(({ regulatoryBasis }) => regulatoryBasis)} />
      <CitationList sources={sources} />
      <ReasoningChain reasoning={answer.reasoning} />
    </>
  )
}

/** What the answer does not give is one quiet line. */
function summaryOf({ confidences }: Proof, sources: number): string {
  const first = confidences.length === 0 ? 'No confidence given.' : 'No overall confidence given.'
  return `${first} ${sources === 0 ? 'No source' : count(sources, 'source')} cited.`
}

/** The confidence of each section of the answer. */
function Sections({ answer: { confidences } }: { readonly answer: Proof }) {
  const parts = confidences.filter(({ overall, section, of }) => overall !== true && (section ?? of) !== undefined)
  if (parts.length === 0) return null
  return (
    <section className="panel-section">
      <h3>
        By section <Pill>{parts.length}</Pill>
      </h3>
      <ul className="bars">
        {parts.map((part) => (
          <li key={`${part.section}${part.of}${part.from.seq}${part.from.start}`}>
            <span className="ellipsis" title={[part.section, part.of].filter(Boolean).join(', ')}>
              {part.section ?? part.of}
              {part.section !== undefined && part.of !== undefined && <span className="faint"> · {part.of}</span>}
            </span>
            <ConfidenceBar value={part.value} level={part.level} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The agents that the answer relies on, and separately the tools that were used. */
function Ledgers({ specialists }: Pick<Answered, 'specialists'>) {
  return (
    <>
      <Ledger title="Specialists" every={specialists.filter(({ kind }) => kind === 'specialist')} />
      <Ledger title="Tools used" every={specialists.filter(({ kind }) => kind === 'tool')} />
    </>
  )
}

/** One line for each specialist: its last result, and how many results it returned. */
function Ledger({ title, every }: { readonly title: string; readonly every: readonly Proof[] }) {
  const specialists = [...new Map(every.map((each) => [each.author, each])).values()]
  if (specialists.length === 0) return null
  return (
    <section className="panel-section">
      <h3>
        {title} <Pill>{specialists.length}</Pill>
      </h3>
      <ul className="ledger">
        {specialists.map((each) => (
          <li key={each.id} data-testid="proof-specialist">
            <div className="ledger-line">
              <i style={{ background: agentColour(each.author) }} />
              <b className="ellipsis">{each.author}</b>
              <SeqLink seq={each.seq} />
              <span className="spacer" />
              {each.confidence !== undefined && <OriginPill origin={each.confidence.from.origin} />}
            </div>
            {each.confidence !== undefined && (
              <ConfidenceBar value={each.confidence.value} level={each.confidence.level} />
            )}
            <p className="faint counts">{countsOf(each, every)}</p>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** How much of each kind of evidence there is; what there is none of is left out. */
function countsOf(each: Proof, every: readonly Proof[]): string {
  const { citations, sources, regulatoryBasis, reasoning } = each
  const steps = (reasoning?.steps.length ?? 0) + (reasoning?.omitted ?? 0)
  const counts: readonly (readonly [number, string])[] = [
    [every.filter(({ author }) => author === each.author).length, each.kind === 'tool' ? 'call' : 'result'],
    [citations.length + sources.length, 'source'],
    [regulatoryBasis.length, 'rule'],
    [steps, reasoning?.origin === 'stated' ? 'step' : 'call'],
  ]
  return counts.flatMap(([number, word]) => (number === 0 ? [] : [count(number, word)])).join(' · ')
}

function ConfidenceBar({ value, level }: { readonly value: number | undefined; readonly level: string | undefined }) {
  return (
    <span className="confidence-bar">
      <span className="track">{value !== undefined && <span style={{ width: `${value * 100}%` }} />}</span>
      <b className="number">{value === undefined ? (level ?? 'not given') : `${Math.round(value * 100)}%`}</b>
    </span>
  )
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}
