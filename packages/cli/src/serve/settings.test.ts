import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { storeAt } from '../open-store.ts'
import { endpointOf, readSettings } from './settings.ts'

test('grace and retention: flags win over env, days and seconds become milliseconds', () => {
  expect(readSettings([], {})).toMatchObject({ grace: 5_000, retain: undefined })
  expect(readSettings([], { GRACE: '30', RETAIN_DAYS: '0.5' })).toMatchObject({ grace: 30_000, retain: 43_200_000 })
  expect(readSettings(['--grace', '0', '--retain-days', '1'], { GRACE: '30', RETAIN_DAYS: '7' })).toMatchObject({
    grace: 0,
    retain: 86_400_000,
  })
})

test.each([
  [['--grace', 'soon'], 'seconds'],
  [['--grace=-1'], 'seconds'],
  [['--grace', '9'.repeat(9)], 'seconds'],
  [['--retain-days', 'all'], 'days'],
  [['--retain-days', ''], 'days'],
])('%s is refused with a sentence and code 2', (args, word) => {
  expect(readSettings(args, {})).toEqual({ message: expect.stringContaining(word), code: 2 })
})
const hashed = (token: string): string => `sha256:${createHash('sha256').update(token).digest('hex')}`
const refusal = (args: readonly string[], env = {}): string => {
  const settings = readSettings(args, env)
  if (!('message' in settings)) throw new Error('the settings were accepted')
  expect(settings.code).toBe(2)
  return settings.message
}

test('adk-web is served when asked for, and not together with tokens, which it cannot send', () => {
  expect(readSettings([], {})).toMatchObject({ adkWeb: false })
  expect(readSettings(['--adk-web'], {})).toMatchObject({ adkWeb: true })
  expect(readSettings([], { MILLRACE_ADK_WEB: 'on' })).toMatchObject({ adkWeb: true })
  expect(refusal(['--adk-web', '--token', 'ada=a-long-token'])).toContain('adk-web sends none')
})

test('the defaults are loopback, port 8000 and no tokens', () => {
  expect(readSettings([], {})).toMatchObject({ host: '127.0.0.1', port: 8000, tokens: undefined, insecure: false })
})

test.each([['0.0.0.0'], ['::'], ['192.168.1.7'], ['mill.example']])(
  'refuses to listen on %s without tokens',
  (host) => {
    expect(refusal(['--host', host])).toContain('--token USER=TOKEN')
    expect(refusal([], { HOST: host })).toContain('--insecure')
    expect(readSettings(['--host', host, '--insecure'], {})).toMatchObject({ host, insecure: true })
    expect(readSettings(['--host', host, '--token', 'ada=a-long-token'], {})).toMatchObject({
      host,
      tokens: new Map([[hashed('a-long-token'), 'ada']]),
      // A browser sends no `Origin` with an image from 0.0.0.0, so that address must not be accepted as a `Host`.
      hostNames: host === '0.0.0.0' || host === '::' ? [] : [host],
    })
  },
)

const issued = ['--jwks', 'https://sso.example/keys', '--jwt-issuer', 'https://sso.example', '--jwt-audience', 'mill']

test('JWTs, a proxy and operators are settings, and each of the first two is enough beyond loopback', () => {
  const jwt = { jwks: 'https://sso.example/keys', issuer: 'https://sso.example', audience: 'mill' }
  expect(readSettings([], {})).toMatchObject({ identity: {} })
  expect(readSettings([...issued, '--host', '0.0.0.0'], {})).toMatchObject({ identity: { jwt } })
  const claims = ['--jwt-user', 'email', '--jwt-operator', 'https://sso.example/roles=operator']
  expect(readSettings([...issued, ...claims], { MILLRACE_JWT_USER: 'sub' })).toMatchObject({
    identity: {
      jwt: { ...jwt, userClaim: 'email', operator: { claim: 'https://sso.example/roles', value: 'operator' } },
    },
  })
  const secret = 'the-secret-of-the-proxy'
  const env = {
    MILLRACE_PROXY_SECRET: secret,
    MILLRACE_PROXY_USER: 'x-email',
    MILLRACE_OPERATORS: 'ops, root',
    MILLRACE_OPERATOR_CONTENTS: 'root',
  }
  expect(readSettings(['--host', '0.0.0.0', '--operator', 'ada'], env)).toMatchObject({
    identity: {
      proxy: { secret, userHeader: 'x-email' },
      operators: ['ada', 'ops', 'root'],
      contentOperators: ['root'],
    },
  })
})

