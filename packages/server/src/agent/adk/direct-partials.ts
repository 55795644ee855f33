import { type BaseAgent, isLlmAgent, LlmAgent, type LlmResponse, LoopAgent, SequentialAgent } from '@google/adk'
import { nodePath } from '@millrace/core'
import type { PartialTaker } from '../model/partial-taker.ts'
import type { Scope } from './scope.ts'

/**
 * Takes the tokens of a model straight to the log. ADK hands each of them through twelve generators, which costs more
 * than everything that happens to it afterwards, and changes nothing in a partial. Undefined where the author's code could
 * see the partials: a callback, a plugin, a processor, a class of the author's own, a tool that runs an agent.
 */
export function directPartials(scope: Scope, branch: string | undefined): PartialTaker | undefined {
  const { run, agent, node, nested, inWorkflow } = scope
  if (!run.direct || node === undefined || nested !== undefined || inWorkflow === true) return undefined
  if (agent === undefined || !isLlmAgent(agent) || !isReachedPlainly(agent, nodePath(node).split('/'))) return undefined
  if (agent.canonicalAfterModelCallbacks.length > 0 || agent.responseProcessors.length > 0) return undefined
  return {
    take(answer) {
      if (run.signal.aborted || scope.failure() !== undefined || !saysOnlyText(answer)) return false
      run.speak(answer, { author: agent.name, branch, node })
      return true
    },
    room: () => run.room(),
  }
}

/** Whether the runner runs this agent, itself or through pipelines, with nothing of the author's in between. */
function isReachedPlainly(agent: LlmAgent, path: readonly string[]): boolean {
  if (!isPlain(agent, LlmAgent)) return false
  let around: BaseAgent = agent
  for (let i = path.length - 2; i >= 0; i--) {
    const parent = around.parentAgent
    if (parent === undefined || parent.name !== path[i]) return false
    if (!isPlain(parent, SequentialAgent) && !isPlain(parent, LoopAgent)) return false
    around = parent
  }
  return true
}

/** Whether the agent is of this class of ADK, and nothing of it was replaced. */
function isPlain(agent: BaseAgent, made: { readonly prototype: object }): boolean {
  return Object.getPrototypeOf(agent) === made.prototype && !methods.some((method) => Object.hasOwn(agent, method))
}

/** The methods that a partial passes through. */
const methods = [
  'runAsync',
  'runAsyncImpl',
  'runOneStepAsync',
  'callLlmAsync',
  'postprocess',
  'runAndHandleError',
  'handleAfterModelCallback',
] as const

/** ADK does something with calls, with errors, and with answers that have no content. */
function saysOnlyText({ content, errorCode, errorMessage, interrupted }: LlmResponse): boolean {
  if (errorCode !== undefined || errorMessage !== undefined || interrupted !== undefined) return false
  const parts = content?.parts
  return parts !== undefined && parts.length > 0 && parts.every(isText)
}

function isText(part: object): boolean {
  for (const key in part) if (key !== 'text' && key !== 'thought') return false
  return 'text' in part && typeof part.text === 'string'
}
