import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MillraceConfig } from '@millrace/server'

/** The example agents, which are part of this package. */
const examplesFolder = fileURLToPath(new URL('../agents/', import.meta.url))
const page = fileURLToPath(new URL('../page/', import.meta.url))

/** The folder `agents` where the command is run, or the examples. */
export const agentsFolder = (): string => (existsSync('agents') ? 'agents' : examplesFolder)

/** The examples are trusted with the process of the command. */
export const isExamples = (folder: string): boolean => resolve(folder) === resolve(examplesFolder)

/** The built page; undefined where the package was built without it. */
export const pageFolder = (): string | undefined => (existsSync(page) ? page : undefined)

/** The file that was asked for, or the first in the working directory, the agents folder and the folder around that. */
export async function configFor(agents: string, file?: string): Promise<MillraceConfig> {
  const { loadConfig, loadConfigFile } = await import('@millrace/server')
  if (file !== undefined) return loadConfigFile(resolve(file))
  return loadConfig(process.cwd(), resolve(agents), resolve(agents, '..'))
}
