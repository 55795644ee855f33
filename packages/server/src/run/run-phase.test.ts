import { expect, test } from 'vitest'
import { nextPhase, type RunPhase, type RunStep } from './run-phase.ts'

const phases: readonly RunPhase[] = ['ready', 'running', 'ending', 'ended', 'released']
const steps: readonly RunStep[] = ['start', 'finish', 'settle', 'release']

/** What each step leads to, by phase; every pair that is not listed must throw. */
const legal: Readonly<Record<string, RunPhase>> = {
  'ready start': 'running',
  'running finish': 'ending',
  'ending finish': 'ending',
  'ending settle': 'ended',
  'ended finish': 'ended',
  'ended release': 'released',
  'released finish': 'released',
}
const pairs = phases.flatMap((phase) => steps.map((step): [RunPhase, RunStep] => [phase, step]))

test.each(pairs)('a run that is %s: %s', (phase, step) => {
  const expected = legal[`${phase} ${step}`]
  if (expected === undefined) expect(() => nextPhase(phase, step)).toThrow(`a run that is ${phase} cannot ${step}`)
  else expect(nextPhase(phase, step)).toBe(expected)
})
