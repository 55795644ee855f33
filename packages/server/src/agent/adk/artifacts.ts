import type {
  BaseArtifactService,
  ListVersionsRequest,
  LoadArtifactRequest,
  SaveArtifactRequest,
  SessionSaveArtifactRequest,
} from '@google/adk'
import { type AdkPart, type ArtifactSaved, defined, type NodeId, type Recorded } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { sizeText } from '../tool-result.ts'

type Part = SaveArtifactRequest['artifact']
type Version = NonNullable<Awaited<ReturnType<BaseArtifactService['getArtifactVersion']>>>

/**
 * ADK's artifacts, stored in the log. Saving emits an event with the content; loading reads what the log had when the run
 * began and what the run has saved since. Versions count from 0, as in ADK. A name that begins with `user:` is the same
 * artifact in every session of the user; those are read when an agent first uses artifacts.
 */
export class LogArtifacts implements BaseArtifactService {
  readonly #versions = new Map<string, (ArtifactSaved & { readonly part: AdkPart })[]>()
  /** The next version number by name. A number is never reused, not even after a deletion. */
  readonly #next = new Map<string, number>()
  readonly #emit: (event: ArtifactSaved) => void
  readonly #limit: number
  readonly #shared: RunContext['shared']
  /** Saved by tools that a crash cut short: they run again, and what they save again is not a new version. */
  readonly #cut: ArtifactSaved[]
  #reading: Promise<void> | undefined
  constructor(
    { history, shared, resumed, run }: Pick<RunContext, 'history' | 'shared' | 'resumed' | 'run'>,
    limit: number,
    emit: (event: ArtifactSaved) => void,
  ) {
    this.#limit = limit
    this.#emit = emit
    this.#shared = shared
    for (const { event } of history) {
      if (event.kind === 'artifact' && (shared === undefined || !isOfUser(event.name))) this.#take(event)
    }
    this.#cut = resumed ? cutSaves(history.filter((row) => row.run === run)) : []
  }

  async saveArtifact(request: SaveArtifactRequest): Promise<number> {
    return this.save(request)
  }

  /** `node` is the node that saves it. ADK does not pass it to its service, so each agent's context has its own service. */
  async save({ filename, artifact, customMetadata }: SessionSaveArtifactRequest, node?: NodeId): Promise<number> {
    if (isOfUser(filename)) await this.#ready()
    const version = this.#next.get(filename) ?? 0
    const json = JSON.stringify(artifact)
    if (json.length > this.#limit) {
      throw new Error(
        `the artifact ${filename} is ${sizeText(json.length)}; the limit is ${sizeText(this.#limit)}: save less of it`,
      )
    }
    const saved = this.#cut.findIndex(({ name, part }) => name === filename && JSON.stringify(part) === json)
    if (saved >= 0) return this.#cut.splice(saved, 1)[0]?.version ?? version
    const part: AdkPart = JSON.parse(json)
    const type = typeof customMetadata?.type === 'string' ? customMetadata.type : typeOf(part)
    const event: ArtifactSaved = {
      kind: 'artifact',
      id: filename,
      name: filename,
      type,
      version,
      part,
      ...defined({ node }),
    }
    this.#take(event)
    this.#emit(event)
    return version
  }

  async loadArtifact({ filename, version }: LoadArtifactRequest): Promise<Part | undefined> {
    if (isOfUser(filename)) await this.#ready()
    const versions = this.#versions.get(filename) ?? []
    const found = version === undefined ? versions.at(-1) : versions.find((saved) => saved.version === version)
    return found === undefined ? undefined : (structuredClone(found.part) as Part)
  }

  async listArtifactKeys(): Promise<string[]> {
    await this.#ready()
    return [...this.#versions.keys()].sort()
  }

  async deleteArtifact({ filename }: { filename: string }): Promise<void> {
    if (isOfUser(filename)) await this.#ready()
    const last = this.#versions.get(filename)?.at(-1)
    if (last === undefined) return
    const { part: _, ...gone } = last
    const event: ArtifactSaved = { ...gone, deleted: true }
    this.#take(event)
    this.#emit(event)
  }

  async listVersions({ filename }: ListVersionsRequest): Promise<number[]> {
    if (isOfUser(filename)) await this.#ready()
    return (this.#versions.get(filename) ?? []).map(({ version }) => version)
  }

  async listArtifactVersions({ filename }: ListVersionsRequest): Promise<Version[]> {
    if (isOfUser(filename)) await this.#ready()
    return (this.#versions.get(filename) ?? []).map(describe)
  }

  async getArtifactVersion({ filename, version }: LoadArtifactRequest): Promise<Version | undefined> {
    if (isOfUser(filename)) await this.#ready()
    const versions = this.#versions.get(filename) ?? []
    const found = version === undefined ? versions.at(-1) : versions.find((saved) => saved.version === version)
    return found === undefined ? undefined : describe(found)
  }

  #ready(): Promise<void> {
    this.#reading ??= (async () => {
      for (const event of (await this.#shared?.artifacts()) ?? []) this.#take(event)
    })()
    return this.#reading
  }

  #take(event: ArtifactSaved): void {
    this.#next.set(event.name, Math.max(this.#next.get(event.name) ?? 0, event.version + 1))
    if (event.deleted === true) this.#versions.delete(event.name)
    else if (event.part !== undefined) {
      const saved = { ...event, part: event.part }
      this.#versions.set(event.name, [...(this.#versions.get(event.name) ?? []), saved])
    }
  }
}

/** What nodes saved after the last thing that they said: the tool that saved it has not answered. */
function cutSaves(rows: readonly Recorded[]): ArtifactSaved[] {
  const saves = new Map<NodeId | undefined, ArtifactSaved[]>()
  for (const { event } of rows) {
    if (event.kind === 'agent' && event.event.partial !== true) saves.delete(event.node)
    if (event.kind === 'artifact' && event.deleted !== true) {
      saves.set(event.node, [...(saves.get(event.node) ?? []), event])
    }
  }
  return [...saves.values()].flat()
}

/** ADK's prefix for artifacts that all sessions of a user have. */
function isOfUser(name: string): boolean {
  return name.startsWith('user:')
}

function describe({ version, part }: { readonly version: number; readonly part: AdkPart }): Version {
  const mimeType = part.inlineData?.mimeType ?? (part.text === undefined ? undefined : 'text/plain')
  return { version, ...defined({ mimeType }) }
}

/** The artifact types of the plan surface. A tool that knows better passes `customMetadata.type`. */
function typeOf(part: AdkPart): string {
  const mimeType = part.inlineData?.mimeType ?? 'text/plain'
  return /^text\/|json|markdown|pdf|msword|officedocument/.test(mimeType) ? 'document' : 'other'
}
