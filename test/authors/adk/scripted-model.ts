import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'

// The model behind the agents in this folder. It answers by a script, so that the same agent can run bare, on ADK's own
// Runner, and on the server. A test that kills the server names a step at which an agent must stop (AUTHORS_HOLD).

/** What a scripted model knows when it is asked. */
export interface Asked {
  /** The newest text of the person, or of another agent, that the model has to answer. */
  readonly text: string
  readonly instruction: string
  /** The answers of tools since that text, oldest first. */
  readonly results: readonly { readonly name: string; readonly response: Readonly<Record<string, unknown>> }[]
}
export interface Call {
  readonly name: string
  readonly args: Record<string, unknown>
}
/** Text, or calls of tools. */
export type Reply = string | readonly Call[]

export interface Script {
  model(reply: (asked: Asked) => Reply): BaseLlm
  /** A place at which a test may kill the server. */
  step(): Promise<void>
  /** Something that a tool does to the world. With a key it is done once for that key, however often the tool runs. */
  effect(what: string, key?: string): Promise<void>
}

const steps = new Map<string, number>()

/** How many steps the agent of this folder has taken in this process. */
export const stepsTaken = (pattern: string): number => steps.get(pattern) ?? 0

export const call = (name: string, args: Record<string, unknown> = {}): readonly Call[] => [{ name, args }]

/** The script of one agent folder. */
export function scripted(pattern: string): Script {
  const step = async (): Promise<void> => {
    const taken = stepsTaken(pattern) + 1
    steps.set(pattern, taken)
    const { AUTHORS_HOLD: holds = '{}', AUTHORS_HELD: file } = process.env
    if (file === undefined || (JSON.parse(holds) as Record<string, number>)[pattern] !== taken) return
    appendFileSync(file, `${pattern}\n`)
    await new Promise(() => {})
  }
  return {
    model: (reply) => new ScriptedModel(reply, step),
    step,
    async effect(what, key = crypto.randomUUID()) {
      await step()
      const { AUTHORS_EFFECTS: file } = process.env
      if (file !== undefined && !(existsSync(file) && readFileSync(file, 'utf8').includes(key)))
        appendFileSync(file, `${JSON.stringify({ pattern, what, key })}\n`)
      await step()
    },
  }
}

class ScriptedModel extends BaseLlm {
  readonly #reply: (asked: Asked) => Reply
  readonly #step: () => Promise<void>
  constructor(reply: (asked: Asked) => Reply, step: () => Promise<void>) {
    super({ model: 'scripted' })
    this.#reply = reply
    this.#step = step
  }

  override async *generateContentAsync(request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    await this.#step()
    const reply = this.#reply(askedBy(request))
    if (typeof reply !== 'string') {
      yield { content: { role: 'model', parts: reply.map((functionCall) => ({ functionCall })) } }
      return
    }
    const half = Math.ceil(reply.length / 2)
    for (const text of stream ? [reply.slice(0, half), reply.slice(half)] : []) {
      yield { content: { role: 'model', parts: [{ text }] }, partial: true }
      await this.#step()
    }
    yield { content: { role: 'model', parts: [{ text: reply }] } }
  }

  override async connect(): Promise<never> {
    throw new Error('this model has no live connection')
  }
}

function askedBy({ contents, config }: LlmRequest): Asked {
  const at = contents.findLastIndex(({ role, parts }) => role === 'user' && parts?.some(({ text }) => text))
  const results = contents
    .slice(at + 1)
    .flatMap(({ parts = [] }) => parts)
    .flatMap(({ functionResponse }) => functionResponse ?? [])
  return {
    text: (contents[at]?.parts ?? []).map(({ text }) => text ?? '').join(''),
    instruction: typeof config?.systemInstruction === 'string' ? config.systemInstruction : '',
    results: results.map(({ name = '', response = {} }) => ({ name, response })),
  }
}
