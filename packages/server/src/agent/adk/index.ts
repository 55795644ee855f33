import { defined, isObject } from '@millrace/core'
import type { FileEngine } from '../agent-engine.ts'
import { adkAbout, adkAgent } from './adk-agent.ts'

/** Runs agents, workflows and Apps of @google/adk, exported as `adk web` expects them. */
export const adkEngine: FileEngine = {
  about: adkAbout,
  exports: ['rootAgent', 'app'],
  exported: 'an agent of @google/adk',
  packages: ['@google/adk'],
  modules: {
    '@google/adk': async () => {
      await silenced()
      return import('@google/adk')
    },
    '@millrace/server/adk': async () => {
      await silenced()
      return import('./authoring.ts')
    },
  },
  recognises: (value) => isProgram(value) || (isObject(value) && isProgram(value.rootAgent)),
  holds: isApp,
  factories: false,
  remedy: 'it must be an agent or a workflow of @google/adk, such as new LlmAgent({ … })',
  open(name, { exported, exports, description, examples, resumable }, models) {
    const { maxLlmCalls } = exports
    return adkAgent(name, async () => exported, {
      models,
      ...defined({ description, examples, resumable }),
      ...(typeof maxLlmCalls === 'number' ? { maxLlmCalls } : {}),
    })
  },
}

/** An agent has `runAsync`, a workflow and its nodes have `run`. */
function isProgram(value: unknown): boolean {
  if (!isObject(value) || typeof value.name !== 'string') return false
  return typeof value.runAsync === 'function' || typeof value.run === 'function'
}

/** An App always has a list of plugins, which may be empty. */
function isApp(value: unknown): boolean {
  return isObject(value) && !isProgram(value) && isProgram(value.rootAgent) && Array.isArray(value.plugins)
}

/** Loads what silences ADK's logger, before the agent's file can make it print. */
async function silenced(): Promise<void> {
  await import('./loaded-agent.ts')
}
