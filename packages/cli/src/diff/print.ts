import { sayLine } from '../output.ts'
import { aligned, type Colours, coloursOf, columnsOf, counted, durationText, oneLine, widthOf } from '../terminal.ts'
import type { ComparedStep, ComparedTiming, Comparison } from './compare.ts'
import type { Edit } from './edits.ts'

/** Steps of both runs that are shown before and after a difference. */
const around = 1

/** The comparison for people. */
export function printComparison(a: string, b: string, comparison: Comparison): void {
  const colours = coloursOf(process.stdout)
  const { equal, divergence, steps, state, timing } = comparison
  sayLine(`${colours.bad('- ')}${a}\n${colours.good('+ ')}${b}\n`)
  if (equal) sayLine(`${colours.good('The runs are equal')}: ${counted(steps.length, 'step')}, the same state.`)
  if (divergence !== undefined) {
    sayLine(
      `${colours.strong(`First difference at step ${divergence.step}`)}: ${sentence(divergence.a)} became ${sentence(divergence.b)}.`,
    )
    const edits = shown(steps)
    const width = roomFor(edits, widthOf(process.stdout))
    for (const line of aligned(edits.map((edit) => cells(edit, colours, width)))) sayLine(`  ${line}`)
  }
  if (state.length > 0) {
    sayLine(`\n${colours.strong('State')}`)
    const rows = state.map(({ path, kind, before, after }) => [
      kind === 'added' ? colours.good('+') : kind === 'removed' ? colours.bad('-') : colours.warn('~'),
      path,
      [before, after].flatMap((value) => (value === undefined ? [] : [oneLine(JSON.stringify(value), 40)])).join(' → '),
    ])
    for (const line of aligned(rows)) sayLine(`  ${line}`)
  }
  sayLine(`\n${colours.strong('Timing')}`)
  const times: readonly (readonly [string, keyof ComparedTiming])[] = [
    ['whole', 'whole'],
    ['first text', 'firstText'],
    ['tools', 'tools'],
  ]
  const rows = times.map(([name, key]) => [colours.faint(name), ...[timing.a, timing.b].map((each) => time(each[key]))])
  for (const line of aligned(rows, [1, 2])) sayLine(`  ${line}`)
}

const time = (ms: number | undefined): string => (ms === undefined ? '–' : durationText(ms))

function sentence(step: ComparedStep | undefined): string {
  if (step === undefined) return 'nothing more'
  const what = oneLine(step.what, 60)
  const named = nameOf(step)
  return what === '' ? named : `${named} “${what}”`
}

function nameOf({ kind, who }: ComparedStep): string {
  if (kind === 'user') return 'the message of the user'
  if (kind === 'end') return `the end as ${who}`
  return kind === 'question' ? `the question (${who})` : `the ${kind} of ${who}`
}

/** The differences with the steps around them. */
function shown(steps: readonly Edit<ComparedStep>[]): readonly Edit<ComparedStep>[] {
  return steps.filter((_, i) => steps.slice(Math.max(0, i - around), i + around + 1).some(({ of }) => of !== 'both'))
}

/** Columns that are left for what a step says. */
function roomFor(edits: readonly Edit<ComparedStep>[], width: number | undefined): number {
  if (width === undefined) return 90
  const most = (text: (step: ComparedStep) => string): number =>
    Math.max(0, ...edits.map(({ step }) => columnsOf(text(step))))
  return Math.max(16, width - 9 - most(({ kind }) => kind) - most(({ who }) => oneLine(who, 30)))
}

function cells({ of, step }: Edit<ComparedStep>, colours: Colours, width: number): string[] {
  const paint = of === 'a' ? colours.bad : of === 'b' ? colours.good : colours.faint
  const sign = of === 'a' ? '-' : of === 'b' ? '+' : ' '
  return [paint(sign), paint(step.kind), paint(oneLine(step.who, 30)), paint(oneLine(step.what, width))]
}
