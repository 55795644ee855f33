import { createReadStream, statSync } from 'node:fs'
import { CommandError } from './command-error.ts'

export interface InputOptions {
  readonly signal?: AbortSignal
  /** What a request to a URL sends besides `accept`. */
  readonly headers?: Readonly<Record<string, string>>
  /** A URL is asked with POST when there is a body. */
  readonly body?: string
}

/** How long a server may take for the head of its answer, in ms. */
const headTimeout = 30_000

/** How an input is named in a sentence. */
export const inputName = (source: string | undefined): string =>
  source === undefined || source === '-' ? 'standard input' : source

export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/**
 * The bytes of a file, of standard input (`-` or nothing) or of a URL, in chunks: nothing is read before it is asked
 * for, so that memory stays bounded. What cannot be opened is a CommandError.
 */
export async function openInput(
  source: string | undefined,
  options: InputOptions = {},
): Promise<AsyncIterable<Uint8Array>> {
  if (source === undefined || source === '-') return standardInput(options.signal)
  return isUrl(source) ? openUrl(source, options) : openFile(source)
}

function standardInput(signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
  if (process.stdin.isTTY) throw new CommandError('there is no input: name a file or a URL, or pipe a stream in', 2)
  // A read that waits ends with the stream, and an open stream would keep the process alive.
  signal?.addEventListener('abort', () => process.stdin.destroy(), { once: true })
  return process.stdin
}

function openFile(path: string): AsyncIterable<Uint8Array> {
  try {
    if (statSync(path).isDirectory()) throw new CommandError(`${path} is a folder; name a file`)
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(whyUnreadable(path, error))
  }
  return readable(path)
}

async function* readable(path: string): AsyncGenerator<Uint8Array, void> {
  let isFirst = true
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      const bytes = chunk as Uint8Array
      if (isFirst && bytes[0] === 0x1f && bytes[1] === 0x8b)
        throw new CommandError(`${path} is compressed with gzip; unpack it first with gunzip`)
      isFirst = false
      yield bytes
    }
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError(whyUnreadable(path, error))
  }
}

export function whyUnreadable(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return `there is no file ${path}`
  if (code === 'EACCES') return `this user may not read ${path}`
  if (code === 'EISDIR') return `${path} is a folder; name a file`
  return `cannot read ${path}: ${message}`
}

async function openUrl(url: string, options: InputOptions): Promise<AsyncIterable<Uint8Array>> {
  const answer = await request(url, options)
  if (!answer.ok) throw new CommandError(`${url} answered ${await refusal(answer)}`)
  return answer.body === null ? nothing() : streamed(url, answer.body)
}

/** The answer of a server to a request for a stream, whatever its status. A server that does not answer is a CommandError. */
export async function request(url: string, { signal, headers, body }: InputOptions): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), headTimeout)
  const ends = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal])
  try {
    return await fetch(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'text/event-stream, application/json;q=0.9, */*;q=0.1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: ends,
      ...(body === undefined ? {} : { body }),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    if (late.signal.aborted) throw new CommandError(`${url} did not answer within ${headTimeout / 1000} seconds`)
    throw new CommandError(`${url} cannot be reached (${whyUnreachable(error)}); check the address`)
  } finally {
    clearTimeout(timer)
  }
}

export function whyUnreachable(error: unknown): string {
  const { cause, message } = error as {
    readonly cause?: { readonly code?: string; readonly message?: string }
    readonly message: string
  }
  return cause?.code ?? cause?.message ?? message
}

/** `404 (there is no session x)`: the status, and what a problem document or a short text says of it. */
export async function refusal(answer: Response): Promise<string> {
  const said = await statedReason(answer)
  return said === undefined ? String(answer.status) : `${answer.status} (${said})`
}

/** The reason that a server gives in an answer that is not a success. */
export async function statedReason(answer: Response): Promise<string | undefined> {
  const text = (await answer.text().catch(() => '')).slice(0, 2000)
  try {
    const { detail, title, message, error } = JSON.parse(text) as Readonly<Record<string, unknown>>
    return [detail, message, error, title].find((value) => typeof value === 'string')
  } catch {
    return undefined
  }
}

async function* streamed(url: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error
    throw new CommandError(`the stream of ${url} broke off (${whyUnreachable(error)})`)
  }
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}
