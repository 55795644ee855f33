import { expect, test } from 'vitest'
import { endpointOf, readSettings } from './settings.ts'

test('how long to wait and what to keep: flags win over env, days and seconds become milliseconds', () => {
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
])('%s is refused with a sentence and 2', (args, word) => {
  expect(readSettings(args, {})).toEqual({ say: expect.stringContaining(word), code: 2 })
})
const refusal = (args: readonly string[], env = {}): string => {
  const settings = readSettings(args, env)
  if (!('say' in settings)) throw new Error('it was taken')
  expect(settings.code).toBe(2)
  return settings.say
}

test('loopback, port 8000, no tokens, unless told', () => {
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
      tokens: new Map([['a-long-token', 'ada']]),
      // Every address is no name: a page elsewhere could ask for it without saying where it is from.
      hostNames: host === '0.0.0.0' || host === '::' ? [] : [host],
    })
  },
)

test('flags win over env', () => {
  const env = { PORT: '1', HOST: 'localhost', DATA_DIR: 'a', LOG_LEVEL: 'info', BASE_PATH: '/env' }
  const args = ['--port', '2', '--host', '::1', '--data-dir', 'b', '--log-level', 'debug', '--base-path', '/flag/']
  const told = { port: 2, host: '::1', dataDir: 'b', logLevel: 'debug', basePath: '/flag' }
  expect(readSettings(args, env)).toMatchObject(told)
  expect(readSettings([], { ...env, PORT: '3' })).toMatchObject({ port: 3, dataDir: 'a', basePath: '/env' })
})

test.each([
  ['a port that is none', ['--port', '70000']],
  ['a port in words', ['--port', 'eighty']],
  ['a token without a user', ['--token', 'a-long-token']],
  ['a short token', ['--token', 'ada=short']],
  ['a base path that is an address', ['--base-path', 'https://mill.example/x']],
  ['a base path that climbs', ['--base-path', '/../x y']],
  ['a flag that is none', ['--prot', '1']],
  ['a port of no digits', ['--port', '']],
  ['a port of other digits', ['--port', '0x50']],
  ['a level that is none', ['--log-level', 'loud']],
  ['an origin with a path', ['--origin', 'https://page.example/']],
  ['an origin without a scheme', ['--origin', 'page.example']],
  ['a host name with a port', ['--host-name', 'mill.example:8000']],
  ['every address as a host name', ['--host-name', '0.0.0.0']],
  ['every IPv6 address as a host name', ['--host-name', '[::]']],
  ['a data dir that is nothing', ['--data-dir', '']],
  ['one token for two', ['--token', 'ada=a-long-token', '--token', 'bob=a-long-token']],
])('%s is refused in words', (_name, args) => {
  expect(refusal(args).length).toBeGreaterThan(10)
})

test('help is help', () => {
  expect(readSettings(['--help'], {})).toMatchObject({ code: 0 })
})

test('a variable set to nothing is as good as none', () => {
  const names = ['PORT', 'HOST', 'DATA_DIR', 'BASE_PATH', 'GRACE', 'RETAIN_DAYS', 'LOG_LEVEL', 'MILLRACE_AGENTS']
  const empty = Object.fromEntries([...names, 'MILLRACE_TOKENS'].map((name) => [name, '']))
  expect(readSettings([], empty)).toEqual(readSettings([], {}))
})

test('traces go where the variables say, and an empty one says nothing', () => {
  const base = 'http://collector:4318/'
  expect(endpointOf({})).toBe('')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_ENDPOINT: base })).toBe('http://collector:4318/v1/traces')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '', OTEL_EXPORTER_OTLP_ENDPOINT: base })).not.toBe('')
  expect(endpointOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x/y', OTEL_EXPORTER_OTLP_ENDPOINT: base })).toBe(
    'http://x/y',
  )
})
