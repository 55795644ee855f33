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

/** A chat model of the author: it calls a tool, then says what it saw. */
function chatModel({ stream, gone = false }: { readonly stream: boolean; readonly gone?: boolean }): string {
  const ends =
    "response_metadata: { model_name: 'chatty-1', finish_reason: 'stop' }, usage_metadata: { input_tokens: 5, output_tokens: 7, total_tokens: 12 }"
  const call = "{ type: 'tool_call', id: 'call_1', name: 'look', args: { at: 'sky' } }"
  const asked = gone
    ? "throw new Error('the model was called')"
    : "const isAnswered = messages.at(-1).getType() === 'tool'"
  const streams = `async *_streamResponseChunks(messages, _options, run) {
    ${asked}
    const texts = isAnswered ? ['It is', ' blue', ' today.'] : ['']
    for (const [i, text] of texts.entries()) {
      const piece = isAnswered ? {} : { tool_call_chunks: [{ index: 0, id: 'call_1', name: 'look', args: '{"at":"sky"}' }] }
      const last = isAnswered && i === texts.length - 1 ? { ${ends} } : {}
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ id: isAnswered ? 'm2' : 'm1', content: text, ...piece, ...last }) })
      yield chunk
      await run?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }`
  return `
    import { BaseChatModel } from '@langchain/core/language_models/chat_models'
    import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
    import { ChatGenerationChunk } from '@langchain/core/outputs'
    class Chatty extends BaseChatModel {
      _llmType() { return 'chatty' }
      async _generate(messages) {
        ${asked}
        const message = isAnswered ? new AIMessage({ content: 'It is blue today.', ${ends} }) : new AIMessage({ content: '', tool_calls: [${call}] })
        return { generations: [{ text: message.text, message }] }
      }
      ${stream ? streams : ''}
    }
    const chat = new Chatty({})`
}

/** A graph whose author brings a chat model. */
function talker(name: string, model: string): CaseSetting {
  const file = join(root, name, 'talker/agent.ts')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(
    file,
    `${model}
    import { ToolMessage } from '@langchain/core/messages'
    import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
    export const graph = new StateGraph(MessagesAnnotation)
      .addNode('talk', async ({ messages }) => ({ messages: [await chat.invoke(messages)] }))
      .addNode('look', ({ messages }) => ({ messages: messages.at(-1).tool_calls.map(({ id, name }) => new ToolMessage({ content: 'blue', tool_call_id: id, name })) }))
      .addEdge('__start__', 'talk')
      .addConditionalEdges('talk', ({ messages }) => (messages.at(-1).tool_calls.length > 0 ? 'look' : '__end__'), ['look', '__end__'])
      .addEdge('look', 'talk')
      .compile()`,
  )
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

  test('plays the answers of a chat model that a graph makes itself, and keeps its state steady', async () => {
    const { made, verdict, unsteady } = await recordCase(
      { agent: 'talker', turns: [{ user: 'Hi' }] },
      talker('graph-own', chatModel({ stream: false })),
    )
    expect([verdict.unplayable, unsteady]).toEqual([0, []])
    expect(made.judge).toMatchObject({ requests: true, state: true })
    const [call, end] = made.answers?.talk ?? []
    expect(call).toMatchObject({
      parts: [{ functionCall: { name: 'look', args: { at: 'sky' } } }],
      message: { content: '', tool_calls: [{ id: 'call_1', name: 'look' }] },
    })
    expect(end).toMatchObject({ model: 'chatty-1', finish: 'stop', usage: { totalTokenCount: 12 } })
    expect(end?.parts).toEqual([{ text: 'It is blue today.' }])
    const gone = talker('graph-gone', chatModel({ stream: false, gone: true }))
    const again = await runRecordedCase(made, gone)
    expect([again.findings, again.unplayable, again.facts.tokens]).toEqual([[], 0, 12])
    // What a newer version of the agent streams is played in one piece.
    expect(await found(made, talker('graph-streams', chatModel({ stream: true, gone: true })))).toEqual([])
  })

  test('plays what such a model streamed, chunk by chunk', async () => {
    const { made, unsteady } = await recordCase(
      { agent: 'talker', turns: [{ user: 'Hi' }] },
      talker('stream-own', chatModel({ stream: true })),
    )
    expect(unsteady).toEqual([])
    expect(made.answers?.talk?.[1]?.chunks).toContain(' blue')
    const gone = talker('stream-gone', chatModel({ stream: true, gone: true }))
    const { findings, facts } = await runRecordedCase(made, gone)
    expect(findings).toEqual([])
    const partials = facts.rows.flatMap(({ event }) =>
      event.kind === 'agent' && event.event.partial === true ? (event.event.content?.parts ?? []) : [],
    )
    expect(partials.map(({ text }) => text)).toEqual(['It is', ' blue', ' today.'])
    expect(await found(made, talker('stream-whole', chatModel({ stream: false, gone: true })))).toEqual([])
  })

  test('plays an answer of a log, and an error, to such a model', async () => {
    const setting = talker('graph-log', chatModel({ stream: true, gone: true }))
    const request = { instruction: '', tools: '', contents: [], words: 0 }
    const one: RecordedCase = {
      case: 1,
      agent: 'talker',
      turns: [{ user: 'Hi', expect: { response: 'All is well.' } }],
      judge: { response: { text: true } },
      answers: {
        talk: [
          { request, parts: [{ functionCall: { name: 'look', args: { at: 'sea' } } }] },
          { request, parts: [{ text: 'Hm.', thought: true }, { text: 'All is well.' }], usage: { totalTokenCount: 3 } },
        ],
      },
    }
    expect(await found(one, setting)).toEqual([])
    const failing = {
      ...one,
      answers: { talk: [{ request, parts: [], error: { code: 'RateLimit', message: 'later' } }] },
    }
    expect(await found(failing, setting)).toContain('outcome: the run ended as failed, expected done: later')
    const { made } = await recordCase({ agent: 'talker', turns: [{ user: 'Hi' }] }, setting)
    expect(made.answers?.talk).toMatchObject([{ error: { code: 'Error', message: 'the model was called' } }])
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

  test('a state of which only some keys are named leaves the others free', async () => {
    const setting = clerk('named')
    const begin = { kept: 1, free: 'yes' }
    const { made } = await recordCase({ ...question, begin }, setting)
    const one: RecordedCase = { ...made, state: { kept: 1 }, judge: { state: 'named' } }
    expect(await found(one, setting)).toEqual([])
    expect(await found({ ...one, state: { kept: 2 } }, setting)).toEqual(['state: /kept is 1, expected 2'])
    expect(await found({ ...one, state: { none: 2 } }, { ...setting, live: true })).toEqual(['state: /none is missing'])
    const verdict = await runRecordedCase({ ...one, state: { kept: 2 } }, setting)
    expect(recordedAs({ ...one, state: { kept: 2 } }, verdict).state).toEqual({ kept: 1 })
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
