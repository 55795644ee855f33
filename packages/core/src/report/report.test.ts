import { describe, expect, test } from 'vitest'
import type { Recorded, RunEvent } from '../event/run-event.ts'
import { spanText } from './figures.ts'
import { sessionReport } from './index.ts'
import { markdown } from './markdown.ts'

const about = { session: 's1', title: 'The fire', agent: 'coordinator' }
const rowsOf = (events: readonly RunEvent[], run = 'r1', from = 1): readonly Recorded[] =>
  events.map((event, i) => ({
    seq: from + i,
    at: 1_700_000_000_000 + (from + i) * 100,
    run: event.kind === 'feedback' ? '' : run,
    event,
  }))
const asked = (text: string, props?: { mode: string }): RunEvent => ({
  kind: 'run.started',
  agent: 'coordinator',
  input: {
    messages: [{ id: 'q', role: 'user', content: { role: 'user', parts: [{ text }] } }],
    ...(props === undefined ? {} : { props }),
  },
})
type Part = NonNullable<NonNullable<Extract<RunEvent, { kind: 'agent' }>['event']['content']>['parts']>[number]
const said = (id: string, author: string, ...parts: readonly Part[]): RunEvent => ({
  kind: 'agent',
  message: id,
  node: `${author}@1`,
  event: { id, author, invocationId: 'r1', timestamp: 1, content: { role: 'model', parts } },
})
const run = (answer: string): readonly RunEvent[] => [
  asked('How large is the fire?'),
  { kind: 'node.started', node: 'coordinator@1', agent: 'coordinator' },
  { kind: 'model.started', call: 'c1', agent: 'coordinator', model: 'gpt-4o', tools: 1, node: 'coordinator@1' },
  {
    kind: 'model.finished',
    call: 'c1',
    status: 'ok',
    duration: 80,
    firstToken: 20,
    usage: { inputTokens: 1000, outputTokens: 200, totalTokens: 1200 },
    cost: { amount: 0.0045, currency: 'USD' },
    node: 'coordinator@1',
  },
  said('m1', 'coordinator', { functionCall: { id: 't1', name: 'measure', args: {} } }),
  said('m2', 'coordinator', { functionResponse: { id: 't1', name: 'measure', response: { acres: 46380 } } }),
  said('m3', 'coordinator', { text: answer }),
  { kind: 'node.finished', node: 'coordinator@1', status: 'ok' },
  { kind: 'run.finished', outcome: 'done' },
]
const textIn = (page: string): string =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')

test('durations are written as on the page', () => {
  const took = [999.6, 59_960, 119_700, 3_600_000, 93_600_000]
  expect(took.map(spanText)).toEqual(['1.0 s', '1 m 00 s', '2 m 00 s', '1 h 00 m', '1 d 2 h'])
})

test('a run that a crash cut off ends at its last event, and not when the server started again', () => {
  const crash = { code: 'crashed', message: 'the server stopped' } as const
  const worked = rowsOf([asked('How large?'), { kind: 'node.started', node: 'a@1', agent: 'a' }, said('m', 'a')])
  const late = rowsOf(
    [
      { kind: 'node.finished', node: 'a@1', status: 'error', error: crash },
      { kind: 'run.finished', outcome: 'failed', error: crash },
    ],
    'r1',
    9000,
  )
  const text = textIn(sessionReport(about, [...worked, ...late]))
  expect(text).toContain('cut off')
  expect(text).toContain('UTC · 200 ms ·')
  expect(text).toContain('a@1: 100 ms')
})