test.each<[readonly string[], Readonly<Record<string, string>>, string]>([
  [['--jwks', 'https://sso.example/keys'], {}, 'belong together'],
  [
    issued.map((text) => text.replace('https://sso.example/keys', 'http://sso.example/keys')),
    {},
    '--jwks must be an https:// address',
  ],
  [
    issued.map((text) => text.replace('https://sso.example/keys', 'keys.json')),
    {},
    '--jwks must be an https:// address',
  ],
  [[...issued, '--jwt-operator', 'operator'], {}, '--jwt-operator must be CLAIM=VALUE'],
  [['--proxy-user', 'x-user'], {}, '--proxy-user needs MILLRACE_PROXY_SECRET'],
  [[], { MILLRACE_PROXY_SECRET: 'short' }, 'at least 16 characters'],
  [['--proxy-user', 'x user'], { MILLRACE_PROXY_SECRET: 'the-secret-of-the-proxy' }, 'the name of a header'],
  [['--adk-web', ...issued], {}, 'adk-web sends none'],
])('%s with %j is refused', (args, env, sentence) => {
  expect(refusal(args, env)).toContain(sentence)
})

test('flags win over env', () => {
  const env = { PORT: '1', HOST: 'localhost', DATA_DIR: 'a', LOG_LEVEL: 'info', BASE_PATH: '/env' }
  const args = ['--port', '2', '--host', '::1', '--data-dir', 'b', '--log-level', 'debug', '--base-path', '/flag/']
  const flags = { port: 2, host: '::1', store: storeAt('b'), logLevel: 'debug', basePath: '/flag' }
  expect(readSettings(args, env)).toMatchObject(flags)
  expect(readSettings([], { ...env, PORT: '3' })).toMatchObject({ port: 3, store: storeAt('a'), basePath: '/env' })
})

test('the default agent is named by a flag or a variable', () => {
  expect(readSettings([], {})).toMatchObject({ defaultAgent: undefined })
  expect(readSettings([], { MILLRACE_DEFAULT_AGENT: 'a' })).toMatchObject({ defaultAgent: 'a' })
  expect(readSettings(['--default-agent', 'b'], { MILLRACE_DEFAULT_AGENT: 'a' })).toMatchObject({ defaultAgent: 'b' })
})

test('agents of a folder are isolated unless a flag or a variable says off', () => {
  expect(readSettings([], {})).toMatchObject({ isolate: true })
  expect(readSettings([], { MILLRACE_ISOLATE: 'off' })).toMatchObject({ isolate: false })
  expect(readSettings(['--isolate', 'on'], { MILLRACE_ISOLATE: 'off' })).toMatchObject({ isolate: true })
  expect(refusal(['--isolate', 'maybe'])).toContain("--isolate must be on or off, not 'maybe'")
})

test('prompts are recorded as a flag or a variable says, and otherwise where there are no users', () => {
  expect(readSettings([], {})).toMatchObject({ recordPrompts: undefined })
  expect(readSettings([], { MILLRACE_RECORD_PROMPTS: 'on' })).toMatchObject({ recordPrompts: true })
  expect(readSettings(['--record-prompts', 'off'], { MILLRACE_RECORD_PROMPTS: 'on' })).toMatchObject({
    recordPrompts: false,
  })
  expect(refusal(['--record-prompts', 'yes'])).toContain("--record-prompts must be on or off, not 'yes'")
})

test('the limits of an agent’s process: flags win over variables, a time of 0 is no limit', () => {
  const minute = 60_000
  const withLimits = (agentLimits: object) => expect.objectContaining({ agentLimits })
  expect(readSettings([], {})).toEqual(withLimits({ memory: 1024, blocked: 30_000, idle: 10 * minute }))
  const env = { MILLRACE_AGENT_MEMORY: '256', MILLRACE_AGENT_SILENCE: '5', MILLRACE_AGENT_IDLE: '0.5' }
  expect(readSettings([], env)).toEqual(withLimits({ memory: 256, blocked: 5_000, idle: minute / 2 }))
  const args = ['--agent-memory', '512', '--agent-silence', '60', '--agent-idle', '0']
  expect(readSettings(args, env)).toEqual(withLimits({ memory: 512, blocked: 60_000, idle: Number.POSITIVE_INFINITY }))
  expect(refusal(['--agent-memory', '10'])).toContain('--agent-memory must be a number of megabytes, at least 64')
  expect(refusal(['--agent-silence', '0'])).toContain('--agent-silence must be a number of seconds, at least 1')
  expect(refusal(['--agent-idle', 'soon'])).toContain("--agent-idle must be a number of minutes, not 'soon'")
})

