import {
  type Difference,
  diffState,
  fold,
  itemsOf,
  type Recorded,
  stateAt,
  stateView,
  transcriptView,
} from '@millrace/core'
import { type Edit, editsOf } from './edits.ts'

/** One thing that a run did, as text: two runs did the same when `kind`, `who` and `what` are equal. */
export interface ComparedStep {
  readonly kind: 'user' | 'message' | 'thought' | 'call' | 'result' | 'transfer' | 'question' | 'artifact' | 'end'
  readonly who: string
  readonly what: string
}

/** In ms, from the start of the recording; undefined where there was none. */
export interface ComparedTiming {
  readonly whole: number
  readonly firstText: number | undefined
  readonly tools: number
}

export interface Comparison {
  readonly equal: boolean
  /** The first step in which they differ, counted from 1; absent when all are equal. */
  readonly divergence?: {
    readonly step: number
    readonly a: ComparedStep | undefined
    readonly b: ComparedStep | undefined
  }
  /** All steps: those of both, and those of one. */
  readonly steps: readonly Edit<ComparedStep>[]
  readonly state: readonly Difference[]
  readonly timing: { readonly a: ComparedTiming; readonly b: ComparedTiming }
}

/** `authors`: whether authors count. AG-UI does not name the agent that speaks, so another dialect always differs in it. */
export function compareRuns(a: readonly Recorded[], b: readonly Recorded[], authors = true): Comparison {
  const steps = (rows: readonly Recorded[]) => (authors ? stepsOf(rows) : stepsOf(rows).map(withoutAuthor))
  const [ours, theirs] = [steps(a), steps(b)]
  const at = firstDifference(ours, theirs)
  const state = diffState(stateOf(a), stateOf(b))
  return {
    equal: at === undefined && state.length === 0,
    ...(at === undefined ? {} : { divergence: { step: at + 1, a: ours[at], b: theirs[at] } }),
    steps: editsOf(ours, theirs, keyOf),
    state,
    timing: { a: timingOf(a), b: timingOf(b) },
  }
}

function withoutAuthor(step: ComparedStep): ComparedStep {
  return step.kind === 'message' || step.kind === 'thought' ? { ...step, who: 'agent' } : step
}

const keyOf = ({ kind, who, what }: ComparedStep): string => `${kind}\n${who}\n${what}`

function firstDifference(a: readonly ComparedStep[], b: readonly ComparedStep[]): number | undefined {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [mine, other] = [a[i], b[i]]
    if (mine === undefined || other === undefined || keyOf(mine) !== keyOf(other)) return i
  }
  return undefined
}

function stateOf(rows: readonly Recorded[]) {
  return stateAt(fold(stateView, rows), rows.at(-1)?.seq ?? 0)
}

/** What happened, in order: messages, calls and their results, questions and ends. Ids and times are left out. */
function stepsOf(rows: readonly Recorded[]): readonly ComparedStep[] {
  return itemsOf(fold(transcriptView, rows)).flatMap((item): readonly ComparedStep[] => {
    switch (item.kind) {
      case 'message':
        if (item.superseded === true) return []
        return item.parts.flatMap((part): readonly ComparedStep[] => {
          if (part.kind === 'text' || part.kind === 'thought') {
            const kind = part.kind === 'thought' ? 'thought' : item.role === 'user' ? 'user' : 'message'
            return part.text === '' ? [] : [{ kind, who: item.author, what: part.text }]
          }
          if (part.kind !== 'tool') return [{ kind: 'message', who: item.author, what: printed(part) }]
          const call = { kind: 'call', who: part.name, what: printed(part.args ?? {}) } as const
          if (part.status === 'pending' || part.status === 'cut') return [call]
          return [call, { kind: 'result', who: part.name, what: part.error ?? printed(part.result ?? {}) }]
        })
      case 'transfer':
        return [{ kind: 'transfer', who: item.from, what: item.to }]
      case 'interrupt':
        return [{ kind: 'question', who: item.reason, what: item.message ?? printed(item.payload ?? null) }]
      case 'artifact':
        if (item.superseded === true) return []
        return [{ kind: 'artifact', who: item.name, what: `version ${item.version}` }]
      case 'end':
        return [{ kind: 'end', who: item.outcome, what: item.error?.message ?? '' }]
      default:
        return []
    }
  })
}

/** JSON with sorted keys, so that the order of keys is no difference. */
function printed(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([x], [y]) => (x < y ? -1 : 1)))
      : inner,
  )
}

function timingOf(rows: readonly Recorded[]): ComparedTiming {
  const start = rows[0]?.at ?? 0
  let firstText: number | undefined
  let tools = 0
  for (const item of itemsOf(fold(transcriptView, rows))) {
    if (item.kind !== 'message' || item.role === 'user') continue
    if (item.text !== '') firstText ??= item.at - start
    for (const part of item.parts) if (part.kind === 'tool') tools += part.duration ?? 0
  }
  return { whole: (rows.at(-1)?.at ?? start) - start, firstText, tools }
}
