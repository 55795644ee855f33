import type { AdkContent, AdkPart, JsonObject } from '@millrace/core'
import type { CaseTurn, RecordedCase } from './case-file.ts'
import type { EvalCase, Invocation } from './eval-set.ts'

/**
 * A case of ADK's evaluation set: judged by its trajectory and by ROUGE-1, with ADK's own thresholds, and by the state
 * that the case names.
 */
export function caseOfEval(
  { conversation, sessionInput, evalId, finalSessionState: state = {} }: EvalCase,
  agent: string,
): RecordedCase {
  const isStateNamed = Object.keys(state).length > 0
  return {
    case: 1,
    agent,
    description: evalId,
    ...(sessionInput === undefined ? {} : { begin: sessionInput.state }),
    turns: conversation.map(turnOf),
    ...(isStateNamed ? { state } : {}),
    judge: { trajectory: 'exact', response: { rouge1: 0.8 }, ...(isStateNamed ? { state: 'named' } : {}) },
  }
}

/** The case in ADK's form. Calls inside of other calls, recorded answers and Millrace's own judges have no place in it. */
export function evalOfCase(one: RecordedCase, evalId: string, at: number): EvalCase {
  return {
    evalId,
    conversation: one.turns.map((turn, i): Invocation => {
      const { tools = [], response = '' } = turn.expect ?? {}
      return {
        invocationId: `${evalId}-${i + 1}`,
        userContent: { role: 'user', parts: turn.parts ?? [{ text: turn.user ?? '' }] },
        finalResponse: { role: 'model', parts: [{ text: response }] },
        intermediateData: {
          toolUses: tools.filter(({ nested }) => nested !== true).map(({ name, args }) => ({ name, args })),
          intermediateResponses: [],
        },
        creationTimestamp: at,
      }
    }),
    sessionInput: { appName: one.agent, userId: 'user', state: one.begin ?? {} },
    creationTimestamp: at,
  }
}

function turnOf({ userContent, finalResponse, intermediateData }: Invocation): CaseTurn {
  const parts = userContent.parts ?? []
  const isText = parts.every(({ text }) => text !== undefined)
  return {
    ...(isText ? { user: textOf(userContent) } : { parts: parts as unknown as readonly JsonObject[] }),
    expect: {
      tools: intermediateData.toolUses.map(({ name, args }) => ({ name, args })),
      ...(finalResponse === undefined ? {} : { response: textOf(finalResponse) }),
    },
  }
}

const textOf = ({ parts = [] }: AdkContent): string => parts.map(({ text = '' }: AdkPart) => text).join('\n')
