import { MillraceError } from '@millrace/core'
import { type AgentCatalog, type CaseTape, type CaseVerdict, caseTape, runRecordedCase } from '@millrace/server'
import { CommandError } from '../command-error.ts'
import { localAgents } from '../local-agents.ts'
import type { FoundCase } from './case-files.ts'

/** What became of a case. */
export interface CaseResult {
  readonly found: FoundCase
  /** One for each run. */
  readonly verdicts: readonly CaseVerdict[]
  /** Why it could not run. */
  readonly error?: string
  readonly passed: boolean
}

interface CaseRunOptions {
  readonly live: boolean
  readonly times: number
  readonly passRate: number
  readonly signal: AbortSignal
}

interface Opened {
  readonly catalog: AgentCatalog
  readonly tape: CaseTape
}

/** Runs cases one after the other. The agents of a folder are loaded once. */
export class CaseRunner {
  readonly #opened = new Map<string, Promise<Opened>>()
  readonly #options: CaseRunOptions
  constructor(options: CaseRunOptions) {
    this.#options = options
  }

  async run(found: FoundCase): Promise<CaseResult> {
    const { live, times, passRate, signal } = this.#options
    const verdicts: CaseVerdict[] = []
    try {
      if (found.one.turns.length === 0)
        throw new CommandError('it has no conversation; a scenario for a simulated user cannot be run')
      const { catalog, tape } = await this.open(found.agents)
      if (!catalog.agents.has(found.one.agent)) {
        const known = [...catalog.agents.keys()].join(', ')
        throw new CommandError(`there is no agent ${found.one.agent} in ${found.agents}; known: ${known}`)
      }
      const agent = (name: string) => catalog.agents.get(name)
      // Loaded before the clock starts.
      const broken = (await agent(found.one.agent)?.describe())?.error
      if (broken !== undefined) throw new CommandError(broken)
      for (let i = 0; i < (live ? times : 1) && !signal.aborted; i += 1) {
        const setting = { agent, tape, live, signal, file: found.file, elapsed: () => performance.now() }
        verdicts.push(await runRecordedCase(found.one, setting))
      }
    } catch (error) {
      if (!(error instanceof MillraceError || error instanceof CommandError)) throw error
      return { found, verdicts, error: error.message, passed: false }
    }
    const good = verdicts.filter(({ findings }) => findings.length === 0).length
    return { found, verdicts, passed: !signal.aborted && good >= Math.ceil(verdicts.length * passRate) }
  }

  open(folder: string): Promise<Opened> {
    const known = this.#opened.get(folder)
    if (known !== undefined) return known
    const tape = caseTape()
    // The offline model streams as fast as it can: nobody watches.
    const models = { tape, tokensPerSecond: 0 }
    const opened = localAgents(folder, models, !this.#options.live).then((catalog) => ({ catalog, tape }))
    this.#opened.set(folder, opened)
    return opened
  }

  async close(): Promise<void> {
    for (const opened of this.#opened.values()) await (await opened).catalog.close()
  }
}
