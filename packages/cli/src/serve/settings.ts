import { parseArgs } from 'node:util'
import type { SomeShares } from '@millrace/server'
import { type PostgresSettings, type StoreLocation, storeAt } from '../open-store.ts'
import { type IdentitySettings, identityHelp, identityOptions, readIdentity } from './identity-settings.ts'
import { queueShares, readShares, shareHelp } from './share-settings.ts'
import { readTokens } from './token-settings.ts'

/** Where and how to serve. A flag wins over its variable. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly store: StoreLocation
  readonly postgres: PostgresSettings
  /** In ms. */
  readonly lease: number
  /** Undefined: `./agents`, or the examples. */
  readonly agents: string | undefined
  /** Whether each agent of the folder runs in a process of its own. The example agents run in the server's. */
  readonly isolate: boolean
  readonly agentLimits: AgentLimits
  /** Whether the log has what models were told; undefined: where requests need not prove who they come from. */
  readonly recordPrompts: boolean | undefined
  /** The configuration's file; undefined looks for `millrace.config` in the usual folders. */
  readonly config: string | undefined
  /** The agent of requests that name none; undefined: `assistant`, or the first. */
  readonly defaultAgent: string | undefined
  /** Values of `Host` to answer besides loopback. */
  readonly hostNames: readonly string[]
  readonly origins: readonly string[]
  /** `sha256:` and the hash of a token → user. */
  readonly tokens: ReadonlyMap<string, string> | undefined
  readonly identity: IdentitySettings
  readonly insecure: boolean
  /** Whether to serve adk-web at `/dev-ui/`. */
  readonly adkWeb: boolean
  /** The path prefix of a proxy that does not strip it; empty when there is none. */
  readonly basePath: string
  /** How long active runs may continue after a signal to stop, in ms. */
  readonly grace: number
  /** Partial events of runs that ended longer ago than this are deleted, in ms; undefined keeps all of them. */
  readonly retain: number | undefined
  readonly logLevel: string
  /** What users may have, beside the defaults. */
  readonly shares: SomeShares
  /** What the process may take, in bytes; undefined: what Node gives it. */
  readonly maxMemory: number | undefined
}

/** What the process of one agent may take. */
export interface AgentLimits {
  /** The size of its heap, in MB. */
  readonly memory: number
  /** How long its code may block its thread, in ms. */
  readonly blocked: number
  /** How long it stays without runs, in ms. */
  readonly idle: number
}

/** What the command prints instead of serving, and its exit code. */
export interface Exit {
  readonly message: string
  readonly code: number
}

