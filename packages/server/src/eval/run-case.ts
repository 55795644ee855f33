import type { AdkContent, EventLog, InputMessage, JsonObject, RunEvent } from '@millrace/core'
import type { RunEngine } from '../run/run-engine.ts'
import { conversationOf } from './conversation.ts'
import type { EvalCase, EvalCaseResult, EvalMetric, Invocation } from './eval-set.ts'
import { judge } from './score.ts'

export interface CaseRun {
  readonly log: Pick<EventLog, 'create' | 'append' | 'read'>
  readonly engine: Pick<RunEngine, 'start' | 'wait'>
  readonly newId: () => string
  readonly user: string
  readonly agent: string
  readonly evalSetId: string
  readonly metrics: readonly EvalMetric[]
}

/** ADK's prefix of the sessions of evaluations; its servers leave them out of their lists. */
export const evalSessionPrefix = '___eval___session___'

/** Says to the agent what the user of the case said, turn by turn, in a session of its own, and judges what it did. */
export async function runCase(parts: CaseRun, evalCase: EvalCase): Promise<EvalCaseResult> {
  const { log, engine, newId, user, agent, evalSetId, metrics } = parts
  const session = `${evalSessionPrefix}${newId()}`
  await log.create({ id: session, user, agent, title: `Eval ${evalSetId}: ${evalCase.evalId}` })
  const opening = openingState(evalCase.sessionInput?.state ?? {})
  if (opening !== undefined) await log.append(session, [{ run: '', event: opening }])
  let actual: readonly Invocation[] = []
  for (const { userContent } of evalCase.conversation) {
    const content = answering(userContent, evalCase.conversation, actual)
    const message: InputMessage = { id: newId(), role: 'user', content }
    const { run } = await engine.start({ session, user, agent, input: { messages: [message] } })
    const outcome = await engine.wait(session, run)
    actual = conversationOf(await log.read(session, { after: 0 }))
    // A turn that failed is judged like any other; the turns after it are not run.
    if (outcome !== 'done' && outcome !== 'interrupted') break
  }
  const verdict = judge(actual, evalCase.conversation, metrics)
  return { evalSetId, evalId: evalCase.evalId, ...verdict, sessionId: session, userId: user }
}

/** A recorded answer to a call names the call of the recorded session. Here it answers the same call of this session. */
function answering(content: AdkContent, expected: readonly Invocation[], actual: readonly Invocation[]): AdkContent {
  const calls = (turns: readonly Invocation[], name: string): readonly (string | undefined)[] =>
    turns.flatMap(({ intermediateData }) =>
      intermediateData.toolUses.flatMap((use) => (use.name === name ? [use.id] : [])),
    )
  const parts = (content.parts ?? []).map((part) => {
    const { functionResponse } = part
    if (functionResponse?.id === undefined) return part
    const { id, name } = functionResponse
    const made = calls(actual, name)[calls(expected, name).indexOf(id)]
    return made === undefined ? part : { ...part, functionResponse: { ...functionResponse, id: made } }
  })
  return { ...content, parts }
}

/** The event that gives a session the state in which it begins. */
export function openingState(state: JsonObject): RunEvent | undefined {
  const patch = Object.entries(state).map(([key, value]) => ({
    op: 'add' as const,
    path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
    value,
  }))
  return patch.length === 0 ? undefined : { kind: 'state', patch }
}