describe('the report of a session', () => {
  const page = sessionReport(about, [
    ...rowsOf(run('The fire has **46,380 acres** and 777 houses.\n\nSources:\n- Forest Service map')),
    ...rowsOf(
      [
        { kind: 'feedback', about: { run: 'r1', message: 'm3' }, rating: 'down', note: 'How old is this?', by: 'ann' },
        { kind: 'feedback', about: { run: 'r1', call: 'c1' }, rating: 'up' },
        { kind: 'feedback', about: { run: 'r1', node: 'coordinator@1' }, note: 'slow' },
        { kind: 'feedback', about: { run: 'r1' }, rating: 'up', by: 'bob' },
        { kind: 'feedback', about: { run: 'r1' }, by: 'bob' },
      ],
      'r1',
      20,
    ),
  ])
  const text = textIn(page)

  test('has the question, the answer as words, and the figures of the run', () => {
    expect(text).toContain('How large is the fire?')
    expect(page).toContain('<strong>46,380 acres</strong>')
    expect(text).toContain('Tokens 1,200')
    expect(text).toContain('First token 20 ms')
    expect(text).toContain('Cost $0.0045')
    expect(text).toContain('gpt-4o 1 1,000 200 $0.0045')
  })

  test('says which figures results hold and which nothing holds', () => {
    expect(text).toContain('2 figures: 1 supported by results, 0 only stated in words, 1 unsupported.')
    expect(text).toContain('measure · acres · event 6')
    expect(text).toContain('nothing in the log supports the figure 777')
    expect(text).toContain('Forest Service map')
  })

  test('draws the steps and calls of the run', () => {
    expect(page).toMatch(/<svg [^>]*role="img"/)
    expect(page.match(/<rect /g)).toHaveLength(3)
    expect(page).toContain('class="first"')
  })

  test('SPEC 1.11: has the feedback that counts now, with its author and time', () => {
    expect(text).toContain('1 thumb up, 1 thumb down, 2 notes.')
    expect(text).toContain('👎 bad How old is this? the message m3 ann 2023-11-14')
    expect(text).toContain('the call c1')
    expect(text).toContain('the step coordinator@1')
    expect(text).not.toContain('bob')
  })

  test('of one run has nothing of the others', () => {
    const rows = [
      ...rowsOf(run('First.')),
      ...rowsOf([asked('And now?'), said('m9', 'coordinator', { text: 'Second.' })], 'r2', 10),
    ]
    const second = textIn(sessionReport({ ...about, run: 'r2' }, rows))
    expect(second).toContain('Run 2')
    expect(second).toContain('Second.')
    expect(second).toContain('Run 2 had not ended when this report was made.')
    expect(second).not.toContain('First.')
  })

  test('of one run knows what earlier runs found, without their words', () => {
    const found = said('m2', 'coordinator', {
      functionResponse: { id: 't1', name: 'measure', response: { acres: 46380, owner: 'private' } },
    })
    const second = [asked('And now?'), said('m9', 'coordinator', { text: 'Still 46,380 acres.' })]
    const rows = [...rowsOf([asked('How large?'), found]), ...rowsOf(second, 'r2', 10)]
    const of = textIn(sessionReport({ ...about, run: 'r2' }, rows))
    expect(of).toContain('1 figure: 1 supported by results')
    expect(of).toContain('measure · event 2, in an earlier run')
    expect(of).not.toContain('private')
    expect(textIn(sessionReport(about, rows))).toContain('measure · acres · event 2: 46380')
  })
})

