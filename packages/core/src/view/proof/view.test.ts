import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkPart } from '../../event/adk-event.ts'
import type { AgentSaid, Recorded, RunEvent } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { citedSources } from './cited.ts'
import type { Confidence } from './fact.ts'
import { proofOfCall, proofOfMessage, proofView } from './index.ts'
import { readProofLayer } from './layer.ts'
import { proofInText } from './text.ts'

describeView({ describe, expect, test }, proofView, loadViewVectors('proof'))

const read = (text: string) => proofInText(text, { seq: 1 })
const short = (found: readonly Confidence[]) => found.map(({ from: _, ...fact }) => fact)

describe('text: confidence', () => {
  test.each<[text: string, found: Omit<Confidence, 'from'>[], overall: number | string | undefined]>([
    ['**Confidence:** 92%', [{ value: 0.92 }], 0.92],
    ['**Confidence**: 92%', [{ value: 0.92 }], 0.92],
    ['- Confidence: 57 %', [{ value: 0.57 }], 0.57],
    ['Confidence Score: ~88.5 percent', [{ value: 0.885 }], 0.885],
    ['Confidence: 0.9', [{ value: 0.9 }], 0.9],
    ['confidence 0.85', [{ value: 0.85 }], 0.85],
    ['with a confidence of 80%.', [{ value: 0.8 }], 0.8],
    ['| Confidence | 88% |', [{ value: 0.88 }], 0.88],
    ['Confidence: 1.0', [{ value: 1 }], 1],
    ['We are 80% confident.', [{ value: 0.8 }], 0.8],
    ['(90% confidence)', [{ value: 0.9 }], 0.9],
    [
      '**Confidence:** High (90%) - Direct CFR citations',
      [{ value: 0.9, level: 'High', note: 'Direct CFR citations' }],
      0.9,
    ],
    ['**Confidence:** Very high, 97%', [{ value: 0.97, level: 'Very high' }], 0.97],
    ['**Confidence:** High', [{ level: 'High' }], 'High'],
    ['**Confidence:** Moderate - one visit', [{ level: 'Moderate', note: 'one visit' }], 'Moderate'],
    ['**Overall Confidence:** 90%', [{ value: 0.9, overall: true }], 0.9],
    [
      'Overall confidence: 0.7\nOverall confidence: 0.8',
      [
        { value: 0.7, overall: true },
        { value: 0.8, overall: true },
      ],
      0.8,
    ],
    ['**Confidence:** 90%\n**Confidence:** 95%', [{ value: 0.9 }, { value: 0.95 }], undefined],
    [
      '**NEPA Pathway:** CE (Confidence: 95% for timber, 90% for trails)',
      [
        { value: 0.95, of: 'timber', section: 'NEPA Pathway' },
        { value: 0.9, of: 'trails', section: 'NEPA Pathway' },
      ],
      undefined,
    ],
    [
      'Confidence: 70% for a and 60% for b.',
      [
        { value: 0.7, of: 'a' },
        { value: 0.6, of: 'b' },
      ],
      undefined,
    ],
    ['**Fire Severity:** high\nover 40% (Confidence: 92%)', [{ value: 0.92, section: 'Fire Severity' }], undefined],
    [
      '**Fire Severity:** high (Confidence: 92%)\n**Confidence:** 90%',
      [{ value: 0.92, section: 'Fire Severity' }, { value: 0.9 }],
      0.9,
    ],
    ['**Fire Severity:** high\n\nAll (Confidence: 92%)', [{ value: 0.92 }], 0.92],
    [
      '**Confidence:** 91% (assess_salvage), 88% (estimate_volume)',
      [
        { value: 0.91, of: 'assess_salvage' },
        { value: 0.88, of: 'estimate_volume' },
      ],
      undefined,
    ],
    ['Confidence: 92% (from imagery)', [{ value: 0.92, note: 'from imagery' }], 0.92],
    ['### Timber\n**Confidence:** 90%', [{ value: 0.9, section: 'Timber' }], 0.9],
    ['### 5. Confidence & Source\n**Confidence:** 92%', [{ value: 0.92 }], 0.92],
    ['### Timber: \r\n**Confidence:** 90%\r\n', [{ value: 0.9, section: 'Timber' }], 0.9],
  ])('%j', (text, found, overall) => {
    const proof = read(text)
    expect(short(proof.confidences)).toEqual(found)
    expect(proof.confidence?.value ?? proof.confidence?.level).toBe(overall)
    for (const { from, value } of proof.confidences) {
      const place = text.slice(from.start, from.end)
      expect(from.origin).toBe('parsed')
      if (value !== undefined) expect(place).toContain(String(value).replace(/^0\./, '').slice(0, 1))
    }
  })

  test.each([
    'Please specify which tool you would like me to use.',
    'the 95% confidence interval',
    'Confidence: 150%',
    'Confidence: 90',
    'Confidence: 2.5',
    'our confidence is high',
    'Confidential: 90%',
    'overconfidence: 90%',
    '1190% confident',
  ])('%j says nothing that can be used', (text) => {
    expect(read(text)).toEqual({ confidences: [], sources: [], regulatoryBasis: [] })
  })
})

