import { describe, expect, test } from 'vitest'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import type { Json } from '../../json/json.ts'
import { claimsIn } from './claim.ts'
import { type Evidence, evidenceBefore } from './evidence.ts'
import { type ClaimFigure, figuresIn } from './figure.ts'
import { claimSupport, supportIn, supportSteps } from './support.ts'

describe('figures', () => {
  const keys = (text: string) => figuresIn(text).map(({ kind, key }) => `${kind} ${key}`)

  test.each(['Rename task 1', 'Task 2 is done.', 'Take option 3, or step 4.', 'See "task 12"'])(
    'does not take the number of one thing for a figure: %s',
    (text) => expect(keys(text)).toEqual([]),
  )

  test.each([
    '1 task',
    'tasks 3',
    'task 3 files',
    'step 2 of 5',
    'option 5%',
    'task 1.5',
    'version 2 acres',
    'Total 7.',
  ])('keeps what may be a count: %s', (text) => expect(keys(text)).not.toEqual([]))

  test.each([
    ['46,380 acres and 46380 acres', ['number 46380', 'number 46380']],
    ['42% or 42 percent', ['percent 42%', 'percent 42%']],
    ['$1.4M, 1.4 million, 3k, 2bn', ['number 1400000', 'number 1400000', 'number 3000', 'number 2000000000']],
    ['2022-09-15, 15 September 2022, Sep 15, 2022', ['date 2022-09-15', 'date 2022-09-15', 'date 2022-09-15']],
    ['36 CFR 220.6(e)(13) and 36 CFR § 220.6(e)(13).', ['rule 36CFR220.6(E)(13)', 'rule 36CFR220.6(E)(13)']],
    ['CORE-1 on Trail #3551.1', ['label CORE-1', 'label #3551.1']],
    ['−4 to 10-20 m', ['number -4', 'number 10', 'number 20']],
    ['dNBR0 v1.2.3 a1b2', []],
    ['1. Close\n  2) Open\n### 3. Repair 4 bridges', ['number 4']],
    ['', []],
  ])('%s', (text, wanted) => {
    expect(keys(text)).toEqual(wanted)
  })
  test('a figure has its place, its digits and what it counts', () => {
    const text = 'It burned 4.2 acres in zone 7.'
    expect(figuresIn(text)).toEqual([
      { kind: 'number', text: '4.2', start: 10, end: 13, key: '4.2', value: 4.2, step: 0.1, of: 'acre' },
      { kind: 'number', text: '7', start: 28, end: 29, key: '7', value: 7, step: 1, of: 'zone' },
    ])
  })
  test('a long text is read in one pass: a second look at each place would take hours', () => {
    for (const part of ['1,', '36 CFR 1.', 'A-', '((((', 'Aa Bb ', '7 x. ', '|1', '1 of ']) {
      const text = part.repeat(100_000)
      expect(claimsIn(text).at(-1)?.end).toBe(text.length)
    }
  })
})

describe('claims', () => {
  test('sentences, with their figures and names', () => {
    const text = 'Waldo Lake Trail is closed (36 CFR 220.6). Repairs cost $401,000. No end'
    const claims = claimsIn(text)
    expect(claims.map(({ start, end }) => text.slice(start, end))).toEqual([
      'Waldo Lake Trail is closed (36 CFR 220.6). ',
      'Repairs cost $401,000. ',
      'No end',
    ])
    expect(claims.map(({ figures }) => figures.map((figure) => figure.text))).toEqual([
      ['36 CFR 220.6'],
      ['$401,000'],
      [],
    ])
    expect(claims[0]?.names).toEqual(['Waldo Lake Trail'])
  })
})

const tool = (value: unknown, more: Partial<Evidence> = {}): Evidence => ({
  kind: 'tool',
  name: 'measure',
  run: 'r',
  seq: 3,
  value,
  ...more,
})

