import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { stateAt, stateView } from '../state/index.ts'
import { fold } from '../view.ts'
import { timelineView } from './index.ts'
import { snapshots } from './snapshots.ts'
import type { Timeline } from './state.ts'

const rowsOf = (events: readonly RunEvent[], run = 'r', from = 1): readonly Recorded[] =>
  events.map((event, i) => ({ seq: from + i, at: 1000 * (from + i), run, event }))
const said = (author: string, parts: readonly AdkPart[] = [{ text: 'x' }], more: Partial<AdkEvent> = {}): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: { id: 'e', author, invocationId: 'i', timestamp: 0, content: { parts }, ...more },
})
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [], state: { goal: 'g' } } }
const done: RunEvent = { kind: 'run.finished', outcome: 'done' }
const shape = ({ executions }: Timeline): unknown =>
  executions.toArray().map(({ node, parent, after, via, startSeq, endSeq, status }) => ({
    node,
    ...(parent === undefined ? {} : { parent }),
    via: after.length === 0 ? via : `${via} ${after.join(' ')}`,
    seqs: [startSeq, endSeq],
    status,
  }))

describeView({ describe, expect, test }, timelineView, loadViewVectors('timeline'), {
  matches(line, expected) {
    expect(printed({ ...line, snapshots: snapshots(line) })).toMatchObject(expected)
  },
})

