import { afterEach, describe, expect, test } from 'vitest'
import {
  type Answer,
  cut,
  events,
  json,
  type ModelServer,
  modelServer,
  stalled,
} from '../../../../../test/kit/model-server.ts'
import { ending, type Front, frontOf, patientHost, spoken } from '../../../../../test/kit/remote-front.ts'
import type { RemoteEntry } from './remote-entry.ts'

/** Milliseconds that these servers may be silent. */
const silence = 7000
const silent = new Set<Answer>()

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function inFront(
  answers: readonly Answer[],
  entry: Pick<RemoteEntry, 'dialect'> & Partial<RemoteEntry>,
): Promise<{ readonly server: ModelServer; readonly front: Front; readonly messages: () => number }> {
  const clock = patientHost(silence)
  // A moment of theirs is an eternity of ours: time passes once the server has been asked what it will not answer.
  const server = await modelServer(
    answers.map(
      (answer): Answer =>
        async (...of) => {
          await answer(...of)
          if (silent.has(answer)) setImmediate(clock.elapse)
        },
    ),
  )
  const front = await frontOf({ url: server.url, timeout: silence, ...entry }, clock.host)
  closing.push(server.close, front.close)
  // Making an ADK session is no message: it may be asked for as often as one likes.
  return { server, front, messages: () => server.requests.filter(({ path }) => !path.includes('/sessions/')).length }
}

const raw =
  (status: number, headers: Record<string, string>, ...chunks: readonly string[]): Answer =>
  (response) => {
    response.writeHead(status, headers)
    for (const chunk of chunks) response.write(chunk)
    response.end()
  }
const sse = { 'content-type': 'text/event-stream' }
const html = '<!doctype html><title>502</title><h1>Bad Gateway</h1>'
const silenced = (answer: Answer): Answer => {
  silent.add(answer)
  return answer
}
const unanswered = silenced(() => undefined)
const hush = (data: readonly object[]): Answer => silenced(stalled(data, () => undefined))

const started = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const words = [
  { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Half a ' },
]
const finished = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const half = [started, ...words]
const whole = [...half, { type: 'TEXT_MESSAGE_END', messageId: 'm1' }, finished]

const said = (text: string, more: object = {}) => ({
  id: `e-${text}`,
  author: 'there',
  invocationId: 'i',
  timestamp: 1_767_081_391,
  content: { role: 'model', parts: [{ text }] },
  ...more,
})
const called = said('', { content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'look', args: {} } }] } })

/** Faulty answers and the error that each leads to. Each sends one message and fails one run. */
const everywhere: readonly (readonly [string, Answer, RegExp])[] = [
  ['401 in JSON', json({ detail: 'the token has expired' }, 401), /: status 401: the token has expired$/],
  ['404 as text', raw(404, { 'content-type': 'text/plain' }, 'no such app'), /: status 404: no such app$/],
  [
    '422 in FastAPI’s words',
    json({ detail: [{ loc: ['body'], msg: 'field required' }] }, 422),
    /422: .*field required/,
  ],
  [
    '429, however soon it may be tried again',
    json({ error: { message: 'quota' } }, 429, { 'retry-after': '0' }),
    /: status 429: quota$/,
  ],
  ['500 in JSON', json({ error: 'boom' }, 500), /: status 500: boom$/],
  ['502 with a page', raw(502, { 'content-type': 'text/html' }, html), /: status 502$/],
  ['503 without a body', raw(503, {}), /: status 503$/],
  [
    'a page with status 200',
    raw(200, { 'content-type': 'text/html' }, html),
    /: the answer is text\/html, not an event stream$/,
  ],
  ['JSON with status 200', json({ ok: true }), /: the answer is application\/json, not an event stream$/],
  ['an empty 200', raw(200, {}), /: the answer is no content type, not an event stream$/],
  ['204', raw(204, {}), /: the stream ended before the run did$/],
  ['an empty event stream', raw(200, sse), /: the answer was an empty event stream$/],
  ['heartbeats and an end', raw(200, sse, ': ping\n\n', ': ping\n\n'), /: the answer was an empty event stream$/],
  [
    'a frame without its end',
    raw(200, sse, 'data: {"type":"RUN_'),
    /: the stream broke off before its end: in the middle of a frame$/,
  ],
  [
    'a reset before any answer',
    (response) => void response.destroy(),
    /: no answer: .*(UND_ERR_SOCKET|ECONNRESET|other side closed)/,
  ],
  ['no answer at all', unanswered, /: no answer: silent for 7000 ms$/],
  ['headers and then nothing', hush([]), /: silent for 7000 ms$/],
]