describe('support', () => {
  const found = (text: string, ...evidence: Evidence[]) => {
    const [figure] = figuresIn(text)
    return figure === undefined
      ? []
      : supportIn(evidence)
          .of(figure)
          .map(({ how, path }) => `${how} ${path}`)
  }
  test.each([
    ['127,311 acres', { area: '127,311 acres' }, ['exact area']],
    ['127,311 acres', { area: 127311 }, ['same area']],
    ['42%', { share: 0.42 }, ['same share']],
    ['42%', { pct: 42 }, ['same pct']],
    ['42%', { share: 0.4199 }, ['rounded share']],
    ['$1.4M', { net: 1_434_284 }, ['rounded net']],
    ['15 September 2022', { on: '2022-09-15' }, ['same on']],
    ['47%', { share: 0.42 }, []],
    ['1.5 miles', { text: '1.49 miles' }, ['rounded text']],
    ['13 acres', { text: '13.4 acres' }, ['rounded text']],
    ['250 acres', { limit: { acres: [250] } }, ['exact limit.acres[0]']],
  ])('%s in %j', (text, value, wanted) => {
    expect(found(text, tool(value))).toEqual(wanted)
  })
  test('a small number counts only where it counts the same thing', () => {
    expect(found('3 trails', tool('### 3. Closures'))).toEqual([])
    expect(found('3 trails', tool('3 trails must stay closed'))).toEqual(['exact '])
    expect(found('3 trails', tool({ trails: 3 }))).toEqual(['exact trails'])
    expect(found('3 trails', tool({ bridges: 3 }))).toEqual([])
    expect(found('(3)', tool('(3)'))).toEqual([])
  })
  test('a number counts what stands beside it, through words that count nothing', () => {
    const sum = { plots: 6, viable_plots: 5, severe_points: 6, lowCelsius: 12, highCelsius: 20, rainyDaysPerWeek: 3 }
    expect(found('5 of 6 plots', tool(sum))).toEqual(['exact viable_plots'])
    expect(found('6 of them severe', tool(sum))).toEqual(['exact severe_points'])
    expect(found('12 to 20 °C', tool(sum))).toEqual(['exact lowCelsius'])
    expect(found('3 days of seven', tool(sum))).toEqual(['exact rainyDaysPerWeek'])
    expect(found('7 of 6 plots', tool(sum))).toEqual([])
    expect(found('1 proverb', tool({ count: 1 }, { name: 'add_proverb' }))).toEqual(['exact count'])
    expect(found('1 proverb', tool({ count: 1 }, { name: 'add_note' }))).toEqual([])
  })
  test('a number in a table counts what the head of its column says', () => {
    const table = 'Classes:\n\n| class | Sectors (all) |\n|---|---|\n| HIGH | 4 |\n| LOW | 9 |\n\n| 4 |'
    const breakdown = tool({ breakdown: [{ severity: 'HIGH', sectors: 4 }] })
    const held = figuresIn(table).map((figure) => [figure.text, figure.of, supportIn([breakdown]).of(figure).length])
    expect(held).toEqual([
      ['4', 'sector', 1],
      ['9', 'sector', 0],
      ['4', undefined, 0],
    ])
    expect(figuresIn('4', 'sector')).toMatchObject([{ of: 'sector' }])
    expect(figuresIn('4 plots', 'sector')).toMatchObject([{ of: 'plot' }])
  })
  test('what an agent answered when it was called is words, and comes after the results of functions', () => {
    const [claim] = claimsIn('It burned 127,311 acres.')
    const [figure] = claim?.figures ?? []
    if (claim === undefined || figure === undefined) throw new Error('no claim')
    const answered = tool({ result: '127,311 acres' }, { kind: 'specialist', name: 'analyst', seq: 9 })
    const both = supportIn([answered, tool({ acres: 127311 })])
    expect(both.of(figure).map(({ evidence }) => evidence.name)).toEqual(['measure', 'analyst'])
    expect(claimSupport(claim, both)).toBe('supported')
    expect(claimSupport(claim, supportIn([answered]))).toBe('stated')
  })
  test('results of tools come before words, and a claim that only words hold is called stated', () => {
    const said: Evidence = { kind: 'agent', name: 'analyst', run: 'r', seq: 9, value: 'It is 127,311 acres.' }
    const [claim] = claimsIn('It burned 127,311 acres.')
    const [figure] = claim?.figures ?? []
    if (claim === undefined || figure === undefined) throw new Error('no claim')
    const both = supportIn([said, tool({ acres: 127311 })])
    expect(both.of(figure).map(({ evidence }) => evidence.kind)).toEqual(['tool', 'agent'])
    expect(claimSupport(claim, both)).toBe('supported')
    expect(claimSupport(claim, supportIn([said]))).toBe('stated')
    expect(claimSupport(claim, supportIn([]))).toBe('unsupported')
    expect(claimSupport({ ...claim, figures: [] }, both)).toBe('nothing to check')
  })
  test('of equal places, the result that holds the figures beside comes first', () => {
    const index = supportIn([
      { kind: 'tool', name: 'salvage', run: 'r', seq: 9, value: { confidence: 0.9, plots: 5 } },
      { kind: 'tool', name: 'trails', run: 'r', seq: 5, value: { confidence: 0.9, trails: 5, points: 12 } },
    ])
    const [first, second] = claimsIn('12 points on 5 trails. (Confidence: 90%)')
    const [figure] = second?.figures ?? []
    const named = (...passages: (readonly ClaimFigure[])[]) =>
      figure === undefined ? [] : index.of(figure, undefined, passages).map(({ evidence }) => evidence.name)
    expect(named()).toEqual(['salvage', 'trails'])
    expect(named(second?.figures ?? [])).toEqual(['salvage', 'trails'])
    expect(named(second?.figures ?? [], [...(first?.figures ?? []), ...(second?.figures ?? [])])).toEqual([
      'trails',
      'salvage',
    ])
  })

  test('words that hold all figures beside do not come before a result', () => {
    const index = supportIn([
      { kind: 'agent', name: 'a', run: 'r', seq: 9, value: '12 points on 5 trails' },
      { kind: 'tool', name: 'trails', run: 'r', seq: 5, value: { points: 12 } },
    ])
    const figures = figuresIn('12 points on 5 trails')
    expect(figures.slice(0, 1).flatMap((each) => index.of(each, undefined, [figures])[0]?.evidence.kind)).toEqual([
      'tool',
    ])
  })

  test('one index serves several answers: what came after an answer does not hold it', () => {
    const [figure, rounded] = claimsIn('It burned 127,311 acres, or 4.2 miles.').flatMap((claim) => claim.figures)
    if (figure === undefined || rounded === undefined) throw new Error('no figures')
    const later: Evidence = { kind: 'tool', name: 'measure', run: 'r', seq: 9, value: { acres: 127311, miles: 4.21 } }
    const index = supportIn([later])
    for (const each of [figure, rounded]) {
      expect(index.of(each, 10)).toHaveLength(1)
      expect(index.of(each, 9)).toEqual([])
    }
  })
  test('of many places the best are given, however late they come', () => {
    const [figure] = figuresIn('127,311 acres')
    if (figure === undefined) throw new Error('no figure')
    const many = (count: number, from: number, value: unknown, kind: Evidence['kind'] = 'tool'): Evidence[] =>
      Array.from({ length: count }, (_, i) => tool(value, { seq: from + i, kind }))
    const evidence = [
      ...many(30, 100, 'It is 127,311 acres', 'agent'),
      ...many(30, 60, { acres: 127311 }),
      ...many(15, 1, { area: '127,311 acres' }),
    ]
    const found = supportIn(evidence).of(figure)
    expect(found.map(({ how, evidence: { seq } }) => [how, seq])).toEqual([
      ...Array.from({ length: 15 }, (_, i) => ['exact', 15 - i]),
      ...Array.from({ length: 5 }, (_, i) => ['same', 89 - i]),
    ])
  })
  test('the evidence is read piece by piece, with the same result', () => {
    const steps = supportSteps([tool({ acres: 1 }), tool({ acres: 250 })])
    expect([steps.next().done, steps.next().done]).toEqual([false, false])
    const { done, value } = steps.next()
    expect(done).toBe(true)
    const [figure] = figuresIn('250 acres')
    expect(figure === undefined ? [] : (value as ReturnType<typeof supportIn>).of(figure)).toHaveLength(1)
  })
  test('a name is found whatever its case, with the text around it', () => {
    const text = `${'x'.repeat(100)} the WALDO LAKE trail ${'y'.repeat(100)}`
    const [place] = supportIn([tool({ at: [text] })]).ofName('Waldo Lake Trail')
    expect(place).toMatchObject({ path: 'at[0]', how: 'exact' })
    expect(place?.excerpt).toMatch(/^…x+ the WALDO LAKE trail y+…$/)
    expect(supportIn([tool('other')]).ofName('Waldo Lake Trail')).toEqual([])
  })
})