describe('a report of runs that did not go well', () => {
  const executed: RunEvent = asked(' ', { mode: 'execute' })
  const answered: RunEvent = {
    kind: 'run.started',
    agent: 'coordinator',
    input: { messages: [], resume: [{ interrupt: 'i1', status: 'resolved', payload: true }] },
  }
  const runs: readonly (readonly RunEvent[])[] = [
    [executed, { kind: 'run.finished', outcome: 'done' }],
    [
      answered,
      { kind: 'node.started', node: 'mapper@1', agent: 'mapper' },
      { kind: 'node.finished', node: 'mapper@1', status: 'error' },
      { kind: 'run.finished', outcome: 'failed' },
    ],
    [
      asked('And the roads?'),
      said('m4', 'coordinator', { functionCall: { id: 't2', name: 'roads', args: {} } }),
      said('m5', 'coordinator', { functionResponse: { id: 't2', name: 'roads', response: { error: 'no map' } } }),
      said('m6', 'coordinator', { text: 'There are 12 roads. I said 12 before.' }),
      { kind: 'run.finished', outcome: 'failed', error: { code: 'crashed', message: 'the server stopped' } },
    ],
    [
      asked('How sure are you?'),
      said('m7', 'coordinator', {
        text: 'Confidence: high. The road is 12 miles (36 CFR 220.6(e)(13)).\n\nSources:\n- Road survey, 2022\n- https://maps.example/roads',
      }),
      { kind: 'interrupt', id: 'i2', reason: 'confirmation' },
      { kind: 'run.finished', outcome: 'interrupted' },
    ],
  ]
  let from = 1
  const text = textIn(
    sessionReport(
      about,
      runs.flatMap((events, i) => {
        const rows = rowsOf(events, `r${i}`, from)
        from += events.length
        return rows
      }),
    ),
  )

  test('says who started each run, and how each ended', () => {
    expect(text).toContain('a person executed the plan')
    expect(text).toContain('a person answered a question')
    expect(text).toContain('Run 3 · coordinator cut off')
    expect(text).toContain('Run 4 · coordinator waiting')
  })

  test('says what is missing', () => {
    expect(text).toContain('The log has no answer of this run.')
    expect(text).toContain('Run 1 ended without an answer.')
    expect(text).toContain('Run 3 was cut off: how it would have ended is not known.')
    expect(text).toContain('A question is not answered: confirmation')
    expect(text).toContain('The log has no records of model calls.')
  })

  test('says what failed, also where no reason is given', () => {
    expect(text).toContain('Run 2 failed: no reason is given')
    expect(text).toContain('Step mapper@1 failed: no reason is given')
    expect(text).toContain('Tool roads failed: no map')
  })

  test('has the confidence in words, the rules and the sources', () => {
    expect(text).toMatch(/coordinator answer, event \d+ high/)
    expect(text).toContain('36 CFR 220.6(e)(13)')
    expect(text).toContain('Road survey')
  })
})

test('a report says how many figures and sources it leaves out, one or more', () => {
  const figures = Array.from({ length: 81 }, (_, i) => `It is ${1000 + i * 7} km.`).join('\n')
  const sources = Array.from(
    { length: 61 },
    (_, i) => `- Survey number ${String.fromCharCode(65 + (i % 26))}${'x'.repeat(i)}`,
  )
  const text = textIn(sessionReport(about, rowsOf(run(`${figures}\n\nSources:\n${sources.join('\n')}`))))
  expect(text).toContain('1 more figure is not listed.')
  expect(text).toMatch(/more sources? (is|are) not listed/)
})

