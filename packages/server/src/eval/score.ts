import type { AdkContent } from '@millrace/core'
import {
  type EvalMetric,
  type EvalMetricResult,
  type EvalStatus,
  evalStatus,
  type Invocation,
  type InvocationResult,
} from './eval-set.ts'
import { rouge1 } from './rouge.ts'
import { trajectoryScore } from './trajectory.ts'

type Score = (actual: Invocation, expected: Invocation, metric: EvalMetric) => number

/** The criteria that need no model to judge, by ADK's names. */
const scores: Readonly<Record<string, Score>> = {
  tool_trajectory_avg_score: (actual, expected, { criterion }) =>
    trajectoryScore(actual.intermediateData.toolUses, expected.intermediateData.toolUses, criterion?.matchType),
  response_match_score: (actual, expected) => rouge1(textOf(actual.finalResponse), textOf(expected.finalResponse)),
}

/** What adk-web shows about the criteria. */
export const metricsInfo = [
  {
    metricName: 'tool_trajectory_avg_score',
    description:
      'Compares the tools that were called, and their arguments, with the expected ones: 1 for a match, 0 for none. Higher is better.',
    metricValueInfo: { interval: { minValue: 0, openAtMin: false, maxValue: 1, openAtMax: false } },
  },
  {
    metricName: 'response_match_score',
    description:
      'Compares the words of the final response with the expected one by ROUGE-1, from 0 to 1. Higher is better.',
    metricValueInfo: { interval: { minValue: 0, openAtMin: false, maxValue: 1, openAtMax: false } },
  },
] as const

/** The criteria of an evaluation that names none. */
export const defaultMetrics: readonly EvalMetric[] = [
  { metricName: 'tool_trajectory_avg_score', threshold: 1 },
  { metricName: 'response_match_score', threshold: 0.8 },
]

export interface Verdict {
  readonly finalEvalStatus: EvalStatus
  readonly overallEvalMetricResults: readonly EvalMetricResult[]
  readonly evalMetricResultPerInvocation: readonly InvocationResult[]
}

/** Judges a conversation turn by turn. The score of the whole is the mean of its turns, as in ADK. */
export function judge(
  actual: readonly Invocation[],
  expected: readonly Invocation[],
  metrics: readonly EvalMetric[],
): Verdict {
  const turns = expected.map((wanted, i): InvocationResult => {
    const made = actual[i] ?? unanswered(wanted)
    return {
      actualInvocation: made,
      expectedInvocation: wanted,
      evalMetricResults: metrics.map((metric) => resultOf(metric, scores[metric.metricName]?.(made, wanted, metric))),
    }
  })
  const overall = metrics.map((metric, i) =>
    resultOf(metric, mean(turns.map((turn) => turn.evalMetricResults[i]?.score))),
  )
  return { finalEvalStatus: statusOf(overall), overallEvalMetricResults: overall, evalMetricResultPerInvocation: turns }
}

function resultOf({ metricName, threshold }: EvalMetric, score: number | undefined): EvalMetricResult {
  if (score === undefined) return { metricName, threshold, evalStatus: evalStatus.notEvaluated }
  return { metricName, threshold, score, evalStatus: score >= threshold ? evalStatus.passed : evalStatus.failed }
}

/** Failed if any criterion failed; not evaluated if none was. */
function statusOf(results: readonly EvalMetricResult[]): EvalStatus {
  const statuses = new Set(results.map((result) => result.evalStatus))
  if (statuses.has(evalStatus.failed)) return evalStatus.failed
  return statuses.has(evalStatus.passed) ? evalStatus.passed : evalStatus.notEvaluated
}

function mean(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length
}

/** A turn that the run did not reach. */
function unanswered({ invocationId, userContent, creationTimestamp }: Invocation): Invocation {
  const intermediateData = { toolUses: [], intermediateResponses: [] }
  const finalResponse = { role: 'model', parts: [{ text: '' }] }
  return { invocationId, userContent, finalResponse, intermediateData, creationTimestamp }
}

const textOf = (content: AdkContent | undefined): string =>
  (content?.parts ?? []).flatMap(({ text }) => (text === undefined || text === '' ? [] : [text])).join('\n')
