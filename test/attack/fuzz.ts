import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { type FuzzRequest, fuzzRequests, type OpenApi } from './fuzz-requests.ts'

export interface FuzzOptions {
  readonly address: string
  readonly seconds: number
  readonly seed: number
  /** The process of the server, whose memory and files are counted. */
  readonly pid: number
}

export interface FuzzResult {
  readonly sent: number
  /** How often each status was answered. */
  readonly statuses: Readonly<Record<string, number>>
  /** Routes of the document that were never answered with success. */
  readonly never: readonly string[]
  /** Requests that were answered with 5xx or whose connection broke, with the answer. */
  readonly faults: readonly { readonly request: FuzzRequest; readonly answer: string }[]
  /** MB and open files, when a third of the time was over, and at the end. */
  readonly memory: readonly [number, number]
  readonly files: readonly [number, number]
}

/** How many requests are under way at once, and how long a stream is read, in ms. */
const parallel = 6
const patience = 400

/** Sends random requests, made from the server's own OpenAPI document, to every door of a server. */
export async function fuzz({ address, seconds, seed, pid }: FuzzOptions): Promise<FuzzResult> {
  const document = (await (await fetch(`${address}/openapi.json`)).json()) as OpenApi
  const statuses: Record<string, number> = {}
  const good = new Set<string>()
  const faults: { request: FuzzRequest; answer: string }[] = []
  const stop = performance.now() + seconds * 1000
  let sent = 0
  const worker = async (requests: Iterator<FuzzRequest>): Promise<void> => {
    while (performance.now() < stop) {
      const { value: request, done } = requests.next()
      if (done === true) return
      sent += 1
      const { status, answer } = await send(address, request)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status >= 200 && status < 300) good.add(`${request.method} ${request.route}`)
      // 501 and 503 are answers of a server that is well; 502 and 504 come from a model or a remote agent.
      if (status === 0 || status === 500) faults.push({ request, answer: answer.slice(0, 2000) })
    }
  }
  const begun = Array.from({ length: parallel }, (_, i) => worker(samples(document, seed + i)))
  await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 3))
  const early = measured(pid)
  await Promise.all(begun)
  const late = measured(pid)
  const all = Object.entries(document.paths).flatMap(([route, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${route}`),
  )
  return {
    sent,
    statuses,
    never: all.filter((route) => !good.has(route)),
    faults,
    memory: [early.memory, late.memory],
    files: [early.files, late.files],
  }
}

function* samples(document: OpenApi, seed: number): Generator<FuzzRequest> {
  const requests = fuzzRequests(document)
  for (let part = 0; ; part += 1) yield* fc.sample(requests, { numRuns: 200, seed: seed + 1000 * part })
}

async function send(
  address: string,
  { method, path, type, body }: FuzzRequest,
): Promise<{ status: number; answer: string }> {
  const late = AbortSignal.timeout(patience)
  try {
    const answer = await fetch(address + path, {
      method,
      signal: AbortSignal.any([late]),
      ...(type === undefined ? {} : { headers: { 'content-type': type }, body: body ?? '' }),
    })
    const { status } = answer
    try {
      return { status, answer: await answer.text() }
    } catch {
      return { status, answer: '(a stream that goes on)' }
    }
  } catch (error) {
    // A stream that waits for its first event, or a run that takes longer than this.
    return late.aborted ? { status: 1, answer: 'late' } : { status: 0, answer: String((error as Error).cause ?? error) }
  }
}

function measured(pid: number): { readonly memory: number; readonly files: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const memory = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  return { memory: Math.round(memory), files: readdirSync(`/proc/${pid}/fd`).length }
}
