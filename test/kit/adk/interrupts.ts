import {
  FunctionTool,
  LlmAgent,
  LongRunningFunctionTool,
  LoopAgent,
  requestInputTool,
  SequentialAgent,
} from '@google/adk'
import { fold, type Interrupted, problemsView, type RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { call, confirm, model, type OfflineScript, say, specialists, z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import { outline, said, testSession } from '../run-agent.ts'

const sessionOf = (root: unknown) => testSession(adkAgent('root', async () => root, { models: { tokensPerSecond: 0 } }))
const llm = (offline: OfflineScript) => model({ offline })
const asked = (events: readonly RunEvent[]): Interrupted => {
  const interrupt = events.find((event) => event.kind === 'interrupt')
  if (interrupt === undefined) throw new Error('the run asked no question')
  return interrupt
}
const brief = (events: readonly RunEvent[]) => outline(events).filter((line) => !/[…<>]/.test(line))
const text = (of: string) => ({ id: of, role: 'user' as const, content: { parts: [{ text: of }] } })

describe('confirmation', () => {
  const deleted: string[] = []
  const remove = new FunctionTool({
    name: 'remove',
    description: 'removes',
    parameters: z.object({ what: z.string() }),
    requireConfirmation: true,
    execute: ({ what }) => {
      deleted.push(what)
      return 'removed'
    },
  })
  const count = new FunctionTool({ name: 'count', description: 'counts', execute: () => 12 })
  const root = () =>
    new LlmAgent({
      name: 'root',
      model: llm(({ step, result }) =>
        step === 0
          ? [call('remove', { what: 'all' }), call('count')]
          : say(`${JSON.stringify(result('remove'))} ${JSON.stringify(result('count'))}`),
      ),
      tools: [remove, count],
    })

  test('interrupts the run; yes runs the tool, and the answers beside it are not lost', async () => {
    deleted.length = 0
    const session = sessionOf(root())
    const first = await session.run('go')
    expect(brief(first)).toEqual([
      'root call remove call count',
      'root call adk_request_confirmation',
      'root answer count',
      'interrupt confirmation',
      'interrupted',
    ])
    const interrupt = asked(first)
    const original = said(first)[0]?.event.content?.parts?.[0]?.functionCall?.id
    expect(interrupt).toMatchObject({
      call: original,
      message: expect.stringContaining('remove'),
      payload: { tool: 'remove', args: { what: 'all' } },
      node: 'root@1',
    })
    expect(deleted).toEqual([])
    const resume = [{ interrupt: interrupt.id, status: 'resolved' as const, payload: { confirmed: true } }]
    const second = await session.run({ resume })
    expect(brief(second)).toEqual(['root answer remove', 'root “{"result":"removed"} {"result":12}”', 'done'])
    expect(deleted).toEqual(['all'])
  })

  test.each([
    ['no', { status: 'resolved' as const, payload: { confirmed: false } }],
    ['silence', { status: 'resolved' as const }],
    ['cancelling', { status: 'cancelled' as const }],
  ])('%s does not run it, and the model learns that', async (_, answer) => {
    deleted.length = 0
    const session = sessionOf(root())
    const interrupt = asked(await session.run('go')).id
    const events = await session.run({ resume: [{ interrupt, ...answer }] })
    expect(deleted).toEqual([])
    expect(brief(events).at(-2)).toContain('This tool call is rejected.')
  })

  test('is also answered by a function response: to the question, or to the call it is about', async () => {
    for (const which of ['id', 'call'] as const) {
      deleted.length = 0
      const session = sessionOf(root())
      const id = asked(await session.run('go'))[which] ?? ''
      const functionResponse = { id, name: 'x', response: { approved: true } }
      const events = await session.run({
        messages: [{ id: 'm', role: 'tool', content: { parts: [{ functionResponse }] } }],
      })
      expect(brief(events).at(-1)).toBe('done')
      expect(deleted).toEqual(['all'])
    }
  })

  test('a tool may ask in its own words', async () => {
    const purge = new FunctionTool({
      name: 'purge',
      description: 'purges',
      execute: (_args, context) => confirm(context, 'Delete all 12 proverbs?') ?? { purged: 12 },
    })
    const session = sessionOf(
      new LlmAgent({
        name: 'root',
        model: llm(({ step, result }) => (step === 0 ? call('purge') : say(JSON.stringify(result('purge'))))),
        tools: [purge],
      }),
    )
    const interrupt = asked(await session.run('go'))
    expect(interrupt.message).toBe('Delete all 12 proverbs?')
    const events = await session.run({ resume: [{ interrupt: interrupt.id, status: 'resolved', payload: true }] })
    expect(brief(events).slice(-2)).toEqual(['root “{"purged":12}”', 'done'])
  })

  test('in the middle of a pipeline: what was done is not done again, and the rest follows', async () => {
    deleted.length = 0
    const ran: string[] = []
    const step = (name: string) =>
      new LlmAgent({
        name,
        model: llm(() => {
          ran.push(name)
          return say(name)
        }),
      })
    const session = sessionOf(new SequentialAgent({ name: 'pipe', subAgents: [step('first'), root(), step('last')] }))
    const first = await session.run('go')
    expect(brief(first).at(-1)).toBe('interrupted')
    const resume = [{ interrupt: asked(first).id, status: 'resolved' as const, payload: { confirmed: true } }]
    const second = await session.run({ resume })
    expect(brief(second).slice(-3)).toEqual(['root “{"result":"removed"} {"result":12}”', 'last “last”', 'done'])
    expect(ran).toEqual(['first', 'last'])
    expect(deleted).toEqual(['all'])
  })

  test('SPEC 4.4: the node that asks ends as interrupted after its question, and so does every node around it', async () => {
    const step = (name: string) => new LlmAgent({ name, model: llm(() => say(name)) })
    const session = sessionOf(new SequentialAgent({ name: 'pipe', subAgents: [step('first'), root(), step('last')] }))
    const first = await session.run('go')
    const ends = first.flatMap((event) =>
      event.kind === 'node.finished' ? [`${event.node} ${event.status}`] : event.kind === 'interrupt' ? ['asked'] : [],
    )
    expect(ends).toEqual(['pipe/first@1 ok', 'asked', 'pipe/root@1 interrupted', 'pipe@1 interrupted'])
    const resume = [{ interrupt: asked(first).id, status: 'resolved' as const, payload: { confirmed: true } }]
    await session.run({ resume })
    const nodes = session.rows.flatMap(({ event }) => (event.kind === 'node.started' ? [event.node] : []))
    expect(nodes).toEqual(['pipe@1', 'pipe/first@1', 'pipe/root@1', 'pipe@2', 'pipe/root@2', 'pipe/last@1'])
    expect(fold(problemsView, session.rows).problems.toArray()).toEqual([])
  })

  test('in a loop without end: the loop waits too', async () => {
    const session = sessionOf(new LoopAgent({ name: 'loop', subAgents: [root()] }))
    const events = await session.run('go')
    expect(brief(events).slice(-2)).toEqual(['interrupt confirmation', 'interrupted'])
    expect(said(events)).toHaveLength(3)
  })

  test('in a specialist it is refused with a reason: a specialist cannot ask', async () => {
    const script: OfflineScript = {
      root: ({ step, result }) => (step === 0 ? call('child', { request: 'x' }) : say(`${result('child')?.error}`)),
      child: () => call('remove', { what: 'all' }),
    }
    const child = new LlmAgent({ name: 'child', model: llm(script), tools: [remove] })
    const events = await sessionOf(new LlmAgent({ name: 'root', model: llm(script), tools: specialists([child]) })).run(
      'go',
    )
    expect(brief(events).at(-2)).toMatch(/'child' needs a person for remove/)
    expect(brief(events).at(-1)).toBe('done')
  })
})

describe('long-running tools', () => {
  const ticket = (status?: string) =>
    new LongRunningFunctionTool({
      name: 'approve',
      description: 'asks a manager',
      execute: () => (status === undefined ? undefined : { status, ticket: 7 }),
    })
  const root = (tool: FunctionTool) =>
    new LlmAgent({
      name: 'root',
      model: llm(({ step, result }) => (step === 0 ? call('approve') : say(JSON.stringify(result('approve'))))),
      tools: [tool],
    })

  test('that are pending interrupt the run, and their answer goes on', async () => {
    const session = sessionOf(root(ticket('pending')))
    const first = await session.run('go')
    expect(brief(first).slice(-3)).toEqual([
      'root “{"status":"pending","ticket":7}”',
      'interrupt tool_call',
      'interrupted',
    ])
    const interrupt = asked(first)
    expect(interrupt).toMatchObject({ id: interrupt.call, payload: { tool: 'approve', args: {} } })
    const events = await session.run({
      resume: [{ interrupt: interrupt.id, status: 'resolved', payload: { status: 'approved' } }],
    })
    expect(brief(events)).toEqual(['root “{"status":"approved"}”', 'done'])
  })

  test('that give no answer at all run once, and end the run with the call open', async () => {
    let ran = 0
    const wait = new LongRunningFunctionTool({
      name: 'approve',
      description: 'waits',
      execute: () => {
        ran += 1
      },
    })
    const session = sessionOf(root(wait))
    const first = await session.run('go')
    expect(brief(first)).toEqual(['root call approve', 'interrupt tool_call', 'interrupted'])
    expect(ran).toBe(1)
    const interrupt = asked(first).id
    const events = await session.run({ resume: [{ interrupt, status: 'resolved', payload: 'fine' }] })
    expect(brief(events).at(-2)).toBe('root “{"result":"fine"}”')
  })

  test.each([{ ticket: 7 }, { ticket: 7, error: null }, { ticket: 7, error: '' }])(
    'that answer without a status wait, also where an error is empty: %j',
    async (answer) => {
      const open = new LongRunningFunctionTool({ name: 'approve', description: 'waits', execute: () => answer })
      expect(brief(await sessionOf(root(open)).run('go')).at(-1)).toBe('interrupted')
    },
  )

  test('that fail interrupt nothing', async () => {
    const broken = new LongRunningFunctionTool({
      name: 'approve',
      description: 'fails',
      execute: () => ({ ticket: 7, error: 'no manager is there' }),
    })
    expect(brief(await sessionOf(root(broken)).run('go')).at(-1)).toBe('done')
  })

  test('that are done at once interrupt nothing', async () => {
    const events = await sessionOf(root(ticket('completed'))).run('go')
    expect(brief(events).at(-1)).toBe('done')
  })

  test('a question to the user is answered in the next run', async () => {
    const session = sessionOf(
      new LlmAgent({
        name: 'root',
        model: llm(({ user }) =>
          user === 'go' ? call('adk_request_input', { message: 'Which city?' }) : say(`Off to ${user}`),
        ),
        tools: [requestInputTool],
      }),
    )
    const interrupt = asked(await session.run('go'))
    expect(interrupt).toMatchObject({ reason: 'input_required', message: 'Which city?' })
    const events = await session.run({ resume: [{ interrupt: interrupt.id, status: 'resolved', payload: 'Rome' }] })
    expect(brief(events).slice(-2)).toEqual(['root “Off to Rome”', 'done'])
  })
})

describe('tools of the client', () => {
  const tools = [
    { name: 'pick_colour', description: 'Asks for a colour', parameters: { type: 'object', properties: {} } },
  ]
  const server = new FunctionTool({ name: 'look', description: 'looks', execute: () => 'seen' })
  const root = new LlmAgent({
    name: 'root',
    model: llm(({ step, result, tools: offered }) => {
      if (!offered.includes('pick_colour') && step === 0) return say('no tools')
      return step === 0
        ? [call('look'), call('pick_colour')]
        : say(`${result('pick_colour')?.colour} ${result('look')?.result}`)
    }),
    tools: [server],
  })

  test('end the run with the call open; the server-side ones of the turn are answered', async () => {
    const session = sessionOf(root)
    const first = await session.run({ messages: [text('go')], tools })
    expect(brief(first)).toEqual([
      'root call look call pick_colour',
      'root answer look',
      'interrupt tool_call',
      'interrupted',
    ])
    const { id } = asked(first)
    const functionResponse = { id, name: 'pick_colour', response: { colour: 'red' } }
    const second = await session.run({
      messages: [{ id: 'm', role: 'tool', content: { parts: [{ functionResponse }] } }],
      tools,
    })
    expect(brief(second)).toEqual(['root “red seen”', 'done'])
  })

  test('are there only in the run that brings them', async () => {
    expect(brief(await sessionOf(root).run('go'))).toEqual(['root “no tools”', 'done'])
  })

  test('a call that was never answered is reported to the model as such', async () => {
    const session = sessionOf(root)
    await session.run({ messages: [text('go')], tools })
    let contents: unknown
    const other = new LlmAgent({
      name: 'root',
      model: llm(() => say('ok')),
      beforeModelCallback: ({ request }) => {
        contents = request.contents.flatMap(({ parts }) => parts ?? [])
        return undefined
      },
    })
    const next = testSession(adkAgent('root', async () => other, { models: { tokensPerSecond: 0 } }))
    ;(next.rows as unknown[]).push(...session.rows)
    expect(brief(await next.run('never mind')).at(-1)).toBe('done')
    expect(contents).toMatchObject([
      { text: 'go' },
      { functionCall: { name: 'look' } },
      { functionCall: { name: 'pick_colour' } },
      { functionResponse: { name: 'look', response: { result: 'seen' } } },
      { functionResponse: { name: 'pick_colour', response: { error: 'There was no answer.' } } },
      { text: 'never mind' },
    ])
  })
})

describe('answers', () => {
  test('to a call that never was are refused', async () => {
    const root = new LlmAgent({ name: 'root', model: llm(() => say('hi')) })
    const functionResponse = { id: 'nobody', name: 'x', response: {} }
    const events = await sessionOf(root).run({
      messages: [{ id: 'm', role: 'tool', content: { parts: [{ functionResponse }] } }],
    })
    expect(brief(events)).toEqual([
      'failed (invalid: unknown function call nobody: answer one that this session has made)',
    ])
  })
})
