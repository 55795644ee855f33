import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type FuzzRequest, fuzzRequests, type OpenApi } from './fuzz-requests.ts'
import { validRequests } from './fuzz-valid.ts'

export interface FuzzOptions {
  readonly address: string
  /** When it ends: after so much time, or after so many random requests, which a busy machine does not change. */
  readonly until: { readonly seconds: number } | { readonly requests: number }
  readonly seed: number
  /** The process of the server, whose memory, handles and threads are counted. */
  readonly pid: number
  /** Its data folder, whose files are counted. */
  readonly folder: string
}

/** What the server holds: MB, handles, threads, and files in its data folder. */
type Held = Readonly<Record<'memory' | 'handles' | 'threads' | 'files', number>>

export interface FuzzResult {
  readonly sent: number
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>
  /** How often each door was answered with success. */
  readonly good: Readonly<Record<string, number>>
  /** Doors of the document that were never answered with success. */
  readonly never: readonly string[]
  /** Requests whose connection broke, or whose answer was a 5xx that their door does not document, with the answer. */
  readonly faults: readonly { readonly request: FuzzRequest; readonly answer: string }[]
  /** After the warm-up, which is a third of it, and at the end. */
  readonly before: Held
  readonly after: Held
  /** What has grown in between. */
  readonly grown: readonly string[]
}

/** How many requests are under way at once. */
const parallel = 6
/** How long an answer may take to begin, that to a valid request too, and how long a stream is read, in ms. */
const patience = { begin: 10_000, valid: 120_000, read: 400 }
/** What a server that is well may hold more at the end than after the warm-up: a factor, and a number. */
const slack: Readonly<Record<keyof Held, readonly [number, number]>> = {
  memory: [1.5, 100],
  handles: [1, 50],
  threads: [1, 8],
  files: [1, 8],
}

/** Sends random requests, made from the server's own OpenAPI document, to every door of a server. */
export async function fuzz({ address, until, seed, pid, folder }: FuzzOptions): Promise<FuzzResult> {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as OpenApi
  const statuses: Record<string, number> = {}
  const good: Record<string, number> = {}
  const faults: { request: FuzzRequest; answer: string }[] = []
  let sent = 0
  const sendOne = async (request: FuzzRequest, begin: number): Promise<void> => {
    sent += 1
    const { status, answer } = await send(address, request, begin)
    statuses[status] = (statuses[status] ?? 0) + 1
    const door = `${request.method} ${request.route}`
    if (status >= 200 && status < 300) good[door] = (good[door] ?? 0) + 1
    if (status === 0 || (status >= 500 && !isDocumented(document, request, status)))
      faults.push({ request, answer: `${status} ${answer.slice(0, 2000)}` })
  }
  for (const request of validRequests()) {
    const echo = request.echoes && (await (await fetch(address + request.path)).text())
    await sendOne(echo === undefined ? request : { ...request, body: echo }, patience.valid)
  }
  const [begun, first] = [performance.now(), sent]
  /** How much of the work is done: 1 is all of it. */
  const share = (): number =>
    'seconds' in until ? (performance.now() - begun) / (until.seconds * 1000) : (sent - first) / until.requests
  const held = (): Held => measured(pid, folder)
  let before: Held | undefined
  const worker = async (requests: Iterator<FuzzRequest>): Promise<void> => {
    while (share() < 1) {
      if (share() > 1 / 3) before ??= held()
      const { value: request, done } = requests.next()
      if (done === true) return
      await sendOne(request, patience.begin)
    }
  }
  await Promise.all(Array.from({ length: parallel }, (_, i) => worker(samples(document, seed + i))))
  const after = held()
  const warm = before ?? after
  const grown = (Object.keys(slack) as (keyof Held)[]).filter((what) => {
    const [factor, more] = slack[what]
    return after[what] > warm[what] * factor + more
  })
  const never = doorsOf(document).filter((door) => good[door] === undefined)
  return { sent, statuses, good, never, faults, before: warm, after, grown }
}

/** The doors that can be answered with success. */
function doorsOf(document: OpenApi): readonly string[] {
  return Object.entries(document.paths).flatMap(([route, operations]) =>
    Object.entries(operations)
      .filter(([, { responses = {} }]) => Object.keys(responses).some((status) => status.startsWith('2')))
      .map(([method]) => `${method.toUpperCase()} ${route}`),
  )
}

/** A server that is well may be short of something (503, 507), or have no such function (501), where it says so. */
function isDocumented(document: OpenApi, { method, route }: FuzzRequest, status: number): boolean {
  const { responses = {} } = document.paths[route]?.[method.toLowerCase()] ?? {}
  return (status === 501 || status === 503 || status === 507) && Object.hasOwn(responses, String(status))
}

function* samples(document: OpenApi, seed: number): Generator<FuzzRequest> {
  const requests = fuzzRequests(document)
  for (let part = 0; ; part += 1) yield* fc.sample(requests, { numRuns: 200, seed: seed + 1000 * part })
}

async function send(
  address: string,
  { method, path, type, body }: FuzzRequest,
  begin: number,
): Promise<{ status: number; answer: string }> {
  const late = AbortSignal.timeout(begin)
  const left = new AbortController()
  try {
    const answer = await fetch(address + path, {
      method,
      signal: AbortSignal.any([late, left.signal]),
      ...(type === undefined ? {} : { headers: { 'content-type': type }, body: body ?? '' }),
    })
    const { status } = answer
    const timer = setTimeout(() => left.abort(), patience.read)
    try {
      return { status, answer: await answer.text() }
    } catch {
      return { status, answer: '(a stream that goes on)' }
    } finally {
      clearTimeout(timer)
    }
  } catch (error) {
    // A run that takes longer than this.
    return late.aborted ? { status: 1, answer: 'late' } : { status: 0, answer: String((error as Error).cause ?? error) }
  }
}

function measured(pid: number, folder: string): Held {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    memory: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
    handles: readdirSync(`/proc/${pid}/fd`).length,
    threads: readdirSync(`/proc/${pid}/task`).length,
    files: readdirSync(folder, { recursive: true }).length,
  }
}