describe('properties', () => {
  test('SPEC 5.3: the result does not depend on whether partials were kept', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        expect(fold(timelineView, withoutPartials(rows))).toEqual(fold(timelineView, rows))
      }),
      { numRuns: 300 },
    )
  })

  test('every run that ended leaves no execution running; ends come after starts; keys are unique', () => {
    fc.assert(
      fc.property(fc.oneof(sessions(), chaos()), (rows) => {
        const line = fold(timelineView, rows)
        const ended = new Set(rows.flatMap(({ run, event }) => (event.kind === 'run.finished' ? [run] : [])))
        const again = new Set(
          rows.flatMap(({ run, event }, i) =>
            (event.kind === 'run.started' || event.kind === 'node.started') &&
            rows.slice(0, i).some((row) => row.run === run && row.event.kind === 'run.finished')
              ? [run]
              : [],
          ),
        )
        const list = line.executions.toArray()
        expect(new Set(list.map(({ key }) => key)).size).toBe(list.length)
        for (const { run, endSeq, startSeq, status, endedAt, startedAt, duration } of list) {
          if (ended.has(run) && !again.has(run)) expect(status).not.toBe('running')
          if (endSeq === undefined) continue
          expect(endSeq).toBeGreaterThanOrEqual(startSeq)
          expect(endedAt).toBeGreaterThanOrEqual(startedAt)
          expect(duration).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('an execution found the state at its start and left the state at its end', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        const log = fold(stateView, rows)
        for (const { inferred, startSeq, endSeq, input, output } of fold(timelineView, rows).executions) {
          expect(input).toEqual(stateAt(log, inferred === true ? startSeq : startSeq - 1))
          if (endSeq !== undefined) expect(output).toEqual(stateAt(log, endSeq))
        }
      }),
      { numRuns: 150 },
    )
  })

  test('a token leaves the same reference, save the first of an agent that has no node', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        let line = timelineView.initial
        for (const row of rows) {
          const next = timelineView.apply(line, row)
          if (row.event.kind === 'agent' && row.event.event.partial === true) {
            expect(next.executions).toBe(line.executions)
            if (row.event.node !== undefined || next.starting.length === line.starting.length) expect(next).toBe(line)
          }
          line = next
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('nodes in the log', () => {
  const start = (node: string, more: Partial<Extract<RunEvent, { kind: 'node.started' }>> = {}): RunEvent => ({
    kind: 'node.started',
    node,
    agent: node.split('@')[0]!.split('/').at(-1)!,
    ...more,
  })
  const end = (node: string): RunEvent => ({ kind: 'node.finished', node, status: 'ok' })

  test('without `after`, a fan-out comes after the step before it and a fan-in after all of it', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        start('a@1'),
        end('a@1'),
        start('b@1'),
        start('c@1'),
        end('b@1'),
        start('d@1'),
        end('c@1'),
        end('d@1'),
        start('e@1'),
        end('e@1'),
        done,
      ]),
    )
    expect(line.executions.toArray().map(({ node, via, after }) => [node, via, after])).toEqual([
      ['a@1', 'start', []],
      ['b@1', 'sequence', ['a@1']],
      ['c@1', 'sequence', ['a@1']],
      ['d@1', 'sequence', ['a@1']],
      ['e@1', 'sequence', ['b@1', 'c@1', 'd@1']],
    ])
  })

  test('a key that a node wrote belongs to it, also if the state changes only after the node ended', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        { kind: 'node.started', node: 'l@1', agent: 'l' },
        { kind: 'node.started', node: 'r@1', agent: 'r' },
        { kind: 'node.finished', node: 'l@1', status: 'ok' },
        { kind: 'state', node: 'l@1', patch: [{ op: 'add', path: '/left', value: 1 }] },
        { kind: 'state', node: 'r@1', patch: [{ op: 'add', path: '/right', value: 2 }] },
        { kind: 'node.finished', node: 'r@1', status: 'ok' },
        done,
      ]),
    )
    expect(line.executions.toArray().map(({ node, wrote }) => [node, wrote.toArray()])).toEqual([
      ['l@1', ['left']],
      ['r@1', ['right']],
    ])
  })

  test('a called specialist is delegated to, not a step after the one called before it', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        start('a@1'),
        start('a/b@1', { parent: 'a@1', call: 'c1' }),
        end('a/b@1'),
        start('a/c@1', { parent: 'a@1', call: 'c2' }),
        end('a/c@1'),
        end('a@1'),
        done,
      ]),
    )
    expect(line.executions.toArray().map(({ node, via, after, parent }) => [node, via, after, parent])).toEqual([
      ['a@1', 'start', [], undefined],
      ['a/b@1', 'delegate', [], 'a@1'],
      ['a/c@1', 'delegate', [], 'a@1'],
    ])
  })

  test('an interrupted step is marked, and its second attempt comes after the same steps as the first', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        start('a@1'),
        end('a@1'),
        start('b@1'),
        { kind: 'superseded', messages: [], nodes: ['b@1', 'b@1', 'none'] },
        start('b@1'),
        end('b@1'),
        done,
      ]),
    )
    expect(
      line.executions.toArray().map(({ key, after, status, superseded }) => [key, after, status, superseded]),
    ).toEqual([
      ['r/a@1', [], 'ok', undefined],
      ['r/b@1', ['a@1'], 'interrupted', true],
      ['r/b@1~6', ['a@1'], 'ok', undefined],
    ])
    expect(snapshots(line).map(({ nodeId }) => nodeId)).toEqual(['a', 'b'])
  })

  test('a question makes its node wait; the end of the run ends the other nodes', () => {
    const open = [
      started,
      start('a@1'),
      start('b@1'),
      { kind: 'interrupt', id: 'i', reason: 'confirmation', node: 'b@1' } as const,
    ]
    expect(
      fold(timelineView, rowsOf(open))
        .executions.toArray()
        .map(({ status }) => status),
    ).toEqual(['running', 'interrupted'])
    const outcomes = { done: 'ok', failed: 'error', cancelled: 'interrupted', interrupted: 'interrupted' } as const
    for (const [outcome, status] of Object.entries(outcomes)) {
      const error = { code: 'agent-error', message: 'why' } as const
      const line = fold(
        timelineView,
        rowsOf([
          ...open,
          { kind: 'run.finished', outcome: outcome as 'done', ...(outcome === 'done' ? {} : { error }) },
          done,
        ]),
      )
      expect(line.executions.toArray().map((each) => [each.status, each.endSeq])).toEqual([
        [status, 5],
        [status, 5],
      ])
      expect(snapshots(line).map((each) => each.status)).toEqual(
        outcome === 'done' ? ['success', 'success'] : ['error', 'error'],
      )
    }
  })

  test('writes without a node go to the running node of their author, and up to its parents when it ends', () => {
    const write = (author: string, key: string): RunEvent => said(author, [], { actions: { stateDelta: { [key]: 1 } } })
    const line = fold(
      timelineView,
      rowsOf([
        started,
        start('a@1'),
        start('a/b@1', { parent: 'a@1' }),
        write('b', 'x'),
        write('nobody', 'y'),
        end('a/b@1'),
        write('b', 'z'),
        done,
      ]),
    )
    expect(line.executions.toArray().map(({ node, wrote }) => [node, [...wrote]])).toEqual([
      ['a@1', ['x']],
      ['a/b@1', ['x']],
    ])
  })
})

