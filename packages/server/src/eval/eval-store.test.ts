import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EvalSet, EvalSetResult } from './eval-set.ts'
import { type EvalStore, memoryEvalStore } from './eval-store.ts'
import { fileEvalStore } from './file-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'millrace-evals-'))
afterAll(() => rmSync(folder, { recursive: true }))
const owner = { user: '', app: 'clerk' }
const setOf = (evalSetId: string, ...ids: readonly string[]): EvalSet => ({
  evalSetId,
  evalCases: ids.map((evalId) => ({ evalId, conversation: [], creationTimestamp: 2 })),
  creationTimestamp: 1,
})
const result: EvalSetResult = {
  evalSetResultId: 'clerk_one_17.5',
  evalSetResultName: 'clerk_one_17.5',
  evalSetId: 'one',
  evalCaseResults: [],
  creationTimestamp: 17.5,
}

describe.each<[string, () => EvalStore]>([
  ['memory', memoryEvalStore],
  ['files', () => fileEvalStore(join(folder, 'contract'))],
])('a store in %s', (_, open) => {
  let store: EvalStore
  beforeAll(() => {
    store = open()
  })

  test('has nothing at first', async () => {
    expect([await store.sets(owner), await store.results(owner)]).toEqual([[], []])
    expect([await store.set(owner, 'one'), await store.result(owner, 'r')]).toEqual([undefined, undefined])
  })

  test('keeps sets and results of each user and app apart', async () => {
    await store.change(owner, 'one', () => setOf('one', 'a'))
    await store.change({ ...owner, user: 'ann' }, 'two', () => setOf('two'))
    await store.saveResult(owner, result)
    expect(await store.sets(owner)).toEqual(['one'])
    expect(await store.sets({ ...owner, user: 'ann' })).toEqual(['two'])
    expect(await store.sets({ ...owner, app: 'other' })).toEqual([])
    expect(await store.set(owner, 'one')).toEqual(setOf('one', 'a'))
    expect(await store.results(owner)).toEqual(['clerk_one_17.5'])
    expect(await store.result(owner, 'clerk_one_17.5')).toEqual(result)
    expect(await store.result({ ...owner, user: 'ann' }, 'clerk_one_17.5')).toBeUndefined()
  })

  test('loses no edit of two at the same time, and none after one that throws', async () => {
    const add = (id: string) =>
      store.change(owner, 'one', (before) => ({
        ...setOf('one'),
        evalCases: [...(before?.evalCases ?? []), ...setOf('', id).evalCases],
      }))
    const refused = store
      .change(owner, 'one', () => {
        throw new Error('refused')
      })
      .catch((error: Error) => error.message)
    await Promise.all([add('b'), refused, add('c')])
    expect(await refused).toBe('refused')
    expect((await store.set(owner, 'one'))?.evalCases.map(({ evalId }) => evalId)).toEqual(['a', 'b', 'c'])
  })

  test('forgets one user and keeps the others', async () => {
    const ann = { ...owner, user: 'ann/..' }
    await store.change(ann, 'two', () => setOf('two'))
    await store.saveResult({ ...ann, app: 'other' }, result)
    await store.change({ ...owner, user: 'bob' }, 'three', () => setOf('three'))
    await store.forgetUser('ann/..')
    expect([await store.sets(ann), await store.results({ ...ann, app: 'other' })]).toEqual([[], []])
    expect(await store.sets({ ...owner, user: 'bob' })).toEqual(['three'])
    expect(await store.sets(owner)).toEqual(['one'])
  })

  test('removes a set', async () => {
    await store.change(owner, 'one', () => undefined)
    expect(await store.sets(owner)).toEqual([])
  })

  test.each(['..', '../up', 'a/b', '.hidden', 'a\\b', 'a b', '%2e'])('takes %j as a name', async (name) => {
    await store.change({ user: name, app: name }, name, () => setOf('odd'))
    expect(await store.sets({ user: name, app: name })).toEqual([name])
  })
})

