import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type Agent,
  type CaseSetting,
  caseOfEval,
  caseTape,
  discoverAgents,
  evalOfCase,
  printCase,
  type RecordedCase,
  readCase,
  recordCase,
  recordedAs,
  runRecordedCase,
} from '@millrace/server'
import { afterAll, describe, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'millrace-cases-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function settingOf(folder: string): CaseSetting {
  const tape = caseTape()
  const { agents } = discoverAgents(folder, { models: { tokensPerSecond: 0, tape } })
  return { tape, agent: (name): Agent | undefined => agents.get(name), elapsed: () => performance.now() }
}

/** An agent with two tools, written anew for each test; `edit` plants a change in it. */
function clerk(name: string, edit: (source: string) => string = (source) => source): CaseSetting {
  const source = `
    import { FunctionTool, LlmAgent } from '@google/adk'
    import { call, model, say, z } from '@millrace/server/adk'
    const tool = (name, answer) => new FunctionTool({ name, description: name, parameters: z.object({}), execute: () => answer })
    export const rootAgent = new LlmAgent({
      name: 'clerk',
      model: model({ offline: ({ step, result }) =>
        step === 0 ? call('stock') : step === 1 ? call('price') : say('There are ' + result('stock').pieces + ' pieces.') }),
      instruction: 'You answer questions about the stock.',
      tools: [tool('stock', { pieces: 412 }), tool('price', { euros: 17.5 })],
    })`
  const file = join(root, name, 'clerk/agent.ts')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, edit(source))
  return settingOf(join(root, name))
}

const question = { agent: 'clerk', turns: [{ user: 'How many are there?' }] }

/** The findings of the case on a changed agent. */
async function found(one: RecordedCase, setting: CaseSetting): Promise<readonly string[]> {
  const { findings } = await runRecordedCase(one, setting)
  return findings.map(({ judge, message }) => `${judge}: ${message}`)
}