describe('a log without nodes', () => {
  test('authors in turn are steps, the same author again is a new execution', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        said('writer'),
        said('critic'),
        said('writer'),
        said('critic', [{ text: 'ok' }], { actions: { escalate: true } }),
        done,
      ]),
    )
    expect(shape(line)).toEqual([
      { node: 'writer@1', via: 'start', seqs: [1, 2], status: 'ok' },
      { node: 'critic@1', via: 'sequence writer@1', seqs: [2, 3], status: 'ok' },
      { node: 'writer@2', via: 'sequence critic@1', seqs: [3, 4], status: 'ok' },
      { node: 'critic@2', via: 'sequence writer@2', seqs: [4, 5], status: 'ok' },
    ])
  })

  test('a transfer is distinguished from a step', () => {
    const hand = said('lead', [{ functionResponse: { name: 'transfer_to_agent', id: 'c' } }], {
      actions: { transferToAgent: 'expert' },
    })
    const line = fold(
      timelineView,
      rowsOf([
        started,
        said('lead', [{ functionCall: { name: 'transfer_to_agent', id: 'c' } }]),
        hand,
        said('expert'),
        done,
      ]),
    )
    expect(shape(line)).toEqual([
      { node: 'lead@1', via: 'start', seqs: [1, 3], status: 'ok' },
      { node: 'expert@1', via: 'transfer lead@1', seqs: [3, 4], status: 'ok' },
    ])
  })

  test('branches fan out from the step before and in to the step after', () => {
    const on = (author: string): RunEvent => said(author, undefined, { branch: `fan.${author}` })
    const line = fold(timelineView, rowsOf([started, said('lead'), on('r1'), on('r2'), on('r1'), said('merger'), done]))
    expect(shape(line)).toEqual([
      { node: 'lead@1', via: 'start', seqs: [1, 2], status: 'ok' },
      { node: 'fan/r1@1', via: 'sequence lead@1', seqs: [2, 5], status: 'ok' },
      { node: 'fan/r2@1', via: 'sequence lead@1', seqs: [2, 4], status: 'ok' },
      { node: 'merger@1', via: 'sequence fan/r1@1 fan/r2@1', seqs: [5, 6], status: 'ok' },
    ])
  })

  test('while a caller waits for its call, others run inside it, on branches or on its own', () => {
    const call = said('lead', [{ functionCall: { name: 'consult', id: 'c' } }])
    const answer = said('lead', [{ functionResponse: { name: 'consult', id: 'c' } }])
    const on = (author: string): RunEvent => said(author, undefined, { branch: `consult@c.${author}@1` })
    const line = fold(
      timelineView,
      rowsOf([started, call, on('b'), on('t'), answer, call, said('x'), said('y'), answer, said('lead'), done]),
    )
    expect(shape(line)).toEqual([
      { node: 'lead@1', via: 'start', seqs: [1, 10], status: 'ok' },
      { node: 'consult/b@1', parent: 'lead@1', via: 'delegate', seqs: [2, 3], status: 'ok' },
      { node: 'consult/t@1', parent: 'lead@1', via: 'delegate', seqs: [2, 4], status: 'ok' },
      { node: 'x@1', parent: 'lead@1', via: 'delegate', seqs: [6, 7], status: 'ok' },
      { node: 'y@1', parent: 'lead@1', via: 'sequence x@1', seqs: [7, 8], status: 'ok' },
    ])
  })

  test('one fan-out right after another', () => {
    const on = (branch: string): RunEvent => said(branch.split('.')[1]!, undefined, { branch })
    const line = fold(timelineView, rowsOf([started, on('f.a'), on('f.b'), on('g.c'), on('g.d'), done]))
    expect(shape(line)).toMatchObject([
      { node: 'f/a@1', via: 'start' },
      { node: 'f/b@1', via: 'start' },
      { node: 'g/c@1', via: 'sequence f/a@1 f/b@1' },
      { node: 'g/d@1', via: 'sequence f/a@1 f/b@1' },
    ])
  })

  test('a failed model call is an error of its execution; a failed run is an error of the agent that was at work', () => {
    const line = fold(
      timelineView,
      rowsOf([
        started,
        said('a', [], { errorCode: '429', errorMessage: 'slow down' }),
        said('b'),
        said('c'),
        { kind: 'run.finished', outcome: 'failed', error: { code: 'timeout', message: 'too long' } },
      ]),
    )
    expect(
      line.executions.toArray().map(({ agent, status, error }) => [agent, status, error?.code, error?.source]),
    ).toEqual([
      ['a', 'error', 'model-error', '429'],
      ['b', 'ok', undefined, undefined],
      ['c', 'error', 'timeout', undefined],
    ])
  })

  test('the first text of an agent shows before it is whole', () => {
    const token = said('a', [{ text: 'x' }], { partial: true })
    const line = fold(timelineView, rowsOf([started, token, token]))
    expect(line.starting).toEqual([{ run: 'r', agent: 'a', branch: '' }])
    expect(fold(timelineView, rowsOf([said('a')], 'r', 9), line).starting).toEqual([])
    expect(fold(timelineView, rowsOf([done], 'r', 9), line).starting).toEqual([])
    expect(
      fold(timelineView, rowsOf([token], 'r', 9), fold(timelineView, rowsOf([said('a')], 'r', 8), line)).starting,
    ).toEqual([])
  })

  test('a log that claims 1,000 branches at once stays bounded', () => {
    const rows = rowsOf([
      started,
      ...Array.from({ length: 1000 }, (_, i) => said(`a${i}`, undefined, { branch: `f.a${i}` })),
    ])
    const line = fold(timelineView, rows)
    expect(line.executions.length).toBe(1000)
    expect(line.executions.toArray().filter(({ status }) => status === 'running').length).toBe(256)
  })
})

test('specialists that speak on branches of their own ran when they were asked, once each', () => {
  const call = (name: string): AdkPart => ({ functionCall: { id: `call-${name}`, name, args: { request: 'x' } } })
  const answer = (name: string): AdkPart => ({ functionResponse: { id: `call-${name}`, name, response: {} } })
  const on = (name: string): RunEvent => said(name, [{ text: 'x' }], { branch: `${name}@call-${name}` })
  const rows = rowsOf([
    started,
    said('a', [{ text: 'Let me ask.' }]),
    said('a', [call('b'), call('c')]),
    on('b'),
    on('c'),
    said('a', [answer('b'), answer('c')]),
    said('a'),
    done,
  ])
  expect(shape(fold(timelineView, rows))).toEqual([
    { node: 'a@1', via: 'start', seqs: [1, 7], status: 'ok' },
    { node: 'b@1', parent: 'a@1', via: 'delegate', seqs: [3, 4], status: 'ok' },
    { node: 'c@1', parent: 'a@1', via: 'delegate', seqs: [3, 5], status: 'ok' },
  ])
})
