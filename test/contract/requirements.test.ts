import { readFileSync } from 'node:fs'
import {
  type AdkChatEvent,
  type ChatSession,
  type DialectName,
  type Draft,
  dialects,
  type Frame,
  fold,
  normalizeAdkEvent,
  parseAdkEvent,
  parseEventData,
  parseLegacyEvent,
  problemsAtEnd,
  problemsView,
  readRunAgentInput,
  selectAgentTransitions,
  selectDerivedMessages,
  selectLatestAgentStatus,
  selectThoughtProcesses,
  type View,
  type ViewName,
  views,
} from '@millrace/core'
import { encodeAll, printed, recorded, type WrittenFrame, writtenFrame } from '@millrace/core/testing'
import { describe, expect, test } from 'vitest'

/**
 * Every JSON example of the five requirement documents (docs/requirements.md), through its dialect and its views.
 * `vectors/requirements` holds them as the documents show them, each inside the stream it needs. Where a comment or a
 * placeholder was filled in, `changed` says so.
 */
interface RequirementFile {
  readonly document: string
  readonly title: string
  readonly dialect: DialectName
  readonly examples: readonly DocumentedExample[]
  readonly requests?: readonly { readonly section: string; readonly body: DocumentedRequest }[]
}
interface DocumentedRequest {
  readonly threadId: string
  readonly runId: string
  readonly messages: readonly { readonly id: string; readonly role: string; readonly content: string }[]
}
interface DocumentedExample {
  readonly section: string
  readonly which?: string
  readonly changed?: string
  readonly wire: readonly WrittenFrame[]
  /** Which frames of the wire are the example. */
  readonly example: readonly number[]
  /** What is printed instead, where the document is wrong about the real wire (docs/decisions/006-errata.md). */
  readonly back?: readonly WrittenFrame[]
  readonly kinds: readonly string[]
  readonly problems: readonly string[]
  readonly views: Readonly<Partial<Record<ViewName, object>>>
}

const load = (document: string): RequirementFile =>
  JSON.parse(readFileSync(new URL(`../../vectors/requirements/${document}.json`, import.meta.url), 'utf8'))

const counts = {
  'studio-sse': 5,
  'ag-ui-middleware': 9,
  'plan-execute': 14,
  'chat-front-end': 3,
  'evidence-capture': 17,
} as const

describe.each(Object.entries(counts))('%s', (name, count) => {
  const { document, dialect: wire, examples } = load(name)
  const dialect = dialects[wire]
  test('all of its examples are here', () => {
    expect(document).toBe(name)
    expect(examples).toHaveLength(count)
  })

  const cases = examples.map((example) => ({
    ...example,
    title: [example.section, example.which].filter(Boolean).join(': '),
  }))
  describe.each(cases)('$title', (example) => {
    const decoder = dialect.decoder({ run: 'run-1', agent: 'coordinator' })
    const drafts: Draft[] = example.wire.flatMap((frame) => [...decoder.push(writtenFrame(frame))])
    drafts.push(...decoder.end('closed'))
    const rows = recorded(drafts)

    test('is read', () => {
      expect(rows.filter(({ event }) => event.kind === 'foreign')).toEqual([])
      expect(rows.map(({ event }) => event.kind)).toEqual(example.kinds)
    })

    test('is printed again', () => {
      const frames = encodeAll(dialect, rows, decoder.session)
      for (const wanted of example.back ?? example.example.map((at) => example.wire[at])) {
        expect(frames.map(readable)).toContainEqual(
          expect.objectContaining(readable(writtenFrame(wanted as WrittenFrame))),
        )
      }
    })

    test('is seen by its views', () => {
      expect(Object.keys(example.views)).not.toEqual([])
      for (const view of Object.values<View<unknown>>(views)) {
        const state = printed(fold(view, rows))
        expect(state).toMatchObject(example.views[view.name as ViewName] ?? {})
      }
    })

    test('breaks no rule but those it is known to break', () => {
      const found = problemsAtEnd(fold(problemsView, rows)).problems.toArray()
      expect(found.map(({ code }) => code)).toEqual(example.problems)
    })
  })
})

