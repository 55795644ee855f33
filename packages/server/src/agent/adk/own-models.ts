import { type BaseAgent, type BaseLlm, isBaseLlm, isLlmAgent } from '@google/adk'
import { bindingOf } from '../model/binding.ts'
import { ChosenLlm } from '../model/model.ts'
import { withoutTaken } from '../model/partial-taker.ts'
import { taped } from '../model/tape.ts'

/** Two agents may share a model. */
const wrapped = new WeakSet<BaseLlm>()

/**
 * Lets recorded runs play and keep the answers of models that the author made, and takes their partials to the log, as
 * `model(…)` does for its own. Outside our runs such a model is called as before.
 */
export function tapeOwnModels(agents: readonly BaseAgent[]): void {
  for (const agent of agents) {
    const own: unknown = isLlmAgent(agent) ? agent.model : undefined
    if (isBaseLlm(own) && !(own instanceof ChosenLlm)) tapeModel(own)
  }
}

function tapeModel(llm: BaseLlm): void {
  if (wrapped.has(llm)) return
  wrapped.add(llm)
  const generate = llm.generateContentAsync.bind(llm)
  llm.generateContentAsync = (request, stream = false, signal) => {
    const { settings, agent, partials } = bindingOf(request)
    const ask = () => generate(request, stream, signal)
    const answers = settings.tape === undefined ? ask() : taped(settings.tape, agent, request, stream, ask)
    return withoutTaken(answers, partials)
  }
}
