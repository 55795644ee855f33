import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, MillraceError } from '@millrace/core'
import { z } from 'zod'
import { loadModule } from './agent-file.ts'
import { agentEntry } from './engines.ts'
import { settlesIn } from './patience.ts'
import { messageOf } from './problem.ts'

const onDisconnect = z.enum(['cancel', 'continue']).optional()
const most = z.number().nonnegative().optional()
const share = z.strictObject({ user: most, all: most }).optional()
const millraceConfig = z.looseObject({
  agents: z.record(z.string(), agentEntry).optional(),
  /** What a closed connection does to the run that it started, by surface. */
  disconnect: z
    .strictObject({ 'ag-ui': onDisconnect, adk: onDisconnect, studio: onDisconnect, plan: onDisconnect })
    .optional(),
  /** Whether the log has what an agent's models were told, by agent; the others follow `--record-prompts`. */
  recordPrompts: z.record(z.string(), z.boolean()).optional(),
  /** What one million tokens cost, by the name of the model: the log then has the cost of each call. */
  prices: z
    .strictObject({
      currency: z.string().min(1),
      models: z.record(
        z.string(),
        z.strictObject({
          input: z.number().nonnegative(),
          output: z.number().nonnegative(),
          cachedInput: z.number().nonnegative().exactOptional(),
        }),
      ),
    })
    .optional(),
  /** What one user, and all users together, may have; see `--limit`. */
  limits: z
    .strictObject({
      runs: share,
      queued: share,
      streams: share,
      reads: share,
      writes: share,
      imports: share,
      forks: share,
      sessions: share,
      bytes: share,
    })
    .optional(),
})
export type MillraceConfig = z.infer<typeof millraceConfig>

const names = ['millrace.config.ts', 'millrace.config.js', 'millrace.config.mjs', 'millrace.config.json']

/** `millrace.config.ts` (or js, mjs, json) of the first folder that has one; an empty configuration when none has. */
export async function loadConfig(...folders: readonly string[]): Promise<MillraceConfig> {
  const file = folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path))
  return file === undefined ? {} : loadConfigFile(file)
}

/** The configuration in a file that must exist. */
export function loadConfigFile(file: string): Promise<MillraceConfig> {
  return configIn(file, 30_000)
}

/** The same; the import may wait for so many milliseconds for something. A slow one that is busy has more time. */
export async function configIn(file: string, patience: number): Promise<MillraceConfig> {
  if (!existsSync(file)) throw new MillraceError('not-found', `the configuration ${file} does not exist`, { file })
  return readConfig(await exported(file, patience), file)
}

/** Returns its argument; it is there so that editors check the type. */
export function defineConfig(config: MillraceConfig): MillraceConfig {
  return config
}

async function exported(file: string, patience: number): Promise<unknown> {
  try {
    if (file.endsWith('.json')) return JSON.parse(await readFile(file, 'utf8'))
    // The module is handed over, so that a folder without node_modules works, as it does for agents.
    const loading = loadModule(file, { '@millrace/server': { defineConfig } })
    if (!(await settlesIn(loading, patience)))
      throw new Error(
        `its import waited ${patience / 1000} s and did not end: is there an await in it that never ends?`,
      )
    const module = await loading
    return isObject(module) && 'default' in module ? module.default : namedParts(module)
  } catch (error) {
    throw new MillraceError(
      'invalid',
      `${file}: ${(messageOf(error).split('\nRequire stack:')[0] ?? '').trim()}`,
      { file },
      error,
    )
  }
}

/** The parts of a configuration that a file exports by name. Other exports are its own affair, but one without a part is a slip. */
function namedParts(module: unknown): unknown {
  const parts = Object.entries(isObject(module) ? module : {}).filter(([name]) => name in millraceConfig.shape)
  if (parts.length === 0) throw new Error('it exports no configuration: write export default defineConfig({ … })')
  return Object.fromEntries(parts)
}

function readConfig(value: unknown, file: string): MillraceConfig {
  const read = millraceConfig.safeParse(value)
  if (read.success) return read.data
  const issues = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the configuration'}: ${message}`)
  throw new MillraceError('invalid', `${file}: ${issues.join('; ')}`, { file })
}