describe('text: sources and rules', () => {
  test.each<[text: string, sources: string[], rules: string[]]>([
    ['**Source:** MTBS, Imagery date: 2022-09-15', ['MTBS'], []],
    ['Source: MTBS, Imagery date: 2022-09-15, NOAA, 2021; USGS: streams', ['MTBS', 'NOAA', 'USGS: streams'], []],
    ['Source: USFS (FSM 2520, 2021); NOAA.', ['USFS (FSM 2520, 2021)', 'NOAA'], []],
    ['**Sources:**\n- A b\n- C\n\nText\n- not one', ['A b', 'C'], []],
    ['Burned (Source: A (x), B) badly', ['A (x)', 'B'], []],
    ['(Source: MTBS, Confidence: 92%)', ['MTBS'], []],
    ['**Confidence:** 92% **Source:** MTBS **Note:** x', ['MTBS'], []],
    ['**Source: MTBS**', ['MTBS'], []],
    ['**Regulatory Basis:** 36 CFR 220.6(e)(13)', [], ['36 CFR 220.6(e)(13)']],
    ['**Regulatory Basis:** 36 CFR 220.6(e)(13), FSM 1950', [], ['36 CFR 220.6(e)(13)', 'FSM 1950']],
    ['Resource: none. Open source: yes', [], []],
    ['(Source: never closed, (at all', ['never closed', '(at all'], []],
  ])('%j', (text, sources, rules) => {
    const proof = read(text)
    expect(proof.sources.map((source) => source.text)).toEqual(sources)
    expect(proof.regulatoryBasis.map((rule) => rule.text)).toEqual(rules)
    for (const { text: item, from } of [...proof.sources, ...proof.regulatoryBasis]) {
      // The place of a source includes what the list says of it.
      expect(text.slice(from.start, from.end).startsWith(item)).toBe(true)
    }
  })

  test('a link keeps its address', () => {
    expect(read('Source: [MTBS](https://mtbs.gov/x)').sources).toMatchObject([
      { text: 'MTBS', uri: 'https://mtbs.gov/x' },
    ])
  })
})

test('the sources of several proofs are listed once each, with all who cite them', () => {
  const from = { origin: 'parsed', seq: 1 } as const
  const lists = { confidences: [], citations: [], sources: [], regulatoryBasis: [] }
  const head = { id: 'x', kind: 'answer', run: 'r', seq: 1 } as const
  const cited = citedSources([
    { ...head, ...lists, author: 'a', sources: [{ text: 'MTBS', from }] },
    { ...head, ...lists, author: 'b', citations: [{ source: 'mtbs ', reference: 'cedar-creek', from }] },
    { ...head, ...lists, author: 'c', citations: [{ source: 'MTBS', reference: 'other fire', from }] },
    { ...head, ...lists, author: 'b', sources: [{ text: '"MTBS".', from }] },
  ])
  expect(cited).toEqual([
    { title: 'MTBS', detail: 'cedar-creek', by: ['a', 'b'], from },
    { title: 'MTBS', detail: 'other fire', by: ['c'], from },
  ])
})