const agUiOnly: typeof everywhere = [
  ['a death in the middle of a sentence', cut(half), /: the stream broke off before its end: terminated/],
  ['an end in the middle of a sentence', events(half), /: the stream broke off before its end$/],
  ['silence in the middle of a sentence', hush(half), /: silent for 7000 ms$/],
  ['nothing that is JSON', raw(200, sse, 'data: {bad\n\ndata: hello\n\n'), /: the stream broke off before its end$/],
  ['an error of its own', events([...half, { type: 'RUN_ERROR', message: 'out of ink', code: 'INK' }]), /out of ink/],
]

const adkOnly: typeof everywhere = [
  [
    'a death in the middle of a sentence',
    cut([said('Half a ', { partial: true })]),
    /: the stream broke off before its end: terminated/,
  ],
  ['a death between two events', cut([said('One.')]), /: the stream broke off before its end: terminated/],
  [
    'a clean end in the middle of a sentence',
    events([said('Half a ', { partial: true })]),
    /: the stream ended in the middle of an answer$/,
  ],
  ['a clean end before a tool had answered', events([called]), /: the stream ended before look had answered$/],
  ['silence in the middle of a sentence', hush([said('Half a ', { partial: true })]), /silent for 7000 ms$/],
  [
    'nothing that is JSON',
    raw(200, sse, 'data: {bad\n\ndata: hello\n\n'),
    /: nothing it sent is an ADK event: not JSON$/,
  ],
  ['an error of its own', events([said('One.'), { error: 'out of ink' }]), /out of ink/],
  ['a model’s error', events([said('', { errorCode: '429', errorMessage: 'quota' })]), /quota/],
]

