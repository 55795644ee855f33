import { type Claim, claimsIn } from '../view/proof/claim.ts'
import { evidenceBefore } from '../view/proof/evidence.ts'
import type { Proof } from '../view/proof/fact.ts'
import type { ClaimFigure } from '../view/proof/figure.ts'
import { type Support, supportIn } from '../view/proof/support.ts'
import { itemsOf } from '../view/transcript/index.ts'
import type { Item, Message } from '../view/transcript/item.ts'
import type { ReportFacts, ReportRun } from './facts.ts'

/** A figure of an answer, and the first place in the log that holds it. */
export interface CheckedFigure {
  readonly text: string
  readonly sentence: string
  /** `held`: by the result of a tool or a record; `stated`: only in words of agents or persons; `unheld`: nowhere. */
  readonly state: 'held' | 'stated' | 'unheld'
  readonly place?: Support
}

/** What a run answered, and what holds it. */
export interface ReportAnswer {
  readonly message: Message
  readonly proof?: Proof
  /** Undefined where figures were not looked up, to keep a report bounded. */
  readonly figures?: readonly CheckedFigure[]
  /** Only the newest evidence was searched. */
  readonly isCut: boolean
}

/** The figures of this many answers are looked up, those of the newest. */
const mostChecked = 20

/** The last answer of each run: what it said to the person at its end. */
export function answersByRun(facts: ReportFacts, runs: readonly ReportRun[]): ReadonlyMap<string, ReportAnswer> {
  const proofs = new Map<string, Proof>()
  for (const proof of facts.proof.proofs) {
    if (proof.superseded === true || proof.kind !== 'answer' || proof.message === undefined) continue
    proofs.set(`${proof.run}\n${proof.message}`, proof)
  }
  const last = new Map<string, Message>()
  const answering = new Set<string>()
  for (const item of itemsOf(facts.transcript)) {
    if (!isAnswer(item)) continue
    // What a specialist said to its caller is an answer only where the run has no other.
    const isProven = proofs.has(`${item.run}\n${item.id}`)
    if (!isProven && answering.has(item.run)) continue
    if (isProven) answering.add(item.run)
    last.set(item.run, item)
  }
  const found = new Map<string, ReportAnswer>()
  const check = checking(facts, last.values())
  for (const [i, { run }] of runs.entries()) {
    const message = last.get(run)
    if (message === undefined) continue
    const proof = proofs.get(`${run}\n${message.id}`)
    const checked = i >= runs.length - mostChecked ? check(message) : { isCut: false }
    found.set(run, { message, ...(proof === undefined ? {} : { proof }), ...checked })
  }
  return found
}

function isAnswer(item: Item): item is Message {
  return item.kind === 'message' && item.role === 'assistant' && item.superseded !== true && item.text.trim() !== ''
}

type Checked = Pick<ReportAnswer, 'figures' | 'isCut'>

/** One index of all evidence serves every answer: each is held only by what came before it. */
function checking(facts: ReportFacts, answers: Iterable<Message>): (message: Message) => Checked {
  const ends = [...answers].map(({ seq, endSeq = seq }) => endSeq)
  const { evidence, isCut } = evidenceBefore(facts.evidence, { run: '', seq: Math.max(0, ...ends) })
  const support = supportIn(evidence)
  const oldest = evidence.at(-1)?.seq ?? 0
  return ({ text, seq, endSeq = seq }) => {
    // The evidence of an answer before the oldest that was read is not known.
    if (isCut && endSeq <= oldest) return { isCut }
    const claims = claimsIn(text)
    const lines = linesOf(text, claims)
    const figures = claims.flatMap((claim, i) =>
      claim.figures.map((figure): CheckedFigure => {
        const [place] = support.of(figure, seq, [claim.figures, lines[i] ?? []])
        const kind = place?.evidence.kind
        return {
          text: figure.text,
          sentence: text.slice(claim.start, claim.end).trim(),
          state: kind === undefined ? 'unheld' : kind === 'tool' || kind === 'data' ? 'held' : 'stated',
          ...(place === undefined ? {} : { place }),
        }
      }),
    )
    return { figures, isCut }
  }
}

/** For each claim, the figures of the whole line that it begins on. */
function linesOf(text: string, claims: readonly Claim[]): readonly (readonly ClaimFigure[])[] {
  const lines: ClaimFigure[][] = []
  let end = -1
  return claims.map(({ start, figures }) => {
    if (start > end) {
      const next = text.indexOf('\n', start)
      end = next < 0 ? text.length : next
      lines.push([])
    }
    const line = lines.at(-1) ?? []
    line.push(...figures)
    return line
  })
}