describe('a report of hostile words', () => {
  const evil = `</style></title><script>alert(1)</script><img src=x onerror=alert(2)> "' onload=x javascript:alert(3) \u202Eevil\u0000 [a](javascript:alert(4)) ![b](http://evil.example/x.png)`
  const page = sessionReport({ session: evil, title: evil, agent: evil, user: evil }, [
    ...rowsOf([
      asked(evil),
      { kind: 'node.started', node: `${evil}@1`, agent: evil },
      { kind: 'model.started', call: evil, agent: evil, model: evil, tools: 1, node: `${evil}@1` },
      { kind: 'model.finished', call: evil, status: 'error', cost: { amount: 1, currency: evil } },
      said('m1', evil, { functionCall: { id: 't1', name: evil, args: {} } }),
      said('m2', evil, { functionResponse: { id: 't1', name: evil, response: { error: evil, [evil]: 4711 } } }),
      said('m3', evil, {
        text: `# ${evil}\n- ${evil}\n> ${evil}\n\n| ${evil} | 4711 |\n|---|---|\n| ${evil} | b |\n\n\`\`\`\n${evil}`,
      }),
      { kind: 'tasks', tasks: [{ id: evil, title: evil, status: 'in_progress', order: 0 }] },
      { kind: 'task.finished', task: evil, status: 'done', result: evil },
      { kind: 'foreign', dialect: evil, raw: evil, reason: evil },
      { kind: 'interrupt', id: evil, reason: evil, message: evil },
      { kind: 'node.finished', node: `${evil}@1`, status: 'error', error: { code: 'agent-error', message: evil } },
      { kind: 'run.finished', outcome: 'failed', error: { code: 'agent-error', message: evil } },
    ]),
    ...rowsOf([{ kind: 'feedback', about: { run: 'r1', message: evil }, note: evil, by: evil }], 'r1', 30),
  ])

  test('has no tag, attribute, script or address of theirs', () => {
    expect(page).toContain('&lt;script&gt;alert(1)')
    const tags = new Set(
      [...page.matchAll(/<([a-z!/][^\s>]*)/gi)].map(([, name]) => name?.replace('/', '').toLowerCase()),
    )
    for (const name of ['script', 'img', 'a', 'iframe', 'object', 'link', 'form']) expect(tags).not.toContain(name)
    expect(page.match(/<style>/g)).toHaveLength(1)
    const attributes = [...page.matchAll(/<[^!/][^>]*>/g)].join('')
    expect(attributes).not.toMatch(/\son\w+\s*=/i)
    expect(attributes).not.toMatch(/\s(?:href|src|action|srcset|data|poster)\s*=/i)
    for (const mark of ['\u202E', '\u0000']) expect(page).not.toContain(mark)
  })

  test('forbids every request and script by its policy, and loads nothing', () => {
    expect(page).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;/)
    expect(page).not.toMatch(/url\(|@import/)
  })
})

test('a report of a long session is bounded, and says what is left out', () => {
  const long = Array.from({ length: 60 }, (_, i) => [
    asked(`Question ${i} ${'x'.repeat(20_000)}`),
    ...Array.from({ length: 30 }, (_, n): RunEvent => ({ kind: 'node.started', node: `n${n}@1`, agent: `n${n}` })),
    ...Array.from({ length: 90 }, (_, n): RunEvent[] => [
      { kind: 'model.started', call: `c${n}`, agent: 'n1', model: 'm', tools: 0, node: 'n1@1' },
      { kind: 'model.finished', call: `c${n}`, status: 'ok' },
    ]).flat(),
    said(`a${i}`, 'n1', {
      text: Array.from({ length: 100 }, (_, n) => `It is ${1000 + n * 7} km. ${'y'.repeat(300)}`).join('\n'),
    }),
    { kind: 'run.finished', outcome: 'done' } as const,
  ])
  let from = 1
  const rows = long.flatMap((events, i) => {
    const made = rowsOf(events, `r${i}`, from)
    from += events.length
    return made
  })
  const page = sessionReport(about, rows)
  expect(page.length).toBeLessThan(6 * 2 ** 20)
  const text = textIn(page)
  expect(text).toContain('Only the newest 40 of 60 runs are in this report.')
  expect(text).toContain('more bars are not drawn')
  expect(text).toContain('more figures are not listed')
  expect(text).toContain('were not looked up')
  expect(text).toContain('more characters are in the log')
})

test('an empty session, and times beyond all calendars, make a report too', () => {
  expect(textIn(sessionReport({ ...about, title: '' }, []))).toContain('Session s1')
  const [row] = rowsOf([asked('?')])
  expect(row).toBeDefined()
  if (row !== undefined) expect(textIn(sessionReport(about, [{ ...row, at: 9e15 }]))).toContain('unknown')
})