test('the store: a flag wins over a variable, a URL over a folder', () => {
  const env = { DATABASE_URL: 'file:url', DATA_DIR: 'folder' }
  expect(readSettings([], {})).toMatchObject({ store: storeAt('.millrace') })
  expect(readSettings([], env)).toMatchObject({ store: storeAt('url') })
  expect(readSettings(['--data-dir', 'flag'], env)).toMatchObject({ store: storeAt('flag') })
  expect(readSettings(['--data-dir', 'flag', '--database', 'file:flag-url'], env)).toMatchObject({
    store: storeAt('flag-url'),
  })
  const url = 'postgres://db/mill'
  expect(readSettings([], { DATABASE_URL: url, DATA_DIR: 'here' })).toMatchObject({
    store: { kind: 'postgres', url, folder: 'here' },
    postgres: { connections: 10, doorbell: 'notify' },
  })
  const flags = ['--database', url, '--database-connections', '4', '--doorbell', 'poll']
  expect(readSettings(flags, {})).toMatchObject({ postgres: { connections: 4, doorbell: 'poll' } })
  expect(refusal(['--database-connections', '1'], {})).toContain('--database-connections')
  expect(refusal(['--doorbell', 'gong'], {})).toContain('--doorbell must be notify or poll')
})

test.each([
  ['a port above 65535', ['--port', '70000']],
  ['a port in words', ['--port', 'eighty']],
  ['a token without a user', ['--token', 'a-long-token']],
  ['a short token', ['--token', 'ada=short']],
  ['a base path that is an address', ['--base-path', 'https://mill.example/x']],
  ['a base path that climbs', ['--base-path', '/../x y']],
  ['an unknown flag', ['--prot', '1']],
  ['an empty port', ['--port', '']],
  ['a hexadecimal port', ['--port', '0x50']],
  ['an unknown level', ['--log-level', 'loud']],
  ['an origin with a path', ['--origin', 'https://page.example/']],
  ['an origin without a scheme', ['--origin', 'page.example']],
  ['a host name with a port', ['--host-name', 'mill.example:8000']],
  ['0.0.0.0 as a host name', ['--host-name', '0.0.0.0']],
  ['[::] as a host name', ['--host-name', '[::]']],
  ['an empty data dir', ['--data-dir', '']],
  ['a database URL that is not valid', ['--database', 'postgres://db:port/mill']],
  ['one token for two users', ['--token', 'ada=a-long-token', '--token', 'bob=a-long-token']],
])('%s is refused in a sentence', (_name, args) => {
  expect(refusal(args).length).toBeGreaterThan(10)
})

test('--help prints the help with code 0', () => {
  expect(readSettings(['--help'], {})).toMatchObject({ message: expect.stringContaining('--port'), code: 0 })
})

test('an empty variable counts as unset', () => {
  const names = ['PORT', 'HOST', 'DATA_DIR', 'BASE_PATH', 'GRACE', 'RETAIN_DAYS', 'LOG_LEVEL', 'MILLRACE_AGENTS']
  const empty = Object.fromEntries([...names, 'MILLRACE_TOKENS', 'DATABASE_URL'].map((name) => [name, '']))
  expect(readSettings([], empty)).toEqual(readSettings([], {}))
})

test('traces are sent where the variables say, and an empty variable counts as unset', () => {
  const base = 'http://collector:4318/'
  expect(endpointOf({})).toBe('')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base })).toBe('http://collector:4318/v1/traces')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '', OTEL_EXPORTER_OTLP_ENDPOINT: base })).not.toBe('')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/y', OTEL_EXPORTER_OTLP_ENDPOINT: base })).toBe(
    'http://x/y',
  )
})