describe('text: hostile', () => {
  // Sixteen times the text would cost 256 times the work if it were quadratic. Both are taken in one run, best of five, as time of the processor: other work on the machine does not count.
  test.each<[name: string, unit: string]>([
    ['labels', 'confidence: '],
    ['open parentheses', '(source: '],
    ['bold labels', '**source:** '],
    ['digits behind a label', 'confidence 9'],
    ['stars', 'confidence*'],
    ['spaces', 'source    '],
    ['too large numbers', '150% confident '],
    ['lists', '- a, b (\nsource:\n'],
    ['parentheses', 'source: (((('],
  ])('%s cost linear time and bounded space', (_, unit) => {
    const [small, large] = [unit.repeat(64_000 / unit.length), unit.repeat(1_024_000 / unit.length)]
    const cost = (text: string) => {
      // Processor time: on a busy machine, time on the clock belongs to others too.
      const start = process.cpuUsage().user
      const { confidences, sources, regulatoryBasis } = read(text)
      const spent = (process.cpuUsage().user - start) / 1000
      expect(Math.max(confidences.length, sources.length, regulatoryBasis.length)).toBeLessThanOrEqual(100)
      return spent
    }
    const runs = Array.from({ length: 5 }, () => [cost(small), cost(large)] as const)
    const best = (which: 0 | 1) => Math.min(...runs.map((run) => run[which]))
    expect(best(1) / Math.max(0.5, best(0))).toBeLessThan(100)
  })
})

describe('proof_layer', () => {
  test.each<[value: unknown, reason: RegExp]>([
    [{ confidence: 7 }, /from 0 to 1, not 7/],
    [{ confidence: '0.9' }, /not "0.9"/],
    [{ confidence: -0.1 }, /not -0.1/],
    [{ confidence: Number.NaN }, /not NaN/],
    [{ citations: 'MTBS' }, /citations must be an array/],
    [{ citations: ['MTBS'] }, /citations\[0\] must have a source/],
    [{ citations: [{ source: 'a' }, { reference: 'x' }] }, /citations\[1\]/],
    [{ citations: [{ source: 'a', uri: 4 }] }, /citations\[0\]/],
    [{ reasoning_chain: 'because' }, /reasoning_chain must be an array, not "because"/],
    [{ reasoning_chain: ['a', 2] }, /reasoning_chain\[1\] must be a string, not 2/],
    ['x'.repeat(99), /not "x{40}…"/],
    [[1], /must be an object, not an array/],
    [{ confidence: {} }, /not an object/],
  ])('%j is refused', (value, reason) => {
    const read = readProofLayer(value)
    expect('reason' in read ? read.reason : '').toMatch(reason)
  })

  test('SPEC 5.5: what is not given stays absent, also as null', () => {
    expect(readProofLayer({ confidence: null, citations: null, reasoning_chain: null })).toEqual({ citations: [] })
    expect(readProofLayer({ confidence: 0 })).toEqual({ confidence: 0, citations: [] })
  })
})

describe('where layers are found', () => {
  const layer = { proof_layer: { confidence: 0.5 } }
  test.each<[name: string, response: JsonObject, path: string | undefined]>([
    ['the response', layer, 'proof_layer'],
    ['its result', { result: layer }, 'result.proof_layer'],
    ['JSON in its result', { result: JSON.stringify(layer) }, 'result.proof_layer'],
    ['fenced JSON', { output: `\`\`\`json\n${JSON.stringify(layer)}\n\`\`\`` }, 'output.proof_layer'],
    ['prose that only mentions "proof_layer"', { result: 'the "proof_layer" {"a": 1}' }, undefined],
    ['a null layer', { proof_layer: null }, undefined],
    ['data too deep to be a result', { result: { result: { result: { result: { result: layer } } } } }, undefined],
  ])('%s', (_, response, path) => {
    const state = fold(proofView, [row(1, said([{ functionResponse: { id: 'c', name: 'f', response } }]))])
    expect(proofOfCall(state, 'r', 'c')?.confidence?.from.path).toBe(path)
  })

  test("a specialist's layer inside another result that is no object is refused, not ignored", () => {
    const response = { burn_analyst: { proof_layer: 'high' }, trail_assessor: { proof_layer: null } }
    const state = fold(proofView, [row(1, said([{ functionResponse: { id: 'c', name: 'consult', response } }]))])
    expect(state.proofs.toArray()).toMatchObject([
      { author: 'burn_analyst', refused: { path: 'burn_analyst.proof_layer' } },
    ])
  })

  test('an MCP result is a list of texts', () => {
    const response = { content: [{ type: 'text', text: 'Confidence: 80%' }, { type: 'image' }] }
    const state = fold(proofView, [row(1, said([{ functionResponse: { name: 'f', response } }]))])
    expect(state.proofs.at(0)).toMatchObject({ id: 'r/response/1.0', confidence: { from: { path: 'content.0.text' } } })
  })

  test("an agent's output, and a state replaced as a whole", () => {
    const state = fold(proofView, [
      row(1, said([], { output: layer })),
      row(2, { kind: 'state', patch: [{ op: 'replace', path: '', value: { a: layer, b: 1 } }] }),
      row(3, { kind: 'state', patch: [{ op: 'add', path: '/c/proof_layer', value: { confidence: 9 } }] }),
      row(4, { kind: 'state', patch: [{ op: 'remove', path: '/c' }] }),
    ])
    expect(
      [...state.proofs].map(({ id, confidence, refused }) => [id, confidence?.from.path ?? refused?.path]),
    ).toEqual([
      ['r/message/m1', 'output.proof_layer'],
      ['r/state/2.a', 'a.proof_layer'],
      ['r/state/3.c.proof_layer', 'c.proof_layer'],
    ])
  })
})

