import { describe, expect, test } from 'vitest'
import { claimsIn } from './claim.ts'
import type { Evidence } from './evidence.ts'
import { figuresIn } from './figure.ts'
import { claimSupport, supportIn } from './support.ts'

const keys = (text: string) => figuresIn(text).map(({ kind, key }) => `${kind} ${key}`)
const tool = (value: unknown): Evidence => ({ kind: 'tool', name: 'measure', run: 'r', seq: 3, value })
const judged = (text: string, value: unknown) =>
  claimsIn(text).map((claim) => claimSupport(claim, supportIn([tool(value)])))

describe('a figure is the same in every notation', () => {
  test.each([
    ['1.234,5 and 1.234.567', ['number 1234.5', 'number 1234567']],
    ['1\u00a0234 and 1\u202f234\u202f567,8', ['number 1234', 'number 1234567.8']],
    ["1'234.5", ['number 1234.5']],
    ['12,5 % and 0,5 km', ['percent 12.5%', 'number 0.5']],
    ['zones 1,2,3', ['number 1', 'number 2', 'number 3']],
    ['$1.1M and €2.3bn', ['number 1100000', 'number 2300000000']],
    ['500km, 12ha, 3GB and 90min', ['number 500', 'number 12', 'number 3', 'number 90']],
    ['in the 1990s', []],
    ['$5m', ['number 5000000']],
    ['5–10% and 5-10 %', ['percent 5%', 'percent 10%', 'percent 5%', 'percent 10%']],
    ['Sept. 15, 2022 and September 15th, 2022', ['date 2022-09-15', 'date 2022-09-15']],
    ['the 15th of September 2022', ['date 2022-09-15']],
    ['2022-09-15T10:00:00Z', ['date 2022-09-15']],
    ['at 9:05, 09:05:30 and 2:30 pm', ['label 9:05', 'label 9:05', 'label 14:30']],
    ['2022/09/15', ['date 2022-09-15']],
    ['15/09/2022, 9/15/2022 and 15.9.2022.', ['date 2022-09-15', 'date 2022-09-15', 'date 2022-09-15']],
    ['03/05/2024 and 5.3.2024', ['date 2024-03-05 or 2024-05-03', 'date 2024-03-05']],
    ['05/05/2024', ['date 2024-05-05']],
    ['40/40/2024 and 31/02/2024', ['label 40/40/2024', 'label 31/02/2024']],
    ['24/7 and 1/2', ['number 24', 'number 7', 'number 1', 'number 2']],
    ['on Sept. 5, the 5th of March and 12 March', ['date --09-05', 'date --03-05', 'date --03-12']],
    ['In May 12 plots burned', ['number 12']],
    ['March 5.5 and March 2024', ['number 5.5', 'number 2024']],
    ['1,234', ['number 1234']],
    ['1.234', ['number 1.234']],
  ])('%s', (text, wanted) => expect(keys(text)).toEqual(wanted))

  test('the number of a source is no figure of the answer', () => {
    const figures = claimsIn('It burned 4 acres [1], and more [2, 3][^4]; the rest [1,234] is unknown.')
    expect(figures.flatMap((claim) => claim.figures.map(({ text }) => text))).toEqual(['4', '1,234'])
  })
})

describe('a figure is held where it counts the same thing', () => {
  test.each([
    ['- Bridges: 3\n- Roads: 5', { bridges: 3, roads: 5 }],
    ['- **Bridges:** 3', { bridges: 3 }],
    ['The score is 4.', { score: 4 }],
    ['10–20 acres', { from_acres: 10, to_acres: 20 }],
    ['5 kilometers', { distance_km: 5 }],
    ['5km', { value: 5, unit: 'km' }],
    ['42%', { value: 42, unit: '%' }],
    ['3 bridges', '{"bridges": 3}'],
    ['3 bridges', [{ type: 'text', text: '{"counted":{"bridges":3}}' }]],
    ['in 2022', { started: '2022-09-15T10:00:00Z' }],
    ['in 2022', { 2022: { acres: 5 } }],
    ['$12', { cost: 12 }],
    ['$1,200', { cost_usd: 1200 }],
    ['100%', { containment: 100 }],
    ['100%', { share: 1 }],
    ['$1.1M', { net: 1_100_000 }],
    ['10–20 acres', { min_acres: 10, max_acres: 20 }],
    ['It opened on March 5.', { opened: '2024-03-05' }],
    ['It opened on 5 March.', 'opened March 5, 2024'],
    ['It opened on 03/05/2024.', { opened: '2024-03-05' }],
    ['It opened on March 5.', { opened: '03/05/2024' }],
    ['It opened on May 3.', { opened: '03/05/2024' }],
    ['It opened on 9/15/2022.', { opened: '15 September 2022' }],
    ['It opened on March 5, 2024.', 'opened 05.03.2024'],
    ['-5 °C', { temp_c: -5 }],
    ['-5 °C to 12 °C', { temp_min: -5, temperature: 12 }],
    ['12 minutes', { duration_min: 12 }],
  ])('%s in %j', (text, value) => expect(judged(text, value).filter((state) => state !== 'supported')).toEqual([]))

  test.each([
    ['- Bridges: 3\n- Roads: 5', { bridges: 5, roads: 3 }],
    ['12% of the area', { trails: 12 }],
    ['100% contained', { trails: 1 }],
    ['$12', { trails: 12 }],
    ['-5 degrees', { trails: -5 }],
    ['4.0 acres', { trails: 4 }],
    ['1,200 acres', { cost_usd: 1200 }],
    ['1,200 acres', 'It costs $1,200.'],
    ['$1,200', '1,200 acres'],
    ['1,200 km', '1,200 miles'],
    ['42%', '42 acres'],
    ['2,022 acres', { started: '2022-09-15' }],
    ['2:30 pm', { at: '2:30' }],
    ['It opened on March 6.', { opened: '2024-03-05' }],
    ['It opened on March 5, 2024.', 'opened March 5'],
    ['It opened on 03/05/2024.', { opened: '2024-03-06' }],
    ['It opened on 5.3.2024.', { opened: '2024-05-03' }],
    ['5 °C', { temp_f: 5 }],
    ['12 °C', { trails: 12 }],
    ['12 km', { duration_min: 12 }],
  ])('not %s in %j', (text, value) => expect(judged(text, value)).not.toContain('supported'))

  test('results may be JSON in JSON, as deep as they like', () => {
    const deep = `${'['.repeat(20_000)}7${']'.repeat(20_000)}`
    expect(judged('7 acres', deep)).toEqual(['unsupported'])
  })

  test('a long text of odd numbers is read in one pass', () => {
    for (const part of ['1.234,5', "1'234", '1,5 ', '10:30', '5-', '1.234.', '- Aa: ', '[1,', '1/2/', '1.2.2024 ']) {
      const text = part.repeat(50_000)
      expect(claimsIn(text).at(-1)?.end).toBe(text.length)
    }
  })
})
