import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import {
  begun,
  chunk,
  decode,
  ended,
  events,
  foldState,
  rows,
  said,
  textOf,
} from '../../../../../test/kit/studio-wire.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { encodeAll } from '../../testing/index.ts'
import { studio } from './index.ts'

describe('joining at the live end', () => {
  const node = (id: string): RunEvent => ({ kind: 'node.started', node: id, agent: id.replace('@1', '') })
  const heard = (list: readonly RunEvent[], ...more: Frame[]): readonly RunEvent[] => {
    const encoder = studio.encoder({ session: 's' })
    for (const row of rows(list)) encoder.push(row)
    return events([...encoder.prelude(), ...more])
  }
  const by = (id: string, event: RunEvent): RunEvent => ({ ...event, node: id }) as RunEvent

  test('text continues in its node, whichever node started last', () => {
    const list = heard([begun, node('a@1'), by('a@1', said('a', 'Hel', { partial: true })), node('b@1')], chunk('B'))
    expect(list.filter((event) => event.kind === 'agent' && event.event.partial !== true)).toMatchObject([
      { node: 'a@1', event: { content: { parts: [{ text: 'Hel' }] } } },
      { node: 'b@1', event: { content: { parts: [{ text: 'B' }] } } },
    ])
  })
  test('thoughts so far are printed as thoughts, and nothing is printed when no node speaks', () => {
    const thinks = said('a', 'hm', { partial: true })
    const thought = {
      ...thinks,
      event: { ...(thinks as { event: object }).event, content: { parts: [{ text: 'hm', thought: true }] } },
    }
    expect(heard([begun, node('a@1'), by('a@1', thought as RunEvent)])[2]).toMatchObject({
      event: { partial: true, content: { parts: [{ text: 'hm', thought: true }] } },
    })
    expect(heard([begun, node('a@1')]).map(({ kind }) => kind)).toEqual(['run.started', 'node.started', 'run.finished'])
    expect(heard([begun]).map(({ kind }) => kind)).toEqual(['run.started', 'run.finished'])
  })
})

describe('hostile input', () => {
  test('JSON 20,000 deep is foreign, 10 MB of text is text', () => {
    const deep = `{"type":"done","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expect(events([{ event: 'trace', data: deep }])[1]).toMatchObject({ kind: 'foreign', reason: expect.any(String) })
    const long = 'x'.repeat(10_000_000)
    expect(textOf(events([chunk(long)]))).toBe(long)
  })

  test('no log throws', () => {
    fc.assert(
      fc.property(chaos(), (log) => {
        expect(() => decode(encodeAll(studio, log))).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })

  test('parallel agents never mix, whole runs keep state and outcome', () => {
    fc.assert(
      fc.property(sessions(), (some) => {
        const last = some.at(-1)!
        const log = last.event.kind === 'run.finished' ? some : [...some, { ...last, seq: last.seq + 1, event: ended }]
        const list = events(encodeAll(studio, log))
        expect(list.filter(({ kind }) => kind === 'foreign')).toEqual([])
        for (const event of list) {
          if (event.kind !== 'agent' || event.event.partial === true) continue
          const spoken = textOf([event])
          expect(new Set(spoken).size).toBeLessThanOrEqual(1)
        }
        expect([...textOf(list)].sort().join('')).toBe([...spokenIn(log)].sort().join(''))
        expect(foldState(list)).toEqual(foldState(log.map(({ event }) => event)))
        const outcomes = list.flatMap((event) => (event.kind === 'run.finished' ? [event.outcome] : []))
        const expected = outcomesOf(log)
        expect(outcomes.map((outcome, i) => expected[i] ?? outcome)).toEqual(outcomes)
        expect(outcomes).toHaveLength(expected.length)
      }),
      { numRuns: 300 },
    )
  })
})

/** The outcome of each run; undefined for one that did not end. */
function outcomesOf(log: readonly Recorded[]): (string | undefined)[] {
  const outcomes = new Map<string, string | undefined>()
  for (const { run, event } of log) outcomes.set(run, event.kind === 'run.finished' ? event.outcome : outcomes.get(run))
  return [...outcomes.values()]
}

/** The text of each message once: its aggregate, or its partials where there is none. */
function spokenIn(log: readonly Recorded[]): string {
  const messages = new Map<string, string>()
  const whole = new Set<string>()
  for (const { run, event } of log) {
    if (event.kind !== 'agent') continue
    const key = `${run} ${event.message}`
    const text = (event.event.content?.parts ?? [])
      .map((part) => (part.thought === true ? '' : (part.text ?? '')))
      .join('')
    if (event.event.partial !== true && text !== '') {
      messages.set(key, text)
      whole.add(key)
    } else if (!whole.has(key)) messages.set(key, (messages.get(key) ?? '') + text)
  }
  return [...messages.values()].join('')
}
