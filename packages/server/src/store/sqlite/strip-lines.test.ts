import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PartialForm } from '@millrace/core'
import fc from 'fast-check'
import Database from 'libsql'
import { afterAll, describe, expect, test } from 'vitest'
import { PrintedPartial } from '../../agent/printed-partial.ts'
import { sqliteLog } from './log.ts'
import { eventsOfStrip, stripOf } from './strip-lines.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-strip-lines-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const said = (text: string): string =>
  JSON.stringify({ kind: 'agent', event: { author: 'a', content: { parts: [{ text }] } }, message: 'm' })

describe('the lines of a strip', () => {
  test('give back every event, and no line has half of a surrogate pair', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u{1f30a}', '\u{1f30b}', '\u{1f40a}', '7 7 ', '{', ''),
    )
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (texts) => {
        const events = texts.map(said)
        const strip = stripOf(events)
        expect(eventsOfStrip(strip)).toEqual(events)
        expect(Buffer.from(strip).toString()).toBe(strip)
      }),
    )
  })
  test('have once what the events have in common', () => {
    const strip = stripOf(['one', 'two', 'three'].map(said)).split('\n')
    expect(strip[0]).toBe(said('one'))
    expect(strip.slice(1).map((line) => line.replace(/^\d+ \d+ /, ''))).toEqual(['two', 'thre'])
    expect(Math.max(...strip.slice(1).map(({ length }) => length))).toBeLessThan(20)
  })
  test('keep an event whole that has little in common with the first', () => {
    expect(stripOf(['{"a":1}', '{"a":2}'])).toBe('{"a":1}\n{"a":2}')
  })
})

test('partials that share their form are stored with their own text only, and read back whole', async () => {
  const folder = join(root, 'formed')
  const log = await sqliteLog({ folder, now: () => 5 })
  await log.create({ id: 's', user: 'u', agent: 'a' })
  const forms: readonly PartialForm[] = ['m', 'm', 'n'].map((message) => ({
    head: '{"kind":"agent","event":{"author":"a","invocationId":"r","timestamp":',
    tail: `},"message":"${message}"}`,
  }))
  const partials = forms.flatMap((form, i) =>
    ['so ', "it's ", '\u{1f30a} '].map((text) => {
      const own = `1,"id":"e","content":{"parts":[{"text":${JSON.stringify(text)}}]},"partial":true`
      return PrintedPartial.formed(form, own, i === 2 ? 'n' : 'm', undefined)
    }),
  )
  await log.append(
    's',
    partials.map((event) => ({ run: '', event, printed: event })),
  )
  const texts = partials.map(({ text }) => text)
  expect((await log.readRaw('s', { after: 0 })).map(({ body }) => body)).toEqual(texts)
  await log.close()
  const file = new Database(join(folder, 'millrace.db'), {})
  const stored = file.prepare('SELECT mark, body FROM event ORDER BY seq').raw().all([]) as [number, string][]
  file.close()
  expect(stored.map(([mark]) => mark)).toEqual([-6, -3])
  expect(stored.map(([, body]) => body.split('\n').filter((line) => line.startsWith('{')).length)).toEqual([1, 1])
  const again = await sqliteLog({ folder, now: () => 5 })
  expect((await again.readRaw('s', { after: 0 })).map(({ body }) => body)).toEqual(texts)
  await again.close()
})