describe('a recorded run as a test', () => {
  test('is recorded with all judges, passes twice, and reads back as it was written', async () => {
    const setting = clerk('plain')
    const { made, unsteady } = await recordCase(question, setting)
    expect(unsteady).toEqual([])
    expect(made.judge).toEqual({
      trajectory: 'exact',
      response: { text: true },
      figures: true,
      requests: true,
      state: true,
    })
    expect(made.turns[0]?.expect).toEqual({
      outcome: 'done',
      tools: [
        { by: 'clerk', name: 'stock', args: {} },
        { by: 'clerk', name: 'price', args: {} },
      ],
      response: 'There are 412 pieces.',
    })
    expect(made.answers?.clerk).toHaveLength(3)
    expect(readCase(printCase(made), 'x')).toEqual(made)
    const first = await runRecordedCase(made, setting)
    const second = await runRecordedCase(made, setting)
    expect([first.findings, second.findings]).toEqual([[], []])
    expect(first.facts.rows.map(({ event }) => event.kind)).toEqual(second.facts.rows.map(({ event }) => event.kind))
    expect(first.facts).toMatchObject({ calls: 3, cost: 0 })
  })

  test('needs no model: the recorded answers are played', async () => {
    const { made } = await recordCase(question, clerk('with-model'))
    const without = clerk('without-model', (source) =>
      source.replace(/model\(\{ offline[\s\S]*?\}\),\n/, "'gemini-2.5-flash',\n"),
    )
    expect(await found(made, without)).toEqual([])
  })

  test('plays the answers of a model that the author made', async () => {
    const own = (answer: string) => (source: string) =>
      source
        .replace('FunctionTool, LlmAgent', 'BaseLlm, FunctionTool, LlmAgent')
        .replace(
          'export const rootAgent',
          `class OwnLlm extends BaseLlm {
            constructor() { super({ model: 'own' }) }
            async *generateContentAsync() { ${answer} }
            async connect() { throw new Error('not here') }
          }
          export const rootAgent`,
        )
        .replace(/model: model\([\s\S]*?\}\),\n/, 'model: new OwnLlm(),\n')
    const says = "yield { content: { role: 'model', parts: [{ text: 'There are some.' }] } }"
    const { made } = await recordCase(question, clerk('own', own(says)))
    expect(made.answers?.clerk?.[0]?.parts).toEqual([{ text: 'There are some.' }])
    expect(await found(made, clerk('own-gone', own("throw new Error('the model was called')")))).toEqual([])
  })

  test('counts the model calls that cannot be played: those of a chat model that a graph makes itself', async () => {
    const file = join(root, 'graphs/talker/agent.ts')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(
      file,
      `import { FakeListChatModel } from '@langchain/core/utils/testing'
      import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
      const chat = new FakeListChatModel({ responses: ['Hello.'] })
      export const graph = new StateGraph(MessagesAnnotation)
        .addNode('talk', async ({ messages }) => ({ messages: [await chat.invoke(messages)] }))
        .addEdge('__start__', 'talk')
        .compile()`,
    )
    const { made, verdict } = await recordCase(
      { agent: 'talker', turns: [{ user: 'Hi' }] },
      settingOf(join(root, 'graphs')),
    )
    expect([verdict.unplayable, made.turns[0]?.expect?.response]).toEqual([1, 'Hello.'])
    const { verdict: own } = await recordCase(question, clerk('played'))
    expect(own.unplayable).toBe(0)
  })

  test('finds a longer prompt, and names the agent and the call', async () => {
    const { made } = await recordCase(question, clerk('short-prompt'))
    const longer = clerk('long-prompt', (source) =>
      source.replace('about the stock.', 'about the stock. Be brief and kind.'),
    )
    const findings = await found(made, longer)
    expect(findings).toHaveLength(3)
    expect(findings[0]).toMatch(
      /^requests: clerk, model call 1: its instruction changed \(the prompt has \d+ words, \d+ when recorded\)$/,
    )
  })

  test('finds a changed figure, and names the tool and the figure', async () => {
    const { made } = await recordCase(question, clerk('old-figure'))
    const findings = await found(
      made,
      clerk('new-figure', (source) => source.replace('412', '398')),
    )
    expect(findings).toContain('figures: no tool answered with 412')
    expect(findings).toContain('requests: clerk, model call 2: the answer of stock changed (message 3 of 3)')
  })

  test('finds another order of tools in a live run', async () => {
    const { made } = await recordCase(question, clerk('old-order'))
    const swapped = clerk('new-order', (source) =>
      source.replace(
        "step === 0 ? call('stock') : step === 1 ? call('price')",
        "step === 0 ? call('price') : step === 1 ? call('stock')",
      ),
    )
    const { findings } = await runRecordedCase(made, { ...swapped, live: true })
    expect(findings).toEqual([
      {
        judge: 'trajectory',
        turn: 1,
        message:
          'the same tools were called in another order: clerk → price({}), clerk → stock({}); expected clerk → stock({}), clerk → price({})',
      },
    ])
  })

  test('finds a tool that is gone, and a changed description of one', async () => {
    const { made } = await recordCase(question, clerk('old-tools'))
    const without = await found(
      made,
      clerk('no-tool', (source) => source.replace(", tool('price', { euros: 17.5 })", '')),
    )
    expect(without[0]).toBe('requests: clerk, model call 1: its tools changed (a name, a description or a parameter)')
  })

  test('an update takes the run as it is now', async () => {
    const { made } = await recordCase(question, clerk('before'))
    const setting = clerk('after', (source) => source.replace('412', '398'))
    const verdict = await runRecordedCase(made, setting)
    const updated = recordedAs(made, verdict)
    // The recorded answer still has the old figure: only a live run gets another.
    expect(await found(updated, setting)).toEqual(['figures: no tool answered with 412'])
  })

  test('an assertion in TypeScript judges too', async () => {
    const setting = clerk('asserted')
    const { made } = await recordCase(question, setting)
    const guide = readFileSync(new URL('../../../../docs/testing-agents.md', import.meta.url), 'utf8')
    writeFileSync(join(root, 'polite.ts'), /^```ts\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? '')
    const one: RecordedCase = { ...made, judge: { ...made.judge, assert: './polite.ts' } }
    expect(await found(one, { ...setting, file: join(root, 'one.case.json') })).toEqual(['assert: is not polite'])
  })

  test('judges budgets, parts of the text and the shape of JSON', async () => {
    const setting = clerk('budget')
    const { made } = await recordCase(question, setting)
    const judge = { budget: { calls: 2, tokens: 1 }, response: { contains: ['pallets'], json: { type: 'object' } } }
    const findings = await found({ ...made, judge }, setting)
    expect(findings[0]).toBe('response: does not contain “pallets”')
    expect(findings[1]).toBe('response: is not JSON')
    expect(findings[2]).toMatch(/^budget: tokens: \d+, the budget is 1$/)
    expect(findings[3]).toBe('budget: model calls: 3, the budget is 2')
  })

  test('goes to ADK’s form and back', async () => {
    const setting = clerk('adk')
    const { made } = await recordCase(question, setting)
    const back = caseOfEval(evalOfCase(made, 'one', 5), 'clerk')
    expect(back.turns[0]?.expect?.tools).toEqual([
      { name: 'stock', args: {} },
      { name: 'price', args: {} },
    ])
    expect((await runRecordedCase(back, { ...setting, live: true })).findings).toEqual([])
    await expect(runRecordedCase(back, setting)).rejects.toThrow('has no recorded answers')
  })
})
