import {
  claimSupport,
  claimsIn,
  defined,
  type Evidence,
  figuresIn,
  itemsOf,
  type Proof,
  type Support,
  type SupportIndex,
  transcriptView,
} from '@millrace/core'
import { type SessionHandle, useView } from '@millrace/react'
import { type MouseEvent, useEffect, useMemo, useState } from 'react'
import { closeDrawer, isNarrow } from '../app/panes.ts'
import { useLit } from '../session/lit.ts'
import { agentColour } from '../ui/agent-colour.ts'
import { Icon } from '../ui/icon.tsx'
import { MarkdownText } from '../ui/markdown.tsx'
import { SeqLink } from '../ui/seq-link.tsx'
import { claimMarks } from './claim-marks.ts'
import { useSupport } from './use-support.ts'
import './why.css'

const looking = 'Looking up the figures…'

interface Chosen {
  readonly sentence: string
  /** What its numbers count where it does not say so: the head of a table's column. */
  readonly of: string | undefined
  /** The paragraph, list item or cell that the sentence is in. */
  readonly around: string
  /** The place of the chosen figure in the sentence; undefined when the sentence itself was chosen. */
  readonly figure: number | undefined
}

/**
 * The answer, with every figure that can be looked up marked. A click on one shows where the log holds it, and lights up
 * those tool cards and messages in the conversation. What nothing supports is said plainly.
 */
export function WhyThisAnswer({ session, answer }: { readonly session: SessionHandle; readonly answer: Proof }) {
  const { run, seq, message } = answer
  const text = useView(session.log, transcriptView, {
    at: seq,
    select: (state) =>
      itemsOf(state).reduce(
        (found, item) => (item.kind === 'message' && item.id === message && item.run === run ? item.text : found),
        '',
      ),
  })
  const found = useSupport(session.log, answer)
  const support = found?.support
  const marks = useMemo(() => (support === undefined ? undefined : claimMarks(support)), [support])
  const counts = useMemo(() => (support === undefined ? looking : countsIn(text, support)), [text, support])
  const [chosen, choose] = useState<Chosen>()
  const places = useMemo(
    () => (chosen === undefined || support === undefined ? [] : placesOf(chosen, support)),
    [chosen, support],
  )
  const light = useLit(({ light }) => light)
  useEffect(() => {
    light(places.map(({ evidence }) => evidence))
    // On a narrow screen the panel closes so that the cards can be seen.
    return () => {
      if (!isNarrow()) light([])
    }
  }, [places, light])
  const onClick = ({ target }: MouseEvent): void => {
    if (!(target instanceof Element)) return
    const claim = target.closest('[data-claim]')
    const sentence = claim?.getAttribute('data-claim')
    const of = claim?.getAttribute('data-of') ?? undefined
    const around = claim?.closest('p, li, tr, blockquote')?.textContent ?? ''
    const figure = target.closest('[data-figure]')?.getAttribute('data-figure')
    choose(
      typeof sentence !== 'string'
        ? undefined
        : { sentence, of, around, figure: typeof figure === 'string' ? Number(figure) : undefined },
    )
  }
  if (text === '') return null
  return (
    <section className="panel-section why" data-testid="why">
      <h3>Why this answer</h3>
      <p className="faint why-counts" data-testid="why-counts">
        {counts}
        {found?.isCut === true && ' Only the newest 5,000 results and messages were searched.'}
      </p>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: every figure inside is a button; a click on a sentence is a shortcut */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div className="why-text" onClick={onClick}>
        <MarkdownText text={text} {...defined({ marks })} />
      </div>
      {chosen !== undefined && (
        <div className="why-found" aria-live="polite">
          <Places key={`${chosen.sentence} ${chosen.of} ${chosen.figure}`} chosen={chosen} places={places} />
        </div>
      )}
    </section>
  )
}

