import { describe, expect, test } from 'vitest'
import { type EvalMetric, evalStatus, type Invocation, type MatchType, type ToolUse } from './eval-set.ts'
import { rouge1 } from './rouge.ts'
import { judge } from './score.ts'
import { stem } from './stem.ts'
import { trajectoryScore } from './trajectory.ts'

const call = (name: string, args: ToolUse['args'] = {}, id?: string): ToolUse => ({
  name,
  args,
  ...(id === undefined ? {} : { id }),
})
const [a, b, c] = [call('a'), call('b'), call('c')]

describe('the trajectory', () => {
  test.each<[MatchType, readonly ToolUse[], readonly ToolUse[], 0 | 1]>([
    ['EXACT', [a, b], [a, b], 1],
    ['EXACT', [b, a], [a, b], 0],
    ['EXACT', [a, c, b], [a, b], 0],
    ['EXACT', [a], [], 0],
    ['EXACT', [], [], 1],
    ['IN_ORDER', [a, c, b], [a, b], 1],
    ['IN_ORDER', [b, a], [a, b], 0],
    ['IN_ORDER', [a], [a, a], 0],
    ['IN_ORDER', [a], [], 1],
    ['ANY_ORDER', [b, c, a], [a, b], 1],
    ['ANY_ORDER', [a, b], [a, a], 0],
    ['ANY_ORDER', [], [a], 0],
  ])('%s: %j against %j is %d', (match, actual, expected, score) =>
    expect(trajectoryScore(actual, expected, match)).toBe(score),
  )

  test('arguments count, their order and the id of the call do not', () => {
    const wanted = [call('a', { x: 1, y: { p: [1], q: 2 } }, 'old')]
    expect(trajectoryScore([call('a', { y: { q: 2, p: [1] }, x: 1 }, 'new')], wanted)).toBe(1)
    expect(trajectoryScore([call('a', { x: 1, y: { p: [2], q: 2 } })], wanted)).toBe(0)
  })
})

describe('ROUGE-1', () => {
  // Words and stems of NLTK's PorterStemmer, which ADK uses.
  test.each(
    Object.entries({
      caresses: 'caress',
      ponies: 'poni',
      dies: 'die',
      agreed: 'agre',
      plastered: 'plaster',
      hopping: 'hop',
      falling: 'fall',
      filing: 'file',
      happy: 'happi',
      enjoy: 'enjoy',
      relational: 'relat',
      conditional: 'condit',
      vietnamization: 'vietnam',
      operator: 'oper',
      hopefulness: 'hope',
      electrical: 'electr',
      adoption: 'adopt',
      replacement: 'replac',
      controlling: 'control',
      rate: 'rate',
      skies: 'sky',
      dying: 'die',
      proceed: 'proceed',
      generally: 'gener',
      biology: 'biolog',
    }),
  )('%s has the stem %s', (word, root) => expect(stem(word)).toBe(root))

  test.each<[string, string, number]>([
    ['The shelf is full.', 'the shelf is full', 1],
    ['', '', 0],
    ['nothing', 'else', 0],
    ['All is seen', 'All seen today', 2 / 3],
    ['running runs', 'run', 2 / 3],
    ['the the the', 'the cat', 0.4],
  ])('%j against %j is %d', (actual, expected, score) => expect(rouge1(actual, expected)).toBeCloseTo(score, 10))
})

describe('a verdict', () => {
  const turn = (text: string, ...toolUses: readonly ToolUse[]): Invocation => ({
    invocationId: text,
    userContent: { role: 'user', parts: [{ text: 'go' }] },
    finalResponse: { role: 'model', parts: [{ text }] },
    intermediateData: { toolUses, intermediateResponses: [] },
    creationTimestamp: 0,
  })
  const metrics: readonly EvalMetric[] = [
    { metricName: 'tool_trajectory_avg_score', threshold: 1 },
    { metricName: 'response_match_score', threshold: 0.5 },
  ]

  test('is the mean of the turns, and one failed criterion fails it', () => {
    const { finalEvalStatus, overallEvalMetricResults, evalMetricResultPerInvocation } = judge(
      [turn('one', a), turn('two')],
      [turn('one', a), turn('two', b)],
      metrics,
    )
    expect(finalEvalStatus).toBe(evalStatus.failed)
    expect(overallEvalMetricResults).toEqual([
      { metricName: 'tool_trajectory_avg_score', threshold: 1, score: 0.5, evalStatus: evalStatus.failed },
      { metricName: 'response_match_score', threshold: 0.5, score: 1, evalStatus: evalStatus.passed },
    ])
    expect(evalMetricResultPerInvocation.map(({ evalMetricResults }) => evalMetricResults[0]?.score)).toEqual([1, 0])
  })

  test('counts a turn that the run did not reach as unanswered', () => {
    const { finalEvalStatus, evalMetricResultPerInvocation } = judge([], [turn('one', a)], metrics)
    expect(finalEvalStatus).toBe(evalStatus.failed)
    expect(evalMetricResultPerInvocation[0]?.actualInvocation.finalResponse?.parts).toEqual([{ text: '' }])
  })

  test('says when a criterion needs a judge that is not here', () => {
    const safety = { metricName: 'safety_v1', threshold: 1 }
    const { finalEvalStatus, overallEvalMetricResults } = judge([turn('one')], [turn('one')], [safety])
    expect(finalEvalStatus).toBe(evalStatus.notEvaluated)
    expect(overallEvalMetricResults).toEqual([{ ...safety, evalStatus: evalStatus.notEvaluated }])
  })

  test('takes the calls in any order where the criterion says so', () => {
    const anyOrder = {
      metricName: 'tool_trajectory_avg_score',
      threshold: 1,
      criterion: { matchType: 'ANY_ORDER' },
    } as const
    expect(judge([turn('', b, a)], [turn('', a, b)], [anyOrder]).finalEvalStatus).toBe(evalStatus.passed)
  })
})