describe('the chain', () => {
  test('pairs by name where the wire has no call ids, and forgets steps of superseded messages', () => {
    const call = (name: string) => ({ functionCall: { name } })
    const rows = [
      row(1, said([call('a'), call('a')], {}, 'm1')),
      row(2, said([{ functionResponse: { name: 'a', response: {} } }], {}, 'm2')),
      row(3, said([call('lost')], {}, 'm3')),
      row(4, { kind: 'superseded', messages: ['m3'], nodes: [] }),
      row(5, said([{ text: 'done' }], {}, 'm4')),
    ]
    expect(proofOfMessage(fold(proofView, rows), 'r', 'm4')?.reasoning?.steps).toEqual([
      { text: 'a', asked: 1, answered: 2 },
      { text: 'a', asked: 1 },
    ])
  })

  test('is bounded, and says how much it left out', () => {
    const calls = Array.from({ length: 130 }, (_, i) => ({ functionCall: { id: `c${i}`, name: 'f' } }))
    const state = fold(proofView, [row(1, said(calls)), row(2, said([{ text: 'done' }], {}, 'm2'))])
    const reasoning = proofOfMessage(state, 'r', 'm2')?.reasoning
    expect([reasoning?.steps.length, reasoning?.omitted, reasoning?.steps[0]?.call]).toEqual([100, 30, 'c30'])
  })

  test('a node that answers a call is a specialist', () => {
    const state = fold(proofView, [
      row(1, { kind: 'node.started', node: 'a/b@1', agent: 'b', call: 'c1' }),
      row(2, { ...said([{ text: 'hi' }]), node: 'a/b@1' }),
    ])
    expect(proofOfMessage(state, 'r', 'm1')).toMatchObject({ kind: 'specialist', node: 'a/b@1' })
  })
})

test('the same message id in two runs is two proofs; nothing is kept of a run that is over', () => {
  const rows = ['r1', 'r2'].flatMap((run, i): Recorded[] => [
    { ...row(10 * i + 1, said([{ text: 'half' }], { partial: true })), run },
    { ...row(10 * i + 2, said([{ text: 'whole' }])), run },
    { ...row(10 * i + 3, { kind: 'run.finished', outcome: 'done' }), run },
  ])
  const state = fold(proofView, rows)
  expect([...state.proofs].map(({ id }) => id)).toEqual(['r1/message/m1', 'r2/message/m1'])
  expect([...state.runs]).toEqual([])
})

test('SPEC 5.3: a pruned log gives the same proofs', () => {
  fc.assert(
    fc.property(sessions(), (rows) => {
      expect(printed(fold(proofView, withoutPartials(rows)))).toEqual(printed(fold(proofView, rows)))
    }),
    { numRuns: 100 },
  )
})

function said(parts: readonly AdkPart[], extra: object = {}, message = 'm1'): AgentSaid {
  const event = { id: message, author: 'a', invocationId: 'i', timestamp: 1, content: { parts }, ...extra }
  return { kind: 'agent', event, message }
}

function row(seq: number, event: RunEvent): Recorded {
  return { seq, at: seq, run: 'r', event }
}
