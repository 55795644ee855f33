import type { DialectName } from '@millrace/core'
import { type InputOptions, refusal, request } from '../input.ts'
import { lintStream } from '../lint-stream.ts'
import type { Probe } from './report.ts'

export interface ProbeOptions extends InputOptions {
  readonly signal: AbortSignal
  readonly dialect: DialectName
}

/** Tries what clients of a server do wrong or do suddenly, and says how the server took it. */
export async function probeServer(url: string, options: ProbeOptions): Promise<readonly Probe[]> {
  const posts = options.body !== undefined
  const probes: readonly (readonly [Probe['name'], () => Promise<Probe>])[] = [
    ...(posts
      ? ([
          ['bad body', () => refused(url, options, 'bad body', '{"half a')],
          ['missing fields', () => refused(url, options, 'missing fields', '{}')],
        ] as const)
      : []),
    ['reader leaves', () => readerLeaves(url, options)],
    ['two at once', () => twoAtOnce(url, options)],
  ]
  const found: Probe[] = []
  for (const [name, probe] of probes) found.push(await probe().catch((error: unknown) => broken(name, error, options)))
  return found
}

/** A server that fails during a probe is a finding, so that the earlier probes are still reported. */
function broken(name: Probe['name'], error: unknown, { signal }: ProbeOptions): Probe {
  if (signal.aborted) throw error
  return { name, ok: false, message: `the server did not answer completely: ${messageOf(error)}` }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A body that is wrong must be refused as the client's fault, and never started. */
async function refused(url: string, options: ProbeOptions, name: Probe['name'], body: string): Promise<Probe> {
  const answer = await request(url, { ...options, body })
  if (answer.status >= 400 && answer.status < 500)
    return { name, ok: true, message: `refused with ${await refusal(answer)}` }
  void answer.body?.cancel()
  const message = `the body ${body} was answered with ${answer.status}; a server should refuse it with a status from 400 to 499`
  return { name, ok: false, message }
}

/** After a reader has left in the middle, the server must still answer. */
async function readerLeaves(url: string, options: ProbeOptions): Promise<Probe> {
  const name = 'reader leaves'
  const leave = new AbortController()
  const first = await request(url, { ...options, signal: AbortSignal.any([leave.signal, options.signal]) })
  const reader = first.body?.getReader()
  await reader?.read().catch(() => undefined)
  leave.abort()
  const again = await request(url, options)
  if (again.status >= 500)
    return { name, ok: false, message: `after a reader had left, the server answered ${await refusal(again)}` }
  const status = again.status
  await again.body?.cancel()
  return { name, ok: true, message: `the next request was answered with ${status}` }
}

/** Two requests at once: each is a stream without errors, or refused. */
async function twoAtOnce(url: string, options: ProbeOptions): Promise<Probe> {
  const name = 'two at once'
  const answers = await Promise.all([request(url, options), request(url, options)])
  const taken: string[] = []
  for (const answer of answers) {
    if (answer.status >= 500)
      return { name, ok: false, message: `one of two was answered with ${await refusal(answer)}` }
    if (!answer.ok || answer.body === null) {
      taken.push(await refusal(answer))
      continue
    }
    const { errors, findings } = await lintStream(answer.body, options.dialect)
    const [first] = findings.filter(({ severity }) => severity === 'error')
    if (errors > 0) return { name, ok: false, message: `one of two streams is broken: ${first?.message ?? ''}` }
    taken.push('a stream')
  }
  return { name, ok: true, message: taken.join(' and ') }
}
