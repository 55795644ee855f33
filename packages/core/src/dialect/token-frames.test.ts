import { describe, expect, test } from 'vitest'
import { loadVectors } from '../../../../test/kit/vectors.ts'
import type { Draft } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import { agUi } from './ag-ui/index.ts'
import type { Dialect } from './dialect.ts'
import { planDialect } from './plan/index.ts'

/** Tokens as servers print them are read without JSON.parse. A space before the JSON makes it go the general way. */
const spaced = (frame: Frame): Frame => (frame.data === '' ? frame : { ...frame, data: ` ${frame.data}` })

function drafts(dialect: Dialect, frames: readonly Frame[]): readonly Draft[] {
  const decoder = dialect.decoder({ run: 'r' })
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]
}

/** What could not be read is kept as it came, with the space. */
function unspaced(draft: Draft): Draft {
  const { event } = draft
  return event.kind === 'foreign'
    ? { ...draft, event: { ...event, raw: event.raw.replace(/(^|data: ) /, '$1') } }
    : draft
}

describe.each([
  ['ag-ui', agUi],
  ['plan', planDialect],
] as const)('%s', (name, dialect) => {
  test.each(loadVectors(name).map((vector) => [vector.name, vector.wire] as const))(
    '%s is read alike by the short way and by the general one',
    (_name, wire) => {
      const isText = wire.filter(({ data }) => !data.startsWith(' '))
      expect(drafts(dialect, isText)).toEqual(drafts(dialect, isText.map(spaced)).map(unspaced))
    },
  )
})

const frame = (data: object): Frame => ({ data: JSON.stringify(data) })

test('ag-ui: tokens of two messages, with escapes, and what comes between them', () => {
  const open = (messageId: string): Frame => frame({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
  const token = (messageId: string, delta: string): Frame => frame({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
  const wire = [
    frame({ type: 'RUN_STARTED', threadId: 't', runId: 'r' }),
    open('m1'),
    open('m"2'),
    ...['one ', 'two ', 'a\n"quote" ', 'Überblick '].flatMap((text) => [token('m1', text), token('m1', text)]),
    token('m"2', 'other '),
    token('m"2', 'and more '),
    token('m1', 'again '),
    token('m1', ''),
    frame({ type: 'TEXT_MESSAGE_END', messageId: 'm1' }),
    token('m1', 'too late'),
    { ...token('m"2', 'cut'), truncated: true } as const,
    frame({ type: 'TEXT_MESSAGE_END', messageId: 'm"2' }),
  ]
  const read = drafts(agUi, wire)
  expect(read).toEqual(drafts(agUi, wire.map(spaced)).map(unspaced))
  expect(read.flatMap(({ event }) => (event.kind === 'foreign' ? event.reason : []))).toEqual([
    'no text message m1 is open here',
    'the frame is too long',
  ])
})

test('plan: tokens with and without a task, with another event line, and one that is too long', () => {
  const content = (text: string, more: object = {}): Frame => frame({ type: 'content', content: text, ...more })
  const wire: readonly Frame[] = [
    content('one '),
    content('two '),
    content('of a task ', { taskId: 't1' }),
    content('of none again '),
    { ...content('named '), event: 'content' },
    { ...content('named as SSE does '), event: 'message' },
    { ...content('another name '), event: 'done' },
    { ...content('cut '), truncated: true },
    frame({ type: 'done' }),
    content('of the next run '),
  ]
  const read = drafts(planDialect, wire)
  expect(read).toEqual(drafts(planDialect, wire.map(spaced)).map(unspaced))
  expect(read.flatMap(({ event }) => (event.kind === 'foreign' ? event.reason : []))).toEqual([
    'event and type differ',
    'the frame is too long',
  ])
})