function placesOf({ sentence, of, around, figure }: Chosen, support: SupportIndex): readonly Support[] {
  const claims = claimsIn(sentence, of)
  const figures = claims.flatMap((claim) => claim.figures)
  const names = figure === undefined ? claims.flatMap((claim) => claim.names) : []
  const wanted = figure === undefined ? figures : figures.filter(({ start }) => start === figure)
  const passages = [figures, figuresIn(around)]
  const all = [
    ...wanted.flatMap((each) => support.of(each, undefined, passages)),
    ...names.flatMap((each) => support.ofName(each)),
  ]
  return [...new Map(all.map((each) => [`${each.evidence.seq} ${each.path} ${each.excerpt}`, each])).values()]
}

/** `12 sentences with figures: 11 supported by results, 1 stated in words only.` What there is none of is left out. */
function countsIn(text: string, support: SupportIndex): string {
  const claims = claimsIn(text)
  const figures = claims.flatMap((claim) => claim.figures)
  if (figures.length === 0) return 'There is no figure to look up in this answer.'
  const checked = claims.map((claim) => claimSupport(claim, support))
  const count = (state: string): number => checked.filter((each) => each === state).length
  const parts = [
    [count('supported'), 'supported by results'],
    [count('stated'), 'stated in words only'],
    [count('unsupported'), 'with a figure that nothing in the log supports'],
  ] as const
  const all = parts.reduce((sum, [number]) => sum + number, 0)
  const told = parts.flatMap(([number, words]) => (number === 0 ? [] : [`${number} ${words}`]))
  return `${all} ${all === 1 ? 'sentence' : 'sentences'} with figures: ${told.join(', ')}.`
}

/** As many places as fit beside the answer. */
const few = 2
const hows = { exact: 'as written', same: 'other notation', rounded: 'rounded' } as const

function Places({ chosen, places }: { readonly chosen: Chosen; readonly places: readonly Support[] }) {
  const [all, showAll] = useState(false)
  const label = chosen.figure === undefined ? 'this sentence' : 'this figure'
  if (places.length === 0) {
    return (
      <p className="why-nothing" data-testid="why-nothing">
        <Icon name="problems" /> Nothing in the log before this answer supports {label}.
      </p>
    )
  }
  const shown = all ? places : places.slice(0, few)
  return (
    <>
      <ul className="why-places" aria-label={`Where the log supports ${label}`}>
        {shown.map(({ evidence, path, excerpt, how }) => (
          <li key={`${evidence.seq} ${path} ${excerpt}`} data-testid="why-place">
            <p className="ledger-line">
              <i style={{ background: agentColour(evidence.name) }} />
              <b className="ellipsis" title={evidence.name}>
                {evidence.name}
              </b>
              <span className="faint">{kindOf(evidence)}</span>
              <SeqLink seq={evidence.seq} />
              <span className="spacer" />
              <span className="faint why-how">{hows[how]}</span>
            </p>
            {path !== '' && <code>{path}</code>}
            <blockquote>{excerpt}</blockquote>
            {hasCard(evidence) && (
              <button type="button" className="link" data-testid="why-show" onClick={() => showCard(evidence)}>
                Show in the conversation
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown.length < places.length && (
        <button type="button" className="link" onClick={() => showAll(true)}>
          Show all {places.length} places
        </button>
      )}
    </>
  )
}

function showCard({ call, seq }: Evidence): void {
  useLit.setState({ asked: { seq, ...defined({ call }) } })
  closeDrawer()
}

/** Only what is a card of the conversation can be shown there. */
const hasCard = ({ kind }: Evidence): boolean => kind === 'tool' || kind === 'specialist' || kind === 'agent'

const kinds: Readonly<Record<Evidence['kind'], string>> = {
  tool: 'result',
  data: 'record',
  specialist: 'answered',
  state: 'wrote into the state',
  agent: 'said',
  person: 'said by the person',
}
const kindOf = ({ kind }: Evidence): string => kinds[kind]
