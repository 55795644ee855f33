import { parseArgs } from 'node:util'

/** Where and how to serve. Flags win over env. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly agents: string | undefined
  /** Host names to answer to besides loopback. */
  readonly hostNames: readonly string[]
  readonly origins: readonly string[]
  /** token → user. */
  readonly tokens: ReadonlyMap<string, string> | undefined
  readonly insecure: boolean
  /** The path prefix of a proxy that strips nothing; empty: none. */
  readonly basePath: string
  /** How long runs may go on after a signal to stop, in ms. */
  readonly grace: number
  /** Deltas of runs that ended longer ago than this are dropped, in ms; undefined: all are kept. */
  readonly retain: number | undefined
  readonly logLevel: string
}

export const serveHelp = `millrace serve — run agents, record them, serve the log

  --port N            port to listen on (PORT, 8000)
  --host ADDRESS      address to listen on (HOST, 127.0.0.1)
  --data-dir DIR      where the database lives (DATA_DIR, .millrace)
  --agents DIR        folder of agents: DIR/<name>/agent.ts (MILLRACE_AGENTS; the examples)
  --host-name NAME    another Host to answer to; repeat
  --origin ORIGIN     a page elsewhere that may call (CORS); repeat
  --token USER=TOKEN  a bearer token and whose it is; repeat (MILLRACE_TOKENS, comma separated)
  --base-path PATH    the path prefix of a proxy that does not strip it (BASE_PATH)
  --grace SECONDS     how long runs may go on after Ctrl-C or SIGTERM (GRACE, 5)
  --retain-days DAYS  drop the deltas of messages of runs that ended longer ago; the messages stay (RETAIN_DAYS, never)
  --insecure          listen beyond loopback without tokens
  --log-level LEVEL   fatal, error, warn, info, debug, trace, silent (LOG_LEVEL, warn)

Models: GOOGLE_API_KEY for Gemini; OPENAI_API_KEY and OPENAI_BASE_URL for any OpenAI-compatible endpoint; neither: the offline model.
MILLRACE_MODEL names it: gemini-2.5-pro, openai:llama3.2, offline. MILLRACE_OFFLINE_TOKENS_PER_SECOND is the offline model's pace (0: none).
Traces: OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) sends spans of every run there, without contents.`

const options = {
  port: { type: 'string' },
  host: { type: 'string' },
  'data-dir': { type: 'string' },
  agents: { type: 'string' },
  'host-name': { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  token: { type: 'string', multiple: true },
  'base-path': { type: 'string' },
  grace: { type: 'string' },
  'retain-days': { type: 'string' },
  insecure: { type: 'boolean' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const loopback = new Set(['127.0.0.1', 'localhost', '::1'])

/** To listen on; as a `Host` they would let any page in (see the server's access). */
const everyAddress = new Set(['0.0.0.0', '[::]'])

/** Settings, or a sentence that says what is wrong with them. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | { readonly say: string; readonly code: number } {
  let values: ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    return { say: `${(error as Error).message}\n\n${serveHelp}`, code: 2 }
  }
  if (values.help === true) return { say: serveHelp, code: 0 }
  // A variable that is set to nothing (`PORT=`, as compose files write it) says nothing.
  const given = (flag: string | undefined, name: string): string | undefined => flag ?? (env[name] || undefined)
  const portText = given(values.port, 'PORT') ?? '8000'
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN
  if (!(port <= 65_535)) return bad(`the port must be 0 to 65535, not ${said(portText)}`)
  const tokens = readTokens([...(values.token ?? []), ...(env.MILLRACE_TOKENS ?? '').split(',')])
  if (typeof tokens === 'string') return bad(tokens)
  const host = given(values.host, 'HOST') ?? '127.0.0.1'
  const insecure = values.insecure === true
  if (!loopback.has(host) && tokens === undefined && !insecure) {
    return bad(`listening on ${host} lets others in: give each user a token (--token USER=TOKEN), or say --insecure`)
  }
  const basePath = (given(values['base-path'], 'BASE_PATH') ?? '').replace(/\/+$/, '')
  if (basePath !== '' && !/^(\/[\w.~-]+)+$/.test(basePath))
    return bad(`a base path looks like /millrace, not ${said(basePath)}`)
  const graceText = given(values.grace, 'GRACE') ?? '5'
  const grace = amount(graceText)
  if (grace === undefined) return bad(`the grace is a number of seconds, not ${said(graceText)}`)
  const days = given(values['retain-days'], 'RETAIN_DAYS')
  const retain = days === undefined ? undefined : amount(days)
  if (days !== undefined && retain === undefined) return bad(`the days to retain are a number, not ${said(days)}`)
  const logLevel = given(values['log-level'], 'LOG_LEVEL') ?? 'warn'
  if (!levels.includes(logLevel)) return bad(`the log level is one of ${levels.join(', ')}, not ${said(logLevel)}`)
  const dataDir = given(values['data-dir'], 'DATA_DIR') ?? '.millrace'
  if (dataDir === '') return bad('the data dir is a folder, not nothing')
  const origins = values.origin ?? []
  const notOrigin = origins.find((origin) => !isOrigin(origin))
  if (notOrigin !== undefined)
    return bad(`an origin looks like https://page.example, with no path, not ${said(notOrigin)}`)
  const named = values['host-name'] ?? []
  const notName = named.find((name) => !/^([^\s/:[\]]+|\[[^\s/[\]]+\])$/.test(name))
  if (notName !== undefined) return bad(`a host name looks like mill.example, with no port, not ${said(notName)}`)
  const notOne = named.find((name) => everyAddress.has(name))
  if (notOne !== undefined) return bad(`${notOne} is every address, not the name of one; ask for 127.0.0.1`)
  return {
    host,
    port,
    basePath,
    grace: grace * 1000,
    retain: retain === undefined ? undefined : retain * day,
    dataDir,
    agents: given(values.agents, 'MILLRACE_AGENTS'),
    hostNames: [...named, ...(loopback.has(host) || everyAddress.has(inHeader(host)) ? [] : [inHeader(host)])],
    origins,
    tokens,
    insecure,
    logLevel,
  }
}

const levels: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const said = (text: string): string => (text === '' ? 'nothing' : text)

/** As a browser writes it in `Origin`: anything else would never be found equal. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

/** An IPv6 address is in brackets in `Host`. */
const inHeader = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const day = 24 * 60 * 60 * 1000

/** Not less than nothing, and not more than a timer or a date can hold. */
function amount(text: string): number | undefined {
  return /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function bad(say: string): { readonly say: string; readonly code: number } {
  return { say: `millrace: ${say}`, code: 2 }
}

function readTokens(entries: readonly string[]): ReadonlyMap<string, string> | undefined | string {
  const tokens = new Map<string, string>()
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== '')) {
    const [, user, token] = /^([^=]+)=(\S{8,})$/.exec(entry) ?? []
    if (user === undefined || token === undefined) return 'a token is USER=TOKEN, with a token of at least 8 characters'
    if ((tokens.get(token) ?? user) !== user)
      return `${tokens.get(token)} and ${user} have the same token: each needs their own`
    tokens.set(token, user)
  }
  return tokens.size === 0 ? undefined : tokens
}

/** Where traces go; empty: nowhere. The one for traces is a whole address; the general one a base, to which the signal's path belongs. */
export function endpointOf(env: Readonly<Record<string, string | undefined>>): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces = '', OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env
  if (traces !== '') return traces
  return base === '' ? '' : `${base.replace(/\/+$/, '')}/v1/traces`
}
