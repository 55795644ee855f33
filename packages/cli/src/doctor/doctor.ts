import { existsSync } from 'node:fs'
import { type ModelSettings, modelSettings } from '@millrace/server'
import { agentsFolder, isExamples } from '../agents-folder.ts'
import { envFiles } from '../env-files.ts'
import { localAgents } from '../local-agents.ts'
import { openStore, storeAt } from '../open-store.ts'
import { sayJson, sayLine } from '../output.ts'
import { coloursOf, counted, hanging, oneLine, widthOf } from '../terminal.ts'
import { diskFinding, nodeFinding, portFinding } from './machine.ts'
import { modelFinding } from './model.ts'

export interface DoctorOptions {
  readonly agents?: string
  readonly dataDir?: string
  readonly port?: string
  readonly offline?: boolean
  readonly json?: boolean
}

/** One thing that was looked at. `advice` says what to do, where there is something to do. */
export interface DoctorFinding {
  readonly what: string
  readonly state: 'good' | 'warn' | 'bad'
  readonly says: string
  readonly advice?: string
}

/** Prints a line for each thing as soon as it is known; resolves with the exit code. */
export async function doctorCommand(options: DoctorOptions): Promise<number> {
  const env = envFiles(process.env, process.cwd()).base
  const models = modelSettings(env)
  const place = options.dataDir ?? (env.DATABASE_URL || env.DATA_DIR || '.millrace')
  const store = storeAt(place, options.dataDir ?? env.DATA_DIR)
  const folder = typeof store === 'string' ? '.millrace' : store.folder
  const checks: readonly (() => Promise<DoctorFinding> | DoctorFinding)[] = [
    () => nodeFinding(process.versions.node),
    () => diskFinding(folder),
    () => portFinding(options.port ?? (env.PORT || '8000')),
    () => keysFinding(models),
    () => agentsFinding(options.agents ?? agentsFolder()),
    () => modelFinding(models, options.offline === true),
    () => databaseFinding(place, store),
  ]
  const colours = coloursOf(process.stdout)
  const marks = { good: colours.good('✓'), warn: colours.warn('!'), bad: colours.bad('✗') }
  const found: DoctorFinding[] = []
  for (const check of checks) {
    const finding = await check()
    found.push(finding)
    if (options.json === true) continue
    const { what, state, says, advice } = finding
    const width = widthOf(process.stdout)
    sayLine(`${marks[state]} ${what.padEnd(8)}  ${hanging(says, 12, width)}`)
    if (advice !== undefined) sayLine(`            ${colours.faint(`→ ${hanging(advice, 14, width)}`)}`)
  }
  if (options.json === true) sayJson(found)
  return found.some(({ state }) => state === 'bad') ? 1 : 0
}

function keysFinding({ googleApiKey, anthropicApiKey, openaiApiKey, openaiBaseUrl }: ModelSettings): DoctorFinding {
  const keys = [
    ...(googleApiKey === undefined ? [] : ['GOOGLE_API_KEY']),
    ...(anthropicApiKey === undefined ? [] : ['ANTHROPIC_API_KEY']),
    ...(openaiApiKey === undefined ? [] : ['OPENAI_API_KEY']),
    ...(openaiBaseUrl === undefined ? [] : ['OPENAI_BASE_URL']),
  ]
  if (keys.length > 0) return { what: 'keys', state: 'good', says: keys.join(', ') }
  const advice = 'set GOOGLE_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY, here or in .env, for a real model'
  return { what: 'keys', state: 'warn', says: 'none: agents use their offline scripts', advice }
}

async function agentsFinding(folder: string): Promise<DoctorFinding> {
  const what = 'agents'
  try {
    const catalog = await localAgents(folder)
    const all = await catalog.warm()
    await catalog.close()
    const broken = all.filter(({ error }) => error !== undefined)
    const [first] = broken
    if (all.length === 0)
      return {
        what,
        state: 'bad',
        says: `none in ${folder}`,
        advice: 'write agents/<name>/agent.ts, or run millrace init',
      }
    const where = isExamples(folder) ? counted(all.length, 'example') : `${counted(all.length, 'agent')} in ${folder}`
    const says = `${where}: ${all.map(({ name }) => name).join(', ')}`
    if (first === undefined) return { what, state: 'good', says }
    const advice = broken.map(({ error = '' }) => oneLine(error, 300)).join('\n            → ')
    return { what, state: 'bad', says: `${counted(broken.length, 'agent')} of ${all.length} do not load`, advice }
  } catch (error) {
    return { what, state: 'bad', says: (error as Error).message, advice: 'name the folder with --agents' }
  }
}

async function databaseFinding(place: string, store: ReturnType<typeof storeAt>): Promise<DoctorFinding> {
  const what = 'database'
  if (typeof store === 'string') return { what, state: 'bad', says: store, advice: 'correct DATABASE_URL' }
  const shown = store.kind === 'postgres' ? `PostgreSQL at ${new URL(store.url).host}` : `SQLite in ${place}`
  // A check leaves nothing behind.
  if (store.kind === 'sqlite' && !existsSync(store.folder))
    return { what, state: 'good', says: `${shown}, which the first start makes` }
  try {
    const { log } = await openStore(store, Date.now)
    const { total } = await log.list({ limit: 1 })
    await log.close()
    return { what, state: 'good', says: `${shown}, ${counted(total, 'session')}` }
  } catch (error) {
    const { message } = error as Error
    if (/another process has it open/.test(message))
      return { what, state: 'good', says: `${shown}, in use by a running server` }
    const advice =
      store.kind === 'postgres' ? 'check that it runs, and the address, user and password' : 'use another --data-dir'
    return { what, state: 'bad', says: message, advice }
  }
}
