import type { ModelTape, RequestPrint, TapedAnswer, TapedCall } from '../agent/model/tape.ts'
import type { RecordedAnswer } from './case-file.ts'

type AnswersByAgent = Readonly<Record<string, readonly RecordedAnswer[]>>

/** The tape of one run of a case. */
export interface AnswerTape extends ModelTape {
  /** Where the run asked its models otherwise than the recording, as sentences. */
  differences(): readonly string[]
  /** The answers that were given, with the requests as they were now. */
  answers(): AnswersByAgent
  /** How many model calls came to this tape. */
  calls(): number
}

interface Held {
  readonly answer: RecordedAnswer
  readonly number: number
}

/** Without answers it records: every call goes to the model, and is kept. */
export function answerTape(recorded?: AnswersByAgent): AnswerTape {
  const left = new Map<string, Held[]>()
  for (const [agent, answers] of Object.entries(recorded ?? {}))
    left.set(
      agent,
      answers.map((answer, i) => ({ answer, number: i + 1 })),
    )
  const given: Record<string, RecordedAnswer[]> = {}
  const found: string[] = []
  let calls = 0
  const keep = ({ agent, request }: TapedCall, answer: TapedAnswer): void => {
    given[agent] ??= []
    given[agent].push({ request, ...answer })
  }
  return {
    keep,
    play(call) {
      calls += 1
      if (recorded === undefined) return undefined
      const held = take(left.get(call.agent) ?? [], call.request)
      if (held === undefined) {
        const message = unexpected(call.agent, recorded[call.agent]?.length ?? 0)
        found.push(message)
        return { parts: [], error: { code: 'NO_RECORDED_ANSWER', message } }
      }
      const { request, ...answer } = held.answer
      const changed = changeOf(request, call)
      if (changed !== undefined) found.push(`${call.agent}, model call ${held.number}: ${changed}`)
      keep(call, answer)
      return answer
    },
    differences: () => [
      ...found,
      ...[...left].flatMap(([agent, answers]) =>
        answers.length === 0 ? [] : [`${agent} made ${counted(answers.length)} fewer than were recorded`],
      ),
    ],
    answers: () => given,
    calls: () => calls,
  }
}

/**
 * The answer to the same request; else to the same conversation under another instruction; else the next one. Agents
 * that work in parallel may call in another order each time.
 */
function take(answers: Held[], request: RequestPrint): Held | undefined {
  const same = (fields: (print: RequestPrint) => unknown): number =>
    answers.findIndex(({ answer }) => JSON.stringify(fields(answer.request)) === JSON.stringify(fields(request)))
  const exact = same(({ instruction, tools, contents }) => [instruction, tools, contents])
  const alike = exact >= 0 ? exact : same(({ contents }) => contents)
  return answers.splice(Math.max(alike, 0), 1)[0]
}

/** What differs between the recorded request and this one; undefined when nothing does. */
function changeOf(before: RequestPrint, { request, messages }: TapedCall): string | undefined {
  const words = `${request.words} words, ${before.words} when recorded`
  if (before.instruction !== request.instruction) return `its instruction changed (the prompt has ${words})`
  if (before.tools !== request.tools) return 'its tools changed (a name, a description or a parameter)'
  const at = request.contents.findIndex((print, i) => print !== before.contents[i])
  if (at >= 0) return `${messages[at]} changed (message ${at + 1} of ${request.contents.length})`
  if (request.contents.length === before.contents.length) return undefined
  return `it was sent ${request.contents.length} messages, ${before.contents.length} when recorded`
}

function unexpected(agent: string, recorded: number): string {
  if (recorded === 0) return `${agent} called its model, and the recording has no answer for it`
  return `${agent} called its model once more than the ${counted(recorded)} that were recorded`
}

const counted = (count: number): string => (count === 1 ? '1 model call' : `${count} model calls`)
