import { type AdkPart, blocks, fold, type Recorded, type RunEvent, transcriptView } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowMaker } from './rows.ts'
import { isVisible } from './visible-parts.ts'

/** Turns of a lead with two parallel helpers. The lead's tool call is answered one turn later. */
function session(turns: number): readonly Recorded[] {
  const rows: Recorded[] = []
  for (let turn = 0; turn < turns; turn++) {
    const run = `r${turn}`
    const add = (event: RunEvent): void => void rows.push({ seq: rows.length + 1, at: rows.length, run, event })
    const say = (author: string, node: string, parts: readonly AdkPart[], partial = false): void =>
      add({
        kind: 'agent',
        message: `${author}-${turn}`,
        node,
        event: {
          id: `e${rows.length}`,
          author,
          invocationId: run,
          timestamp: 1,
          content: { role: 'model', parts: [...parts] },
          ...(partial ? { partial } : {}),
        },
      })
    add({ kind: 'run.started', agent: 'lead', input: { messages: [] } })
    add({ kind: 'node.started', node: 'lead@1', agent: 'lead' })
    say('lead', 'lead@1', [{ functionCall: { id: `c${turn}`, name: 'ask', args: {} } }])
    for (const name of ['a', 'b']) add({ kind: 'node.started', node: `lead/${name}@1`, agent: name, parent: 'lead@1' })
    for (const name of ['a', 'b', 'a', 'b']) say(name, `lead/${name}@1`, [{ text: 'word ' }], true)
    for (const name of ['a', 'b']) say(name, `lead/${name}@1`, [{ text: 'word word' }])
    if (turn > 0)
      say('lead', 'lead@1', [{ functionResponse: { id: `c${turn - 1}`, name: 'ask', response: { ok: true } } }])
    add({ kind: 'node.finished', node: 'lead@1', status: 'ok' })
    add({ kind: 'run.finished', outcome: 'done' })
  }
  return rows
}

test('the rows at any moment equal those built from scratch, whatever was built before', () => {
  const rows = session(9)
  fc.assert(
    fc.property(fc.array(fc.nat(rows.length), { minLength: 1, maxLength: 20 }), (moments) => {
      const rowsAt = rowMaker()
      let state = transcriptView.initial
      const states = [state, ...rows.map((row) => (state = transcriptView.apply(state, row)))]
      for (const moment of moments) {
        const shared = states[moment] ?? state
        const alone = fold(transcriptView, rows.slice(0, moment))
        const expected = blocks(alone).filter((block) => block.kind === 'lanes' || isVisible(block.item))
        expect(rowsAt(shared)).toEqual(expected)
      }
    }),
  )
})

test('a token rebuilds only its own row', () => {
  const rows = session(3)
  const rowsAt = rowMaker()
  const end = rows.findLastIndex(({ event }) => event.kind === 'agent' && event.event.partial === true)
  const before = fold(transcriptView, rows.slice(0, end))
  const row = rows[end]
  if (row === undefined) throw new Error('no token')
  const first = rowsAt(before)
  const second = rowsAt(transcriptView.apply(before, row))
  expect(second.length).toBe(first.length)
  expect(second.filter((each, i) => each !== first[i]).map(({ kind }) => kind)).toEqual(['lanes'])
})

test('text comes before the error that ended it, and the error is told once', () => {
  const said = (message: string, more: object): RunEvent => ({
    kind: 'agent',
    message,
    event: { id: message, author: 'lead', invocationId: 'r', timestamp: 1, ...more },
  })
  const error = { code: 'model-error', message: 'too many requests' } as const
  const events: readonly RunEvent[] = [
    { kind: 'run.started', agent: 'lead', input: { messages: [] } },
    said('text', { partial: true, content: { role: 'model', parts: [{ text: 'The fire' }] } }),
    said('odd', { errorCode: 'NOTE', errorMessage: 'a tool was slow' }),
    said('end', { errorCode: '429', errorMessage: error.message }),
    { kind: 'run.finished', outcome: 'failed', error },
  ]
  const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event }))
  const shown = (count: number) =>
    rowMaker()(fold(transcriptView, rows.slice(0, count))).flatMap((block) =>
      block.kind === 'item' ? [block.item] : [],
    )
  const names = (count: number): readonly string[] =>
    shown(count).map((item) => (item.kind === 'message' ? item.id : item.kind))
  expect(names(4)).toEqual(['text', 'odd', 'end'])
  expect(names(5)).toEqual(['text', 'odd', 'end'])
  expect(shown(5).filter((item) => 'error' in item && item.error?.message === error.message)).toHaveLength(1)
})