export const serveHelp = `Usage: millrace serve [agents-dir] [settings]

Runs agents, records their runs and serves the log. The folder of the agents is an argument or a setting.

Settings:
  --port N            port to listen on (PORT, 8000)
  --host ADDRESS      address to listen on (HOST, 127.0.0.1)
  --data-dir DIR      folder of the SQLite database (DATA_DIR, .millrace)
  --database URL      file:DIR, or postgresql://… for many replicas (DATABASE_URL)
  --database-connections N at most so many connections to PostgreSQL (MILLRACE_DATABASE_CONNECTIONS, 10)
  --doorbell notify|poll how replicas hear of new events: LISTEN, or polling, which every pooler allows (MILLRACE_DOORBELL, notify)
  --lease SECONDS     how long a run waits for its server after a crash, until another one takes it (MILLRACE_LEASE, 15)
  --agents DIR        folder of agents, DIR/<name>/agent.ts (MILLRACE_AGENTS, ./agents if there is one, else the examples)
  --isolate on|off    run each agent of DIR in a process of its own (MILLRACE_ISOLATE, on)
  --record-prompts on|off
                      keep in the log what models were told (MILLRACE_RECORD_PROMPTS; on, but off with users)
  --agent-memory MB   heap of such a process (MILLRACE_AGENT_MEMORY, 1024)
  --agent-silence SEC seconds that its code may block such a process (MILLRACE_AGENT_SILENCE, 30)
  --agent-idle MIN    minutes that such a process stays without runs; 0: for ever (MILLRACE_AGENT_IDLE, 10)
  --default-agent NAME agent of requests that name none, and of the page (MILLRACE_DEFAULT_AGENT, assistant or the first)
  --config FILE       configuration (MILLRACE_CONFIG, millrace.config.ts here, in the agents folder or beside it)
  --host-name NAME    answer requests for this Host, too; repeatable
  --origin ORIGIN     let pages of this origin call the server (CORS); repeatable
  --token-file FILE   bearer tokens of users: lines USER=TOKEN, or USER=sha256:HASH (MILLRACE_TOKEN_FILE)
  --token USER=TOKEN  the same for one user; repeatable, and visible in ps (MILLRACE_TOKENS, comma-separated, is not)
${identityHelp}
  --base-path PATH    path prefix of a proxy that does not strip it (BASE_PATH)
  --grace SECONDS     time for active runs to finish after Ctrl-C or SIGTERM (GRACE, 5)
  --retain-days DAYS  delete partial events of runs that ended longer ago, keep the messages (RETAIN_DAYS, keep all)
  --limit NAME=N      what one user may have, all-NAME=N for all users; repeatable (MILLRACE_LIMITS, comma-separated):
                      ${shareHelp}
  --queue             let starts beyond the limit of runs wait for a slot, fairly for each user (MILLRACE_QUEUE=on)
  --max-memory MB     refuse new work when the process takes nine tenths of this (MILLRACE_MAX_MEMORY, the heap of Node)
  --adk-web           serve Google's adk-web at /dev-ui/, from the package @google/adk-devtools (MILLRACE_ADK_WEB=on)
  --insecure          allow listening beyond loopback without tokens
  --print-config      print every setting, its value and where that comes from, and exit
  --watch             start again when millrace.config or .env changes; agents are always reloaded
  --log-level LEVEL   fatal, error, warn, info, debug, trace or silent (LOG_LEVEL, warn)

In parentheses: the variable that a flag wins over, and the default. Invalid settings print one sentence and exit with code 2.

Variables may also be in .env here, in the agents folder and in the folder of an agent; the process's own win.

Models: GOOGLE_API_KEY selects Gemini, ANTHROPIC_API_KEY Claude, OPENAI_API_KEY and OPENAI_BASE_URL any OpenAI-compatible endpoint; without any, the offline model runs.
MILLRACE_MODEL names the model: gemini-2.5-pro, claude-opus-4-8, openai:llama3.2 or offline. MILLRACE_MODEL_TIMEOUT is the time in seconds that it may send nothing (240; 0: no limit).
MILLRACE_OFFLINE_TOKENS_PER_SECOND sets the pace of the offline model (0: no delay).
Traces: OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) receives spans of every run, without contents.`

