import { basename, dirname, join, relative, sep } from 'node:path'
import { defined, MillraceError, type RunEvent, type RunInput } from '@millrace/core'
import type { Agent, AgentDescription, RunContext } from './agent.ts'
import { brokenDescription, loadingDescription } from './broken-description.ts'
import { lazyStream } from './lazy-stream.ts'
import { withCleanError } from './own-secrets.ts'
import { type Progress, settlesIn } from './patience.ts'
import { messageOf } from './problem.ts'
import { sourcesOf, stampOf } from './sources.ts'
import { TurnSet } from './turn-set.ts'

export interface FileAgentOptions {
  /** Opens the version of the file that is on the disk now; `again` says that one was opened before. */
  readonly open: (name: string, file: string, again: boolean) => Promise<OpenedAgent>
  /** Idle milliseconds that a listing waits for a file that is being loaded. A run waits ten times as long. */
  readonly patience: number
  /** Files of variables for all agents: an edit of one loads the agent again, as one of the `.env` beside it does. */
  readonly envFiles: readonly string[]
  /** Called after each load. `again` says that a version was loaded before. */
  readonly onLoad: (description: AgentDescription, again: boolean) => void
  /** Called for each error that the agent's own code threw. */
  readonly onThrow: (agent: string, run: string, message: string) => void
}

export interface OpenedAgent extends Agent {
  /** Ends what the agent holds, such as its process. */
  close?(): Promise<void>
  /** A run waits for this agent to load. */
  hurry?(): void
  /** How the process that loads it gets on; absent when that is this process. */
  progress?(): Progress
  /** Where its code is now; absent for this process. */
  place?(): Pick<AgentDescription, 'isolated' | 'loaded'>
}

/** A version of the agent that loaded. */
interface Version {
  readonly agent: OpenedAgent
  readonly description: AgentDescription
}

interface Unopened {
  readonly error: string
  readonly isFault: boolean
}

/** After a load that failed, the next run tries again, but not sooner than this, in ms. */
const retryAfter = 1_000

/**
 * The agent of a file. It is loaded when it is first described or run, and again whenever one of its files has changed. An edit that does not
 * load leaves the last version that did; a run keeps the version that it began with.
 */
export class FileAgent implements Agent {
  readonly name: string
  readonly file: string
  readonly #options: FileAgentOptions
  #version: Version | undefined
  /** How many runs each version has. */
  readonly #runs = new Map<Version, number>()
  /** Why the newest edit does not run. */
  #error: string | undefined
  /** Whether the last load failed for a reason that is not in the file, such as too many open files. */
  #isFault = false
  /** When the last load ended. */
  #loadedAt = Number.NEGATIVE_INFINITY
  #loading: Promise<void> | undefined
  #opening: OpenedAgent | undefined
  /** Whether a run waits for the load. */
  #isHurried = false
  /** Whether a listing has waited long enough for this load: the next one does not wait. */
  #waited = false
  #files: readonly string[]
  /** Of the files as the last load found them; undefined to load them again as they are. */
  #stamp: string | undefined = ''
  /** The stamp that the files were seen to have in this turn of the event loop: runs that begin together look once. */
  readonly #looked = new TurnSet()
  #loads = 0

  constructor(name: string, file: string, options: FileAgentOptions) {
    this.name = name
    this.file = file
    this.#files = [file]
    this.#options = options
  }

