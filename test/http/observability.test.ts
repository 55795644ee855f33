import { Writable } from 'node:stream'
import type { AuditEntry } from '@millrace/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

/** What is said to the agents here, and must be found in no line and no label. */
const secret = 'the-secret-words'

const echo = scriptedAgent('echo', (input) => speech('echo', `You said ${textOf(input)}`))
const fails = scriptedAgent('fails', (input) => {
  throw new Error(`cannot do ${textOf(input)}`)
})
const patient = scriptedAgent('patient', async function* (_, { signal }) {
  yield { kind: 'log', level: 'info', message: 'waiting' }
  await aborted(signal)
})

interface Line extends Record<string, unknown> {
  readonly msg: string
  readonly level: number
}

describe('what an operator sees', () => {
  const lines: Line[] = []
  const audit: AuditEntry[] = []
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  const stream = new Writable({
    write(chunk, _encoding, done) {
      for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line) as Line)
      done()
    },
  })
  beforeAll(async () => {
    const options = {
      with: [echo, fails, patient],
      fallback: 'echo',
      onAudit: (entry: AuditEntry) => audit.push(entry),
    }
    server = await testServer({
      ...options,
      logger: { level: 'debug', stream },
      access: { tokens: new Map([['ada-token', 'ada']]), operators: ['ada'] },
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))

  const ask = async (method: string, path: string, body?: unknown, token = 'ada-token') => {
    const answer = await fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const run = (threadId: string, runId: string) => ({
    threadId,
    runId,
    state: { note: secret },
    messages: [{ id: '1', role: 'user', content: secret }],
  })

  test('a line per request and stream, with session and run, and nothing of what was said', async () => {
    await ask('POST', '/', run('s1', 'r1'))
    await ask('POST', '/ag-ui/fails', run('s2', 'r2'))
    await ask('GET', `/api/projects/echo/stream?input=${secret}&session_id=s3`)
    await ask('GET', '/sessions/s1/events?dialect=adk&run=r1')
    await ask('POST', '/apps/echo/users/ada/sessions/s4', { state: { note: secret } })
    await ask('POST', '/run', {
      appName: 'echo',
      userId: 'ada',
      sessionId: 's4',
      newMessage: { parts: [{ text: secret }] },
    })
    await ask('POST', '/sessions/s1/chat', { message: 7, secret })
    await ask('GET', `/sessions/${secret}?q=${secret}`)
    await ask('GET', '/sessions', undefined, secret)
    const of = (msg: string, session: string) => lines.filter((line) => line.msg === msg && line.session === session)
    expect(of('stream', 's1')[0]).toMatchObject({
      run: 'r1',
      dialect: 'ag-ui-0',
      end: 'finished',
      user: 'ada',
      route: '/',
    })
    expect(of('stream', 's2')[0]).toMatchObject({ run: 'r2', route: '/ag-ui/:agent' })
    expect(of('stream', 's3')[0]).toMatchObject({ run: expect.any(String), dialect: 'studio' })
    expect(of('stream', 's1')[1]).toMatchObject({ run: 'r1', dialect: 'adk', route: '/sessions/:id/events' })
    expect(of('request', 's4')).toHaveLength(2)
    expect(of('request', 's4')[1]).toMatchObject({
      method: 'POST',
      route: '/run',
      status: 200,
      run: expect.any(String),
    })
    expect(lines.length).toBeGreaterThan(15)
    expect(JSON.stringify(lines)).not.toContain(secret)
    expect(JSON.stringify(lines)).not.toContain('ada-token')
  })

  test('an audit line for every start, cancel and delete: the user and the action, no contents', async () => {
    const started = fetch(`${address}/ag-ui/patient`, {
      method: 'POST',
      headers: { authorization: 'Bearer ada-token', 'content-type': 'application/json' },
      body: JSON.stringify(run('s5', 'r5')),
    })
    expect((await started).status).toBe(200)
    expect(JSON.parse((await ask('POST', '/sessions/s5/cancel', {})).text)).toEqual({ cancelled: true })
    await (await started).text()
    for (const [method, path] of [
      ['DELETE', '/sessions/s1'],
      ['DELETE', '/sessions/s3'],
      ['DELETE', '/apps/echo/users/ada/sessions/s4'],
    ] as const)
      expect((await ask(method, path)).status).toBeLessThan(300)
    const audited = (action: string) => lines.filter((line) => line.audit === true && line.action === action)
    expect(audited('run.start').map(({ session }) => session)).toEqual(['s1', 's2', 's3', 's4', 's5'])
    expect(audited('run.cancel')).toMatchObject([
      { session: 's5', run: 'r5', user: 'ada', agent: 'patient', msg: 'run.cancel' },
    ])
    expect(audited('session.delete').map(({ session, user }) => [session, user])).toEqual([
      ['s1', 'ada'],
      ['s3', 'ada'],
      ['s4', 'ada'],
    ])
    expect(audit.map(({ action }) => action)).toEqual(
      lines.filter((line) => line.audit === true).map(({ action }) => action),
    )
    expect(JSON.stringify(lines)).not.toContain(secret)
  })

  test('a session deleted while it runs is stopped first', async () => {
    const { status } = await ask('POST', '/sessions/s7/runs', { agent: 'patient', input: { messages: [] } })
    expect(status).toBe(201)
    expect((await ask('DELETE', '/sessions/s7')).status).toBe(204)
    const of = lines.filter(({ audit, session }) => audit === true && session === 's7').map(({ action }) => action)
    const done = of.filter((action) => !String(action).startsWith('request.'))
    expect(done).toEqual(['run.start', 'run.cancel', 'run.finish', 'session.delete'])
  })

  test('the audit is logged at every level except silent', async () => {
    const heard: string[] = []
    const quiet = await testServer({
      with: [echo],
      logger: { level: 'error', stream: { write: (line: string) => heard.push(line) } },
    })
    await quiet.log.create({ id: 's', user: 'u', agent: 'echo' })
    await quiet.app.inject({ method: 'DELETE', url: '/sessions/s', headers: { host: 'localhost' } })
    expect(heard).toHaveLength(1)
    expect(JSON.parse(heard[0] ?? '')).toMatchObject({ audit: true, action: 'session.delete', session: 's', user: 'u' })
    await quiet.close(0)
  })

  const metrics = async () => samplesOf((await ask('GET', '/metrics')).text)
  test('metrics are Prometheus text, and move', async () => {
    const before = await metrics()
    await ask('POST', '/', run('m1', 'm1'))
    await ask('POST', '/ag-ui/fails', run('m2', 'm2'))
    const after = await metrics()
    const grew = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
    expect(grew('millrace_runs_started_total{agent="echo"}')).toBe(1)
    expect(grew('millrace_runs_finished_total{agent="echo",outcome="done"}')).toBe(1)
    expect(grew('millrace_runs_finished_total{agent="fails",outcome="failed"}')).toBe(1)
    expect(grew('millrace_http_request_seconds_count{method="POST",route="/",status="200"}')).toBe(1)
    expect(grew('millrace_http_request_seconds_count{method="POST",route="/ag-ui/:agent",status="200"}')).toBe(1)
    expect(grew('millrace_http_request_seconds_count{method="GET",route="/metrics",status="200"}')).toBe(1)
    const leave = new AbortController()
    await fetch(`${address}/sessions/m1/events`, {
      headers: { authorization: 'Bearer ada-token' },
      signal: leave.signal,
    })
    const reading = await metrics()
    expect(reading.get('millrace_stream_readers')).toBeGreaterThanOrEqual(1)
    // Counted as it opens: its reader may stay for hours.
    expect(
      reading.get('millrace_http_request_seconds_count{method="GET",route="/sessions/:id/events",status="200"}'),
    ).toBe(2)
    leave.abort()
  })

  test('no label grows with what clients think of', async () => {
    const random = Array.from({ length: 60 }, (_, i) => `x${i}-${secret}`)
    const poke = async (name: string) => {
      await ask('GET', `/sessions/${name}`)
      await ask('GET', `/${name}`)
      await ask('POST', `/ag-ui/${name}`, run(name, name))
      await ask('GET', `/api/projects/${name}`)
      await ask('GET', `/apps/${name}/users/${name}/sessions/${name}`)
    }
    await poke('first')
    const before = (await metrics()).size
    for (const name of random) await poke(name)
    const after = await metrics()
    expect(after.size).toBe(before)
    expect([...after.keys()].join('\n')).not.toContain(secret)
  })
})

/** Prometheus' text format, strictly: every sample announced by HELP and TYPE, every histogram cumulative. */
function samplesOf(text: string): ReadonlyMap<string, number> {
  const types = new Map<string, string>()
  const samples = new Map<string, number>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, name = '', type = ''] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (name !== '') types.set(name, type)
    if (line.startsWith('#')) {
      expect(line).toMatch(/^# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))$/)
      continue
    }
    const [, metric = '', labels = '', value = ''] = /^(\w+)(\{(?:\w+="[^"\\\n]*",?)+\})? (\S+)$/.exec(line) ?? []
    expect(metric, line).not.toBe('')
    expect(types.has(metric) || types.has(metric.replace(/_(bucket|sum|count)$/, '')), line).toBe(true)
    expect(Number.isFinite(Number(value)), line).toBe(true)
    samples.set(`${metric}${labels}`, Number(value))
  }
  for (const [name, count] of samples) {
    const whole = name.replace('_count{', '_bucket{le="+Inf",')
    if (name.includes('_count{')) expect(samples.get(whole), whole).toBe(count)
  }
  return samples
}
