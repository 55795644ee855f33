import { defined, itemsOf, type LiveLog, type Transcript, type UsageReport } from '@millrace/core'
import { duration } from '../ui/duration.ts'
import { runWord } from '../ui/state-word.ts'
import { messagesOf } from './align.ts'

/** One line of the comparison: a name and a value for each side. */
export interface Figure {
  readonly name: string
  readonly left: string
  readonly right: string
  /** How much more the right side has; absent where the values are no numbers or equal. */
  readonly delta?: string
}

interface Side {
  readonly log: LiveLog
  readonly transcript: Transcript
  readonly usage: UsageReport
}

export function figuresOf(left: Side, right: Side): readonly Figure[] {
  const [a, b] = [sideOf(left), sideOf(right)]
  const tools = [...new Set([...a.tools.keys(), ...b.tools.keys()])].sort()
  const rows = Object.keys(a.facts).map((name) => {
    const [one, two] = [a.numbers[name], b.numbers[name]]
    const delta = one === undefined || two === undefined || one === two ? undefined : more(two - one, name)
    return defined({ name, left: a.facts[name] ?? '', right: b.facts[name] ?? '', delta })
  })
  const called = tools.map((name) => ({
    name,
    left: calls(a.tools.get(name)),
    right: calls(b.tools.get(name)),
  }))
  return [...rows, ...called]
}

function more(by: number, name: string): string {
  const size = name === 'Run time' ? duration(Math.abs(by)) : Math.abs(by).toLocaleString('en')
  return `${by > 0 ? '+' : '−'}${size}`
}

const calls = (count = 0): string => (count === 1 ? '1 call' : `${count} calls`)

function sideOf({ log, transcript, usage }: Side): {
  readonly facts: Readonly<Record<string, string>>
  readonly numbers: Readonly<Record<string, number | undefined>>
  readonly tools: ReadonlyMap<string, number>
} {
  const messages = messagesOf(itemsOf(transcript))
  const tools = new Map<string, number>()
  for (const { parts } of messages) {
    for (const part of parts) if (part.kind === 'tool') tools.set(part.name, (tools.get(part.name) ?? 0) + 1)
  }
  const runTime = [...transcript.settled].reduce(
    (sum, item) => sum + (item.kind === 'end' ? (item.duration ?? 0) : 0),
    0,
  )
  const { inputTokens, outputTokens } = usage.total
  return {
    tools,
    numbers: {
      'Run time': runTime,
      Events: log.lastSeq,
      Messages: messages.length,
      'Input tokens': inputTokens,
      'Output tokens': outputTokens,
    },
    facts: {
      Outcome: runWord(transcript.latest?.status ?? 'idle', transcript.latest?.error?.code),
      'Run time': duration(runTime),
      Events: String(log.lastSeq),
      Messages: String(messages.length),
      'Input tokens': inputTokens === undefined ? 'not reported' : String(inputTokens),
      'Output tokens': outputTokens === undefined ? 'not reported' : String(outputTokens),
    },
  }
}
