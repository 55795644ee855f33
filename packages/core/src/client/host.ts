import type { Signal } from '../log/event-log.ts'

/** What the client uses instead of globals: `webHost(globalThis)` in browsers, Node, Deno and Bun. */
export interface Host {
  fetch(url: string, init: FetchInit): Promise<FetchAnswer>
  /** Milliseconds. */
  now(): number
  /** Calls back once after `ms`; the result cancels it. */
  after(ms: number, callback: () => void): () => void
  /** 0 to 1, for jitter. */
  random(): number
  /** A fresh streaming UTF-8 decoder. */
  textDecoder(): { decode(chunk?: Uint8Array, options?: { stream?: boolean }): string }
  abortController(): { readonly signal: Signal; abort(): void }
}

export interface FetchInit {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** A stream is never cached: a browser would share one answer between two readers. */
  readonly cache?: 'no-store'
  readonly signal: Signal
}

/**
 * Headers of every request, or a function that returns them, for tokens that end. It is called before each request, with
 * `refused: true` after an answer 401: then it should get a new token, and the request is sent once more.
 */
export type RequestHeaders =
  | Readonly<Record<string, string>>
  | ((why: { readonly refused: boolean }) => SentHeaders | Promise<SentHeaders>)

type SentHeaders = Readonly<Record<string, string>>

/** The headers for one request. A function that never answers is given up with the request itself. */
export function headersFor(
  headers: RequestHeaders | undefined,
  refused: boolean,
  signal: Signal,
): Promise<SentHeaders> {
  if (typeof headers !== 'function') return Promise.resolve(headers ?? {})
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error('aborted'))
    signal.addEventListener('abort', stop)
    Promise.resolve()
      .then(() => headers({ refused }))
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', stop))
  })
}

export interface FetchAnswer {
  readonly status: number
  readonly url?: string
  readonly headers: { get(name: string): string | null }
  readonly body: ByteStream | null
  text(): Promise<string>
}

interface ByteStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
    cancel(): Promise<unknown>
  }
}

/** The web globals a host is made of; `globalThis` of every current runtime fits. */
export interface WebGlobals {
  fetch(url: string, init: object): Promise<unknown>
  setTimeout(callback: () => void, ms: number): unknown
  clearTimeout(timer: never): void
  readonly Date: { now(): number }
  readonly Math: { random(): number }
  readonly TextDecoder: new () => ReturnType<Host['textDecoder']>
  readonly AbortController: new () => ReturnType<Host['abortController']>
}

/** A timer with a longer delay, `Infinity` included, would fire at once. */
const longestTimer = 2 ** 31 - 1

export function webHost(globals: WebGlobals): Host {
  return {
    fetch: (url, init) => globals.fetch(url, init) as Promise<FetchAnswer>,
    now: () => globals.Date.now(),
    after(ms, callback) {
      const timer = globals.setTimeout(callback, Math.min(ms, longestTimer))
      return () => globals.clearTimeout(timer as never)
    },
    random: () => globals.Math.random(),
    textDecoder: () => new globals.TextDecoder(),
    abortController: () => new globals.AbortController(),
  }
}
