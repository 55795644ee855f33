import { webHost } from '@millrace/core'
import { type AgentCatalog, discoverAgents, type ModelSettings, modelSettings } from '@millrace/server'
import { configFor } from './agents-folder.ts'
import { envFiles } from './env-files.ts'
import { addStandIns, removeStandIns } from './stand-in-keys.ts'

/**
 * The agents of a folder in this process, with the variables of its `.env` files. `more` wins over their model settings.
 * `isPlayed` says that no model is called, so that a model can be made without its key.
 */
export async function localAgents(folder: string, more: ModelSettings = {}, isPlayed = false): Promise<AgentCatalog> {
  removeStandIns(process.env)
  const env = envFiles(process.env, process.cwd())
  if (isPlayed) addStandIns(process.env)
  return discoverAgents(folder, {
    models: { ...modelSettings(env.base), ...more },
    env: env.of,
    config: await configFor(folder),
    host: webHost(globalThis),
    // A command has nothing else to do than to wait until its agent is loaded.
    patience: 60_000,
  })
}
