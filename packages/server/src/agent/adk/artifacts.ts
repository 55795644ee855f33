import type {
  BaseArtifactService,
  ListVersionsRequest,
  LoadArtifactRequest,
  SaveArtifactRequest,
  SessionSaveArtifactRequest,
} from '@google/adk'
import type { AdkPart, ArtifactSaved, NodeId, Recorded } from '@millrace/core'
import { size } from '../tool-result.ts'

type Part = SaveArtifactRequest['artifact']
type Version = NonNullable<Awaited<ReturnType<BaseArtifactService['getArtifactVersion']>>>

/**
 * ADK's artifacts, kept in the log: saving is an event with the content in it, loading reads what the log had when the
 * run began and what the run has saved since. Versions count from 0, as in ADK.
 */
export class LogArtifacts implements BaseArtifactService {
  readonly #versions = new Map<string, (ArtifactSaved & { readonly part: AdkPart })[]>()
  /** Numbers are never given out again, also not after a deletion. */
  readonly #next = new Map<string, number>()
  readonly #emit: (event: ArtifactSaved) => void
  readonly #limit: number
  constructor(history: readonly Recorded[], limit: number, emit: (event: ArtifactSaved) => void) {
    this.#limit = limit
    this.#emit = emit
    for (const { event } of history) if (event.kind === 'artifact') this.#take(event)
  }

  async saveArtifact(request: SaveArtifactRequest): Promise<number> {
    return this.save(request)
  }

  /** `node` is who saves it: ADK does not tell its service, so each agent's context has a service that does. */
  save({ filename, artifact, customMetadata }: SessionSaveArtifactRequest, node?: NodeId): number {
    const version = this.#next.get(filename) ?? 0
    const json = JSON.stringify(artifact)
    if (json.length > this.#limit) {
      throw new Error(`the artifact ${filename} is ${size(json.length)}; the limit is ${size(this.#limit)}`)
    }
    const part: AdkPart = JSON.parse(json)
    const type = typeof customMetadata?.type === 'string' ? customMetadata.type : typeOf(part)
    const event: ArtifactSaved = {
      kind: 'artifact',
      id: filename,
      name: filename,
      type,
      version,
      part,
      ...(node === undefined ? {} : { node }),
    }
    this.#take(event)
    this.#emit(event)
    return version
  }

  async loadArtifact({ filename, version }: LoadArtifactRequest): Promise<Part | undefined> {
    const versions = this.#versions.get(filename) ?? []
    const found = version === undefined ? versions.at(-1) : versions.find((saved) => saved.version === version)
    return found === undefined ? undefined : (structuredClone(found.part) as Part)
  }

  async listArtifactKeys(): Promise<string[]> {
    return [...this.#versions.keys()].sort()
  }

  async deleteArtifact({ filename }: { filename: string }): Promise<void> {
    const last = this.#versions.get(filename)?.at(-1)
    if (last === undefined) return
    const { part: _, ...gone } = last
    const event: ArtifactSaved = { ...gone, deleted: true }
    this.#take(event)
    this.#emit(event)
  }

  async listVersions({ filename }: ListVersionsRequest): Promise<number[]> {
    return (this.#versions.get(filename) ?? []).map(({ version }) => version)
  }

  async listArtifactVersions({ filename }: ListVersionsRequest): Promise<Version[]> {
    return (this.#versions.get(filename) ?? []).map(describe)
  }

  async getArtifactVersion({ filename, version }: LoadArtifactRequest): Promise<Version | undefined> {
    const versions = this.#versions.get(filename) ?? []
    const found = version === undefined ? versions.at(-1) : versions.find((saved) => saved.version === version)
    return found === undefined ? undefined : describe(found)
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

function describe({ version, part }: { readonly version: number; readonly part: AdkPart }): Version {
  const mimeType = part.inlineData?.mimeType ?? (part.text === undefined ? undefined : 'text/plain')
  return { version, ...(mimeType === undefined ? {} : { mimeType }) }
}

/** Seed 002's words. A producer that knows better says so in `customMetadata.type`. */
function typeOf(part: AdkPart): string {
  const mimeType = part.inlineData?.mimeType ?? 'text/plain'
  return /^text\/|json|markdown|pdf|msword|officedocument/.test(mimeType) ? 'document' : 'other'
}