  async describe(): Promise<AgentDescription> {
    const loaded = await this.#listable()
    const known = this.#version && { ...this.#version.description, ...this.#version.agent.place?.() }
    if (loaded && this.#error === undefined && known !== undefined) return known
    if (known === undefined) {
      return loaded
        ? brokenDescription(this.name, this.#error ?? '')
        : loadingDescription(this.name, this.#stillLoading())
    }
    return { ...known, editError: loaded ? (this.#error ?? '') : this.#stillLoading() }
  }

  run(input: RunInput, context: RunContext): AsyncIterable<RunEvent> {
    let used: Version | undefined
    return lazyStream(
      async () => {
        used = await this.#runnable()
        this.#runs.set(used, (this.#runs.get(used) ?? 0) + 1)
        return used.agent.run(input, context)
      },
      {
        pass: (yielded) => {
          const event = withCleanError(yielded)
          if (event.kind === 'log' && event.level === 'error')
            this.#options.onThrow(this.name, context.run, event.message)
          return event
        },
        ended: () => {
          if (used !== undefined) this.#left(used)
        },
      },
    )
  }

  /** Ends all versions, with the runs that they still have. */
  async close(): Promise<void> {
    this.#loads += 1
    const versions = new Set([...this.#runs.keys(), ...(this.#version === undefined ? [] : [this.#version])])
    await Promise.all([this.#opening?.close?.(), ...[...versions].map(({ agent }) => agent.close?.())])
  }

  /** Its folder is gone: what it holds ends with its last run. */
  retire(): void {
    this.#loads += 1
    const last = this.#version
    this.#version = undefined
    this.#take(undefined, last)
  }

  /** Begins to load the newest edit, when there is one. */
  refresh(): void {
    void this.#newest()
  }

  /** The newest version takes the place of the one before, which ends when its last run has. */
  #take(newest: Version | undefined, retired: Version | undefined): void {
    if (newest !== undefined) this.#version = newest
    if (retired !== undefined && (this.#runs.get(retired) ?? 0) === 0) void retired.agent.close?.()
  }

  #left(version: Version): void {
    const left = (this.#runs.get(version) ?? 1) - 1
    if (left > 0) this.#runs.set(version, left)
    else {
      this.#runs.delete(version)
      if (version !== this.#version) void version.agent.close?.()
    }
  }

  async #runnable(): Promise<Version> {
    const { patience } = this.#options
    // The reason may be gone, whatever it was: a folder that could not be read, a package that was being installed.
    if (this.#mayTryAgain(this.#isFault ? 0 : retryAfter)) this.#stamp = undefined
    const loading = this.#newest()
    this.#isHurried = true
    this.#opening?.hurry?.()
    const longest = this.#version === undefined ? patience * 10 : patience
    const loaded = await settlesIn(loading, longest, Number.POSITIVE_INFINITY, this.#progress)
    if (this.#version !== undefined) return this.#version
    throw new MillraceError('agent-error', loaded ? (this.#error ?? '') : this.#stillLoading())
  }

  #mayTryAgain(after: number): boolean {
    return this.#error !== undefined && performance.now() - this.#loadedAt >= after
  }

  /** Whether the newest edit has been loaded, well or not, as far as a listing can wait for it. */
  async #listable(): Promise<boolean> {
    const { patience } = this.#options
    if (this.#isFault && this.#mayTryAgain(retryAfter)) this.#stamp = undefined
    const loading = this.#newest()
    const settled = await (this.#waited
      ? settlesIn(loading, 0)
      : settlesIn(loading, patience, patience * 30, this.#progress))
    if (!settled) this.#waited = true
    return settled
  }

  readonly #progress = (): Progress | undefined => this.#opening?.progress?.()

  #stillLoading(): string {
    return `${shown(this.file)} is still loading. If that does not end, look for a top-level await that never does.`
  }

  /** The load of the newest edit, begun when the files differ from those of the last load. Never rejects. */
  #newest(): Promise<void> {
    if (this.#loading !== undefined && this.#stamp !== undefined && this.#looked.has(this.#stamp)) return this.#loading
    if (this.#loading === undefined || stampOf(this.#files) !== this.#stamp) {
      const isRetry = this.#stamp === undefined
      this.#waited = false
      this.#isHurried = false
      this.#loadedAt = Number.POSITIVE_INFINITY
      this.#isFault = false
      this.#stamp = stampOf(this.#files)
      this.#loads += 1
      this.#loading = this.#load(this.#loads, isRetry)
    }
    this.#looked.add(this.#stamp)
    return this.#loading
  }

  async #load(number: number, isRetry: boolean): Promise<void> {
    const folder = dirname(this.file)
    const { files, missing, stamps } = await sourcesOf(this.file)
    if (number !== this.#loads) return
    const { envFiles } = this.#options
    this.#files = [...files, ...missing, join(folder, '.env'), join(dirname(folder), '.env'), ...envFiles]
    // As they were before they were read: an edit since then, which may import other files, is loaded by the next request.
    this.#stamp = stampOf(this.#files, stamps)
    const opened = await this.#open(number > 1)
    const isNewest = number === this.#loads
    if (!('error' in opened)) this.#take(isNewest ? opened : undefined, isNewest ? this.#version : opened)
    if (!isNewest) return
    const before = this.#error
    this.#loadedAt = performance.now()
    this.#error = 'error' in opened ? opened.error : undefined
    this.#isFault = 'error' in opened && opened.isFault
    const { description = brokenDescription(this.name, this.#error ?? '') } = this.#version ?? {}
    const editError = this.#version === undefined ? undefined : this.#error
    // What failed again for the same reason is not reported again.
    if (!isRetry || this.#error === undefined || this.#error !== before)
      this.#options.onLoad({ ...description, ...defined({ editError }) }, number > 1)
  }

  async #open(again: boolean): Promise<Version | Unopened> {
    let agent: OpenedAgent | undefined
    try {
      agent = await this.#options.open(this.name, this.file, again)
      this.#opening = agent
      if (this.#isHurried) agent.hurry?.()
      const description = await agent.describe()
      const { error } = description
      if (error === undefined) return { agent, description }
      await agent.close?.()
      return { error: withFile(this.file, error), isFault: isSystemFault(error) }
    } catch (error) {
      await agent?.close?.()
      const isFault =
        (error instanceof MillraceError && error.code === 'unavailable') || isSystemFault(messageOf(error))
      return { error: withFile(this.file, messageOf(error)), isFault }
    } finally {
      if (this.#opening === agent) this.#opening = undefined
    }
  }
}

/** Whether the machine, and not the file, is the reason. */
const isSystemFault = (message: string): boolean =>
  /\b(EMFILE|ENFILE|ENOMEM|EAGAIN|EBUSY|EIO)\b|too many open files/i.test(message)

/** `weather/agent.ts`: the file, without the folder of all agents. */
const shown = (file: string): string => relative(dirname(dirname(file)), file)

/** Every error names the file. */
const withFile = (file: string, error: string): string =>
  error.includes(basename(dirname(file)) + sep) ? error : `${shown(file)}: ${error}`
