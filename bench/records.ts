import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BaseLlm, FunctionTool, LlmAgent, type LlmResponse } from '@google/adk'
import { isCallRecord, type Recorded } from '@millrace/core'
import { adkAgent, runEngine, sqliteLog } from '@millrace/server'
import { type Row, sideBySideAsync } from './kit/row.ts'

/** Model calls of one run: all but the last call a tool. */
const calls = 20
/** The agents of a real system are told a page or two. */
const instruction = 'You watch over a forest. Look at each sector before you say anything about it. '.repeat(40)
const words = Array.from({ length: 12 }, (_, i) => `word ${i} of a finding `)

class Patrol extends BaseLlm {
  #call = 0
  constructor() {
    super({ model: 'patrol' })
  }
  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    this.#call += 1
    const usageMetadata = { promptTokenCount: 900 + this.#call, candidatesTokenCount: 30, totalTokenCount: 930 }
    for (const text of words) yield { content: { role: 'model', parts: [{ text }] }, partial: true }
    const said = { text: words.join('') }
    const call = { functionCall: { name: 'look', args: { sector: `sector ${this.#call}` } } }
    const isLast = this.#call % calls === 0
    yield { content: { role: 'model', parts: isLast ? [said] : [said, call] }, usageMetadata }
  }
  override connect(): never {
    throw new Error('the bench has no live model')
  }
}

const look = new FunctionTool({
  name: 'look',
  description: 'Looks at a sector of the forest and says what burns there.',
  execute: () => ({ burning: false, wind: 'east', humidity: 31, seen: ['a deer', 'smoke far away', 'two hikers'] }),
})

/** What the record of every model call costs a run of 20 calls on SQLite: its time, and the bytes of its log. */
export async function bench(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-records-'))
  const log = await sqliteLog({ folder, now: Date.now })
  const agent = adkAgent('patrol', async () => ({
    rootAgent: new LlmAgent({ name: 'patrol', model: new Patrol(), instruction, tools: [look] }),
  }))
  const ran = async (prompts: boolean): Promise<readonly Recorded[]> => {
    const engine = runEngine({
      log,
      agents: () => agent,
      now: Date.now,
      newId: randomUUID,
      owner: 'bench',
      recording: () => ({ prompts }),
    })
    const session = randomUUID()
    await log.create({ id: session, user: 'u', agent: 'patrol' })
    const message = { id: 'm', role: 'user' as const, content: { role: 'user', parts: [{ text: 'Patrol.' }] } }
    const { run } = await engine.start({ session, user: 'u', agent: 'patrol', input: { messages: [message] } })
    await engine.wait(session, run)
    return log.read(session, { after: 0 })
  }
  try {
    const time = await sideBySideAsync(
      async () => void (await ran(true)),
      async () => void (await ran(false)),
      // A run takes 20 ms: the ratio of 15 pairs was anything from 0.94 to 1.21.
      201,
    )
    const rows = await ran(true)
    const made = rows.filter(({ event }) => event.kind === 'model.started').length
    if (made !== calls) throw new Error(`the run made ${made} model calls, not ${calls}`)
    const [all, without] = [bytesOf(rows), bytesOf(rows.filter(({ event }) => !isCallRecord(event)))]
    const what = `a run of ${calls} model calls with tools, prompts recorded`
    return [
      {
        what: `${what}: ms`,
        ours: time.ours,
        peer: 'without prompts',
        peerValue: time.peer,
        limit: '1',
        ratio: time.ratio,
        bar: '< 1.1',
        ok: time.ratio < 1.1,
      },
      {
        what: `${what}: kB of the log`,
        ours: all / 1000,
        peer: 'without any record of calls',
        peerValue: without / 1000,
        limit: '1',
        ratio: all / without,
        bar: '< 1.3',
        ok: all / without < 1.3,
      },
    ]
  } finally {
    await log.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function bytesOf(rows: readonly Recorded[]): number {
  return rows.reduce((sum, { event }) => sum + Buffer.byteLength(JSON.stringify(event)), 0)
}