describe('markdown of a report', () => {
  test.each([
    ['# A\n### B', '<h4>A</h4><h5>B</h5>'],
    ['one\ntwo\n\nthree', '<p>one\ntwo</p><p>three</p>'],
    ['---', '<hr>'],
    ['> said\n> so', '<blockquote><p>said\nso</p></blockquote>'],
    ['```js\na < b\n```\nafter', '<pre>a &lt; b</pre><p>after</p>'],
    ['**b** __c__ *e* `x*y`', '<p><strong>b</strong> <strong>c</strong> <em>e</em> <code>x*y</code></p>'],
    [
      '[docs](http://x.example)',
      '<p><a href="http://x.example" rel="noopener noreferrer">docs</a> <span class="address">(http://x.example)</span></p>',
    ],
    [
      '[a](https://x.example/?a="b&c)',
      '<p><a href="https://x.example/?a=&quot;b&amp;c" rel="noopener noreferrer">a</a> <span class="address">(https://x.example/?a=&quot;b&amp;c)</span></p>',
    ],
    ['![dot](https://x.example/p.png)', '<p>dot <span class="address">(https://x.example/p.png)</span></p>'],
    ['[x](javascript:alert)', '<p>x <span class="address">(javascript:alert)</span></p>'],
    ['[x](data:text/html,y)', '<p>x <span class="address">(data:text/html,y)</span></p>'],
    ['[x](//x.example)', '<p>x <span class="address">(//x.example)</span></p>'],
    [
      '- a\n  - b\n    more\n2. c',
      '<ul class="list"><li class="d0"><span>•</span><div>a</div></li><li class="d1"><span>•</span><div>b\nmore</div></li><li class="d0"><span>2.</span><div>c</div></li></ul>',
    ],
    [
      '| a | b |\n|---|--:|\n| 1 | 2 |',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>',
    ],
  ])('%j', (text, wanted) => expect(markdown(text).text).toBe(wanted))

  test('lines beyond the limit are kept as they are', () => {
    expect(markdown(`${'x\n\n'.repeat(3000)}# end`).text).toMatch(/<pre>[\s\S]*# end<\/pre>$/)
  })
})

test('the report says that another server made the calls, and what is not known of them', () => {
  const call = (id: string): readonly RunEvent[] => [
    { kind: 'model.started', call: id, agent: 'coordinator', waited: 100 },
    { kind: 'model.finished', call: id, status: 'ok', duration: 120, firstToken: 100 },
  ]
  const gapsOf = (...calls: readonly RunEvent[]): string =>
    textIn(sessionReport(about, rowsOf([asked('How large?'), ...calls, { kind: 'run.finished', outcome: 'done' }])))
  expect(gapsOf(...call('c1'))).toContain('1 model call was made by another server, which does not send the prompt')
  const two = gapsOf(...call('c1'), ...call('c2'))
  expect(two).toContain('2 model calls were made by another server, which does not send the prompt')
  expect(two).not.toContain('The log does not have the prompt of')
  expect(two).toContain('unknown model')
})

test('the results of tasks are read as markdown, and the word of a state is on one line', () => {
  const task = { id: 't1', title: 'Find it', order: 0 }
  const rows = rowsOf([
    asked('Plan'),
    {
      kind: 'tasks',
      tasks: [{ ...task, status: 'done', result: 'Seen **first** <b>' }],
    },
    { kind: 'run.finished', outcome: 'done' },
  ])
  const text = sessionReport(about, rows)
  expect(text).toContain('<td class="w">done</td>')
  expect(text).toContain('<strong>first</strong> &lt;b&gt;')
})

test('a step has the time that it took, and its bar reaches as far as the calls in it', () => {
  const events: readonly RunEvent[] = [
    asked('How large?'),
    { kind: 'node.started', node: 'boss@1', agent: 'boss' },
    { kind: 'model.started', call: 'c1', agent: 'boss', model: 'm', node: 'boss@1' },
    { kind: 'model.finished', call: 'c1', status: 'ok', duration: 26, node: 'boss@1' },
    { kind: 'node.finished', node: 'boss@1', status: 'ok', duration: 27 },
    { kind: 'run.finished', outcome: 'done' },
  ]
  const times = [0, 0, 880, 906, 906, 906]
  const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: times[i] ?? 0, run: 'r', event }))
  const text = sessionReport(about, rows)
  expect(text).toContain('<title>boss@1: 27 ms</title>')
  const widths = [...text.matchAll(/<rect class="(?:agent|model)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"/g)]
  const [step = 0, call = 0] = widths.map(([, x, width]) => Number(x) + Number(width))
  expect(step).toBeCloseTo(call, 0)
})