describe('files', () => {
  test.each([
    ['too long', 'x'.repeat(300)],
    ['too long once it is written as a path', 'ü'.repeat(100)],
    ['half a character', '\ud800'],
  ])('a name that is %s is refused with a sentence', async (_name, name) => {
    const store = fileEvalStore(join(folder, 'contract'))
    await expect(store.set(owner, name)).rejects.toMatchObject({ code: 'invalid' })
    await expect(store.change(owner, name, () => setOf('odd'))).rejects.toMatchObject({ code: 'invalid' })
    await expect(store.change(owner, 'fine', () => undefined)).resolves.toBeUndefined()
  })

  test('no name leads out of the folder', () => expect(readdirSync(folder)).toEqual(['contract']))

  test('sets that ADK wrote, in snake_case, with nulls, and with the events of its newer versions, are read', async () => {
    mkdirSync(join(folder, 'adk', 'clerk'), { recursive: true })
    const file = join(folder, 'adk', 'clerk', 'home.evalset.json')
    const turn = {
      invocation_id: 'i',
      user_content: { parts: [{ text: 'hi' }], role: 'user' },
      final_response: { parts: [{ text: 'ho' }], role: null },
      intermediate_data: {
        tool_uses: [{ id: null, name: 'look', args: { at_once: true } }],
        intermediate_responses: [],
      },
      creation_timestamp: 3.5,
    }
    const cases = [
      { eval_id: 'c', conversation: [turn], session_input: { app_name: 'clerk', user_id: 'u', state: {} } },
    ]
    writeFileSync(file, JSON.stringify({ eval_set_id: 'home', name: 'Home', eval_cases: cases, creation_timestamp: 3 }))
    const store = fileEvalStore(join(folder, 'adk'))
    expect(await store.sets(owner)).toEqual(['home'])
    expect((await store.set(owner, 'home'))?.evalCases[0]).toMatchObject({
      evalId: 'c',
      sessionInput: { appName: 'clerk', userId: 'u' },
      conversation: [
        {
          userContent: { role: 'user', parts: [{ text: 'hi' }] },
          finalResponse: { parts: [{ text: 'ho' }] },
          intermediateData: { toolUses: [{ name: 'look', args: { at_once: true } }] },
        },
      ],
    })
    const said = (author: string, part: object) => ({ author, content: { role: 'model', parts: [part] } })
    const events = [
      said('clerk', { function_call: { id: 'f', name: 'look', args: { at_once: true } }, text: null }),
      said('clerk', { function_response: { id: 'f', name: 'look', response: {} } }),
      said('scout', { text: 'on the way' }),
      { author: 'clerk', content: null },
    ]
    const newer = { ...turn, intermediate_data: { invocation_events: events }, rubrics: null }
    const scenario = { eval_id: 's', conversation: null, conversation_scenario: { starting_prompt: 'hi' } }
    const unnamed = {
      eval_set_id: 'home',
      name: null,
      description: null,
      eval_cases: [{ eval_id: 'n', conversation: [newer], session_input: null }, scenario],
    }
    writeFileSync(file, JSON.stringify(unnamed))
    expect((await store.set(owner, 'home'))?.evalCases).toMatchObject([
      {
        conversation: [
          {
            intermediateData: {
              toolUses: [{ name: 'look', args: { at_once: true } }],
              intermediateResponses: [['scout', [{ text: 'on the way' }]]],
            },
          },
        ],
      },
      { evalId: 's', conversation: [] },
    ])
    writeFileSync(file, '{"eval_set_id": 1}')
    await expect(store.set(owner, 'home')).rejects.toThrow(/home\.evalset\.json is no evaluation set: evalSetId: /)
    writeFileSync(file, '{')
    await expect(store.set(owner, 'home')).rejects.toThrow(/is not JSON: correct it or delete it/)
  })
})