export const serveOptions = {
  port: { type: 'string' },
  host: { type: 'string' },
  'data-dir': { type: 'string' },
  database: { type: 'string' },
  'database-connections': { type: 'string' },
  doorbell: { type: 'string' },
  lease: { type: 'string' },
  agents: { type: 'string' },
  isolate: { type: 'string' },
  'record-prompts': { type: 'string' },
  'agent-memory': { type: 'string' },
  'agent-silence': { type: 'string' },
  'agent-idle': { type: 'string' },
  'default-agent': { type: 'string' },
  config: { type: 'string' },
  'host-name': { type: 'string', multiple: true },
  origin: { type: 'string', multiple: true },
  token: { type: 'string', multiple: true },
  'token-file': { type: 'string' },
  ...identityOptions,
  'base-path': { type: 'string' },
  grace: { type: 'string' },
  'retain-days': { type: 'string' },
  limit: { type: 'string', multiple: true },
  queue: { type: 'boolean' },
  'max-memory': { type: 'string' },
  'adk-web': { type: 'boolean' },
  insecure: { type: 'boolean' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const loopback = new Set(['127.0.0.1', 'localhost', '::1'])

/** These can be listened on, but as a `Host` they would let in any page (see `http/doors/access.ts` of the server). */
const everyAddress = new Set(['0.0.0.0', '[::]'])

/** Settings, or a sentence that says what is wrong with them. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Settings | Exit {
  let values: ReturnType<typeof parseArgs<{ options: typeof serveOptions }>>['values']
  try {
    values = parseArgs({ args: [...args], options: serveOptions }).values
  } catch (error) {
    return bad(`${unknownFlag(error)}; see millrace serve --help`)
  }
  if (values.help === true) return { message: serveHelp, code: 0 }
  // An empty variable (`PORT=`, as compose files write it) counts as unset.
  const given = (flag: string | undefined, name: string): string | undefined => flag ?? (env[name] || undefined)
  const portText = given(values.port, 'PORT') ?? '8000'
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN
  if (!(port <= 65_535)) return bad(`--port must be a number from 0 to 65535, not ${quoted(portText)}`)
  const tokens = readTokens({ flags: values.token ?? [], file: values['token-file'] }, env)
  if (typeof tokens === 'string') return bad(tokens)
  const identity = readIdentity(values, env)
  if (typeof identity === 'string') return bad(identity)
  const guarded = tokens !== undefined || identity.jwt !== undefined || identity.proxy !== undefined
  const host = given(values.host, 'HOST') ?? '127.0.0.1'
  const insecure = values.insecure === true
  if (!loopback.has(host) && !guarded && !insecure) {
    return bad(
      `others can reach ${host}: give each user a token with --token-file FILE or --token USER=TOKEN, or pass --insecure`,
    )
  }
  const adkWeb = values['adk-web'] === true || env.MILLRACE_ADK_WEB === 'on'
  if (adkWeb && guarded)
    return bad('--adk-web works only without tokens, because adk-web sends none; serve it from another instance')
  const basePath = (given(values['base-path'], 'BASE_PATH') ?? '').replace(/\/+$/, '')
  if (basePath !== '' && !/^(\/[\w.~-]+)+$/.test(basePath))
    return bad(`--base-path must look like /millrace, not ${quoted(basePath)}`)
  const graceText = given(values.grace, 'GRACE') ?? '5'
  const grace = amount(graceText)
  if (grace === undefined) return bad(`--grace must be a number of seconds, not ${quoted(graceText)}`)
  const days = given(values['retain-days'], 'RETAIN_DAYS')
  const retain = days === undefined ? undefined : amount(days)
  if (days !== undefined && retain === undefined)
    return bad(`--retain-days must be a number of days, not ${quoted(days)}`)
  const queue = values.queue === true || env.MILLRACE_QUEUE === 'on'
  const limits = [...(env.MILLRACE_LIMITS ?? '').split(','), ...(values.limit ?? [])]
  const shares = readShares([...(queue ? queueShares : []), ...limits])
  if (typeof shares === 'string') return bad(shares)
  const memoryText = given(values['max-memory'], 'MILLRACE_MAX_MEMORY')
  const maxMemory = memoryText === undefined ? undefined : amount(memoryText)
  if (memoryText !== undefined && (maxMemory === undefined || maxMemory < 64))
    return bad(`--max-memory must be a number of megabytes, at least 64, not ${quoted(memoryText)}`)
  const logLevel = given(values['log-level'], 'LOG_LEVEL') ?? 'warn'
  if (!levels.includes(logLevel)) return bad(`--log-level must be one of ${levels.join(', ')}, not ${quoted(logLevel)}`)
  const isolate = given(values.isolate, 'MILLRACE_ISOLATE') ?? 'on'
  if (isolate !== 'on' && isolate !== 'off') return bad(`--isolate must be on or off, not ${quoted(isolate)}`)
  const prompts = given(values['record-prompts'], 'MILLRACE_RECORD_PROMPTS')
  if (prompts !== undefined && prompts !== 'on' && prompts !== 'off')
    return bad(`--record-prompts must be on or off, not ${quoted(prompts)}`)
  const agentLimits = readLimits(
    given(values['agent-memory'], 'MILLRACE_AGENT_MEMORY') ?? '1024',
    given(values['agent-silence'], 'MILLRACE_AGENT_SILENCE') ?? '30',
    given(values['agent-idle'], 'MILLRACE_AGENT_IDLE') ?? '10',
  )
  if (typeof agentLimits === 'string') return bad(agentLimits)
  if (values['data-dir'] === '') return bad('--data-dir must not be empty')
  const store = storeAt(storeText(values, env), given(values['data-dir'], 'DATA_DIR'))
  if (typeof store === 'string') return bad(store)
  const postgres = readPostgres(
    given(values['database-connections'], 'MILLRACE_DATABASE_CONNECTIONS') ?? '10',
    given(values.doorbell, 'MILLRACE_DOORBELL') ?? 'notify',
  )
  if (typeof postgres === 'string') return bad(postgres)
  const leaseText = given(values.lease, 'MILLRACE_LEASE') ?? '15'
  const lease = amount(leaseText)
  if (lease === undefined || lease < 1)
    return bad(`--lease must be a number of seconds, at least 1, not ${quoted(leaseText)}`)
  const origins = values.origin ?? []
  const notOrigin = origins.find((origin) => !isOrigin(origin))
  if (notOrigin !== undefined)
    return bad(`--origin must look like https://page.example, without a path, not ${quoted(notOrigin)}`)
  const named = values['host-name'] ?? []
  const notName = named.find((name) => !/^([^\s/:[\]]+|\[[^\s/[\]]+\])$/.test(name))
  if (notName !== undefined)
    return bad(`--host-name must look like mill.example, without a port, not ${quoted(notName)}`)
  const notOne = named.find((name) => everyAddress.has(name))
  if (notOne !== undefined) return bad(`${notOne} means every address and cannot be a --host-name; use 127.0.0.1`)
  return {
    host,
    port,
    basePath,
    grace: grace * 1000,
    retain: retain === undefined ? undefined : retain * day,
    store,
    postgres,
    lease: lease * 1000,
    agents: given(values.agents, 'MILLRACE_AGENTS'),
    isolate: isolate === 'on',
    recordPrompts: prompts === undefined ? undefined : prompts === 'on',
    agentLimits,
    defaultAgent: given(values['default-agent'], 'MILLRACE_DEFAULT_AGENT'),
    config: given(values.config, 'MILLRACE_CONFIG'),
    hostNames: [...named, ...(loopback.has(host) || everyAddress.has(inHeader(host)) ? [] : [inHeader(host)])],
    origins,
    tokens,
    identity,
    insecure,
    adkWeb,
    logLevel,
    shares,
    maxMemory: maxMemory === undefined ? undefined : maxMemory * 2 ** 20,
  }
}

const levels: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const quoted = (text: string): string => `'${text}'`

function readPostgres(connections: string, doorbell: string): PostgresSettings | string {
  const most = /^\d{1,4}$/.test(connections) ? Number(connections) : 0
  if (most < 2) return `--database-connections must be a number from 2 to 9999, not ${quoted(connections)}`
  if (doorbell !== 'notify' && doorbell !== 'poll') return `--doorbell must be notify or poll, not ${quoted(doorbell)}`
  return { connections: most, doorbell }
}

/** A flag wins over a variable, and a URL over a folder. */
function storeText(
  flags: { readonly database?: string | undefined; readonly 'data-dir'?: string | undefined },
  { DATABASE_URL: url, DATA_DIR: folder }: Readonly<Record<string, string | undefined>>,
): string {
  return flags.database ?? flags['data-dir'] ?? (url || folder || '.millrace')
}

/** Whether it is spelled as a browser writes it in `Origin`; any other spelling would never match. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

/** In `Host`, an IPv6 address has brackets. */
const inHeader = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const day = 24 * 60 * 60 * 1000

/** A number that is not negative and fits a timer and a date. */
function amount(text: string): number | undefined {
  return /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : undefined
}

/** Node adds advice about positional arguments, of which there are none left here. */
const unknownFlag = (error: unknown): string =>
  ((error as Error).message.split('. ')[0] ?? '').replace(/^[A-Z]/, (letter) => letter.toLowerCase())

function bad(sentence: string): Exit {
  return { message: `millrace: ${sentence}`, code: 2 }
}

function readLimits(memoryText: string, silenceText: string, idleText: string): AgentLimits | string {
  const [memory, silence, idle] = [memoryText, silenceText, idleText].map(amount)
  // ADK alone needs more than 64 MB.
  if (memory === undefined || memory < 64)
    return `--agent-memory must be a number of megabytes, at least 64, not ${quoted(memoryText)}`
  if (silence === undefined || silence < 1)
    return `--agent-silence must be a number of seconds, at least 1, not ${quoted(silenceText)}`
  if (idle === undefined) return `--agent-idle must be a number of minutes, not ${quoted(idleText)}`
  return {
    memory: Math.round(memory),
    blocked: silence * 1000,
    idle: idle === 0 ? Number.POSITIVE_INFINITY : idle * 60_000,
  }
}

/** Where traces are sent; empty for nowhere. The variable for traces is a whole URL, the general one a base URL. */
export function endpointOf(env: Readonly<Record<string, string | undefined>>): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces = '', OTEL_EXPORTER_OTLP_ENDPOINT: base = '' } = env
  if (traces !== '') return traces
  return base === '' ? '' : `${base.replace(/\/+$/, '')}/v1/traces`
}