describe('ag-ui-middleware, requests', () => {
  const requests = load('ag-ui-middleware').requests ?? []
  test('all three are here', () => expect(requests).toHaveLength(3))
  test.each(requests)('$section', ({ body }) => {
    const read = readRunAgentInput(body)
    expect(read).toMatchObject({
      threadId: body.threadId,
      runId: body.runId,
      input: {
        messages: body.messages.map(({ id, role, content }) => ({ id, role, content: { parts: [{ text: content }] } })),
      },
    })
  })
})

describe('chat-front-end, by the names that it gives', () => {
  const [text, response, transfer] = load('chat-front-end').examples.map(({ wire }) => wire[0]?.data as AdkChatEvent)

  test('5.1: parses text content from content.parts[]', () => {
    const parsed = normalizeAdkEvent(text!)
    expect(parsed.textParts).toEqual(['Hello from agent'])
    expect(parsed.thoughtParts).toEqual(['This is a thought'])
  })

  test('5.1: extracts function responses', () => {
    const parsed = normalizeAdkEvent(response!)
    expect(parsed.functionResponses).toHaveLength(1)
    expect(parsed.functionResponses[0]!.name).toBe('web_search')
  })

  test('5.1: detects agent transfers, in either spelling', () => {
    const parsed = normalizeAdkEvent(transfer!)
    expect(parsed.isAgentTransfer).toBe(true)
    expect(parsed.transferTargetAgent).toBe('section_researcher')
    const camel = normalizeAdkEvent({ ...transfer!, actions: { transferToAgent: 'section_researcher' } })
    expect(camel.transferTargetAgent).toBe('section_researcher')
  })

  test('14.A: parses data, and refuses what lacks id, author or invocation', () => {
    expect(parseAdkEvent(JSON.stringify(text))).toMatchObject({
      messageId: 'evt_123',
      author: 'plan_generator',
      isFinalResponse: true,
    })
    expect(parseAdkEvent('{"author":"a"}')).toBeNull()
    expect(parseAdkEvent('not JSON')).toBeNull()
  })

  test('6.2: one option between the canonical stream and the flattened one', () => {
    const flat = '{"type":"research_update","data":{"content":"hi"}}'
    expect(parseEventData(flat, undefined, { canonical: false })).toEqual(parseLegacyEvent(flat))
    expect(parseLegacyEvent(flat)).toMatchObject({ type: 'research_update', data: { content: 'hi' } })
    expect(parseEventData(JSON.stringify(text))).toMatchObject({ messageId: 'evt_123' })
  })

  test('4.3 and 14.B: the selectors', () => {
    const session: ChatSession = { id: 's', rawEvents: [text!, response!, transfer!], agentTransitionHistory: [] }
    expect(selectDerivedMessages(session)).toMatchObject([
      { content: 'Hello from agent', role: 'assistant', metadata: { author: 'plan_generator' } },
    ])
    expect(Object.values(selectThoughtProcesses(session))).toEqual(['This is a thought'])
    expect(selectAgentTransitions(session)).toMatchObject([
      { fromAgent: 'dispatcher', toAgent: 'section_researcher', eventId: 'evt_transfer' },
    ])
    expect(selectLatestAgentStatus(session)).toMatchObject({
      plan_generator: 'idle',
      section_researcher: 'active',
      dispatcher: 'idle',
    })
  })
})

/** A frame as one flat object: the fields that an example has must be there, an encoder may add its own (an id). */
function readable({ event, data }: Frame): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === 'object' && value !== null) return { ...value, ...(event === undefined ? {} : { event }) }
  } catch {
    // Some wires carry bare text.
  }
  return { data, ...(event === undefined ? {} : { event }) }
}