describe('evidence', () => {
  const row = (seq: number, event: RunEvent): Recorded => ({ seq, at: seq, run: 'r', event })
  const said = (message: string, author: string, parts: readonly object[], more: object = {}): RunEvent =>
    ({
      kind: 'agent',
      message,
      event: { id: message, author, invocationId: 'i', timestamp: 1, content: { role: 'model', parts }, ...more },
    }) as RunEvent
  const rows = [
    row(1, {
      kind: 'run.started',
      agent: 'a',
      input: { messages: [{ id: 'q', role: 'user', content: { role: 'user', parts: [{ text: '7 days?' }] } }] },
    }),
    row(2, said('m1', 'a', [{ text: 'half' }], { partial: true })),
    row(3, said('m2', 'a', [{ functionResponse: { id: 'c1', name: 'measure', response: { n: 1 } } }])),
    row(4, { kind: 'data', id: 'd', operation: 'create', itemType: 'contact', item: { name: 'Ann' } }),
    row(5, said('m3', 'b', [{ text: 'lost' }])),
    row(5.5, { kind: 'data', id: 'e', operation: 'create', itemType: 'contact', item: 'lost', node: 'b@1' }),
    row(5.6, { kind: 'task.finished', task: 't', status: 'done', result: 'lost', node: 'b@1' }),
    row(6, { kind: 'superseded', messages: ['m3'], nodes: ['b@1'], facts: true }),
    row(7, said('m4', 'b', [{ text: 'secret', thought: true }, { text: 'words' }])),
    row(8, said('m5', 'user', [{ text: 'more' }])),
    row(9, said('m6', 'a', [{ text: 'the answer' }])),
  ]
  test('what the log holds before an answer, the newest first', () => {
    const { evidence, isCut } = evidenceBefore(rows, { run: 'r', seq: 9, message: 'm6' })
    expect(isCut).toBe(false)
    expect(evidence.map(({ kind, name, value }) => [kind, name, value])).toEqual([
      ['person', 'user', 'more'],
      ['agent', 'b', 'words'],
      ['data', 'contact', { name: 'Ann' }],
      ['tool', 'measure', { n: 1 }],
      ['person', 'user', '7 days?'],
    ])
    expect(evidence[3]?.call).toBe('c1')
  })
  test('what a step of a graph wrote into the state is evidence, but no result: a model may have written it', () => {
    const message = { type: 'ai', id: 'm9', content: '7 acres' }
    const wrote = (value: Json, path = '/facts/0', node = 'gather@1/search@2'): RunEvent => ({
      kind: 'state',
      node,
      patch: [{ op: 'add', path, value }],
    })
    const { node: _, ...byPerson } = wrote('9 acres') as Extract<RunEvent, { kind: 'state' }>
    const graph = [
      row(1, wrote('4,711 acres')),
      row(2, wrote('lost', '/facts/1', 'b@1')),
      row(3, { kind: 'superseded', messages: [], nodes: ['b@1'], facts: true }),
      row(4, wrote(message, '/messages/1')),
      row(5, wrote([message], '/messages')),
      row(6, { kind: 'state', node: 'b@2', patch: [{ op: 'remove', path: '/facts/0' }] }),
      row(7, byPerson),
    ]
    const { evidence } = evidenceBefore(graph, { run: 'r', seq: 9 })
    expect(evidence.map(({ kind, name, value }) => [kind, name, value])).toEqual([
      ['state', 'search', { 'facts/0': '4,711 acres' }],
    ])
    const [claim] = claimsIn('It burned 4,711 acres.')
    expect(claim && claimSupport(claim, supportIn(evidence))).toBe('stated')
  })
  test('the answer of an agent that was called as a function is not the result of a function', () => {
    const called = [
      row(1, said('m1', 'analyst', [{ text: '4 acres' }])),
      row(2, said('m2', 'a', [{ functionResponse: { id: 'c', name: 'analyst', response: { result: '4 acres' } } }])),
      row(3, said('m3', 'a', [{ functionResponse: { id: 'd', name: 'measure', response: { acres: 4 } } }])),
    ]
    const { evidence } = evidenceBefore(called, { run: 'r', seq: 9 })
    expect(evidence.map(({ kind, name }) => [kind, name])).toEqual([
      ['tool', 'measure'],
      ['specialist', 'analyst'],
      ['agent', 'analyst'],
    ])
  })
  test('the artifacts and results of a plan are evidence, but no artifact without its content or that was deleted', () => {
    const note = { kind: 'artifact', id: 'n', name: 'Notes', type: 'note', version: 1 } as const
    const plan = [
      row(1, { ...note, part: { text: '46 acres' } }),
      row(2, note),
      row(3, { ...note, part: { text: 'old' }, deleted: true }),
      row(4, { kind: 'task.finished', task: 't', status: 'done', result: 'Found 12 sites.' }),
    ]
    const { evidence } = evidenceBefore(plan, { run: 'r', seq: 9 })
    expect(evidence.map(({ kind, name, value }) => [kind, name, value])).toEqual([
      ['agent', 'task', 'Found 12 sites.'],
      ['data', 'Notes', '46 acres'],
    ])
  })
  test('a bounded number, and it says that older ones were left out', () => {
    const many = Array.from({ length: 6000 }, (_, i) => row(i + 1, said(`m${i}`, 'b', [{ text: `words ${i}` }])))
    const { evidence, isCut } = evidenceBefore(many, { run: 'r', seq: 6001 })
    expect([evidence.length, isCut, evidence[0]?.seq]).toEqual([5000, true, 6000])
  })
})