describe.each([
  ['ag-ui', [...everywhere, ...agUiOnly]],
  ['adk', [...everywhere, ...adkOnly]],
] as const)('trouble upstream, over %s', (dialect, cases) => {
  test.each(cases)('%s fails the run with the reason, and nothing is sent twice', async (_, answer, reason) => {
    const answers = dialect === 'adk' ? [json({ id: 's1' }), answer] : [answer]
    const { server, front, messages } = await inFront(answers, { dialect })
    const rows = await front.run('s1', 'hello')
    expect(ending(rows)).toMatch(/^failed \(/)
    const error = ending(rows).slice('failed ('.length, -1)
    expect(error).toMatch(reason)
    // Ours says whose trouble it is; an error of the agent's own is passed on in its words.
    if (reason.source.startsWith(': ')) expect(error).toContain(`remote-error: ${new URL(server.url).host}: `)
    expect(messages()).toBe(1)
  })

  test('a server that does not run', async () => {
    const server = await modelServer([])
    await server.close()
    const front = await frontOf({ url: server.url, dialect })
    closing.push(front.close)
    expect(ending(await front.run('s1', 'hello'))).toMatch(/remote-error: 127\.0\.0\.1:\d+.*ECONNREFUSED/)
  })

  test('a frame larger than an event may be', async () => {
    const big = 'x'.repeat(5 * 1024 * 1024)
    const frame = dialect === 'adk' ? said(big) : { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: big }
    const stream = events(dialect === 'adk' ? [frame] : [...half, frame, finished])
    const { front } = await inFront(dialect === 'adk' ? [json({}), stream] : [stream], { dialect })
    expect(ending(await front.run('s1', 'hello'))).toMatch(/^failed \(limit: an event is larger than/)
  })

  test('a frame that never ends is not kept in memory', async () => {
    const endless: Answer = (response) => {
      response.writeHead(200, sse)
      const chunk = `${'y'.repeat(1024 * 1024)}`
      response.write('data: ')
      for (let i = 0; i < 20; i++) response.write(chunk)
      response.end()
    }
    const { front } = await inFront(dialect === 'adk' ? [json({}), endless] : [endless], { dialect })
    expect(ending(await front.run('s1', 'hello'))).toMatch(/^failed \(/)
  })

  test('junk between events is recorded as it is, and the run continues', async () => {
    const good = dialect === 'adk' ? [said('Whole.')] : whole
    const [first, ...rest] = good
    const stream = events([first ?? {}, '{bad', ...rest])
    const { front } = await inFront(dialect === 'adk' ? [json({}), stream] : [stream], { dialect })
    const rows = await front.run('s1', 'hello')
    expect(ending(rows)).toBe('done')
    expect(rows.flatMap(({ event }) => (event.kind === 'foreign' ? [event.raw] : []))).toEqual(['{bad'])
    expect(spoken(rows)).toHaveLength(1)
  })

  test('cancelling closes the connection', async () => {
    let gone = (): void => {}
    const left = new Promise<void>((resolve) => {
      gone = resolve
    })
    const open = dialect === 'adk' ? [said('Half a ', { partial: true })] : half
    let reach = (): void => {}
    const reached = new Promise<void>((resolve) => {
      reach = resolve
    })
    const stream: Answer = (...of) => {
      reach()
      return stalled(open, gone)(...of)
    }
    const { front } = await inFront(dialect === 'adk' ? [json({}), stream] : [stream], { dialect })
    const run = await front.start('s1', 'hello')
    await reached
    await front.cancel('s1', run)
    expect(ending(await front.wait('s1', run))).toMatch(/^cancelled/)
    await left
  })

  test('the headers of the configuration are sent with every request, and are never shown', async () => {
    const headers = { authorization: 'Bearer s3cret', 'x-team': 'blue' }
    const stream = events(dialect === 'adk' ? [said('Hi.')] : whole)
    const { server, front } = await inFront(dialect === 'adk' ? [json({}), stream] : [stream], { dialect, headers })
    const rows = await front.run('s1', 'hello')
    expect(server.requests.length).toBeGreaterThan(0)
    for (const request of server.requests) expect(request.headers).toMatchObject(headers)
    expect(JSON.stringify([rows, await front.get('/agents')])).not.toContain('s3cret')
  })
})

describe('a Content-Location that is not where a Millrace can be re-joined', () => {
  test('of a server that uses the header for something else: its answer is taken as it is', async () => {
    const stream: Answer = (response, request) => {
      response.setHeader('content-location', '/agent')
      return events(whole)(response, request)
    }
    const { front, server } = await inFront([stream], { dialect: 'ag-ui' })
    const rows = await front.run('s1', 'hello')
    expect(ending(rows)).toBe('done')
    expect(spoken(rows)).toHaveLength(1)
    expect(server.requests).toHaveLength(1)
  })

  test('on another server: no request goes there, and the keys are not sent', async () => {
    const other = await modelServer([json({})])
    closing.push(other.close)
    const stream: Answer = (response, request) => {
      response.setHeader('content-location', `${other.url}/sessions/s1/events?run=r`)
      return cut(half)(response, request)
    }
    const { front } = await inFront([stream], { dialect: 'ag-ui', headers: { 'x-key': 's3cret' } })
    expect(ending(await front.run('s1', 'hello'))).toMatch(/^failed \(remote-error: .*broke off before its end/)
    expect(other.requests).toEqual([])
  })
})

describe('making a session on an ADK server', () => {
  test.each<[string, Answer, RegExp]>([
    ['500', json({ detail: 'no database' }, 500), /answered 500 to the request for a session/],
    ['403', json({}, 403), /answered 403 to the request for a session/],
    ['silence', unanswered, /cannot be reached: silent for 7000 ms/],
  ])('%s: no message is sent', async (_, answer, reason) => {
    const { front, messages } = await inFront([answer], { dialect: 'adk' })
    expect(ending(await front.run('s1', 'hello'))).toMatch(reason)
    expect(messages()).toBe(0)
  })

  test.each([400, 409])('a session that exists already (%i) is used', async (status) => {
    const { server, front } = await inFront(
      [json({ detail: 'Session already exists' }, status), events([said('Hi.')])],
      {
        dialect: 'adk',
        app: 'their-name',
      },
    )
    expect(ending(await front.run('s1', 'hello'))).toBe('done')
    expect(server.requests.map(({ path }) => path)).toEqual(['/apps/their-name/users/user/sessions/s1', '/run_sse'])
    expect(server.requests[1]?.body).toEqual({
      appName: 'their-name',
      userId: 'user',
      sessionId: 's1',
      newMessage: { role: 'user', parts: [{ text: 'hello' }] },
      streaming: true,
    })
  })
})
