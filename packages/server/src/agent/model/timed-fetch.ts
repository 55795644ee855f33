/** Seconds. A large model on a slow machine may need minutes before its first word. */
const defaultTimeout = 240
/** Seconds after which Node's own `fetch` gives up. */
const nodeTimeout = 300

/**
 * The error of a model that sent nothing for too long. Its message must not look like a timeout: the SDKs would replace
 * such an error by one of their own, without a cause.
 */
class SilenceError extends Error {
  override readonly name = 'SilenceError'
  constructor(seconds: number) {
    super(`the model sent nothing for ${seconds} s`)
  }
}

/** The message for an error that a silence caused, with the setting to change; undefined for any other error. */
export function silenceIn(error: unknown): string | undefined {
  if (error instanceof SilenceError) {
    return `${error.message}; set MILLRACE_MODEL_TIMEOUT (seconds, 0 for no limit) if it needs longer`
  }
  return error instanceof Error && error.cause !== undefined ? silenceIn(error.cause) : undefined
}

/** `fetch` that fails when the server sends no bytes for `seconds`: neither headers nor the next chunk of the body. */
export function timedFetch(fetch: typeof globalThis.fetch, seconds = defaultTimeout): typeof globalThis.fetch {
  return async (input, init) => {
    const stop = new AbortController()
    const given = init?.signal ?? undefined
    const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal])
    const inTime = watch(seconds, stop)
    const response = await inTime(
      fetch(input, { ...init, signal, ...(seconds > 0 && seconds < nodeTimeout ? {} : patient()) } as RequestInit),
    )
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(timed(response.body, inTime), { status, statusText, headers })
  }
}

type InTime = <T>(work: Promise<T>) => Promise<T>

/** In how many parts a limit is counted. */
const ticks = 8

/**
 * Only the time of waiting counts, not the time that the reader takes between two chunks. A pause of this process, or of
 * the whole machine, counts as one tick at most: what came meanwhile is not read yet.
 */
function watch(seconds: number, stop: AbortController): InTime {
  return async (work) => {
    if (seconds === 0) return work
    let clock: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      let left = ticks
      clock = setInterval(
        () => {
          left -= 1
          if (left > 0) return
          const error = new SilenceError(seconds)
          reject(error)
          stop.abort(error)
        },
        (seconds * 1000) / ticks,
      )
    })
    // The loser of the race must not become an unhandled rejection.
    work.catch(() => undefined)
    return Promise.race([work, silence]).finally(() => clearInterval(clock))
  }
}

function timed(body: ReadableStream<Uint8Array>, inTime: InTime): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await inTime(reader.read())
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

let dispatcher: object | undefined

/**
 * Node's limits can only be changed by a dispatcher, and Node exports that class by its default instance alone. Another
 * global dispatcher (a proxy) is left as it is, with its own limits.
 */
function patient(): { readonly dispatcher?: object } {
  const own: unknown = Reflect.get(globalThis, Symbol.for('undici.globalDispatcher.1'))
  if (dispatcher === undefined && typeof own === 'object' && own !== null && own.constructor.name === 'Agent') {
    const Dispatcher = own.constructor as new (options: object) => object
    dispatcher = new Dispatcher({ headersTimeout: 0, bodyTimeout: 0 })
  }
  return dispatcher === undefined ? {} : { dispatcher }
}
