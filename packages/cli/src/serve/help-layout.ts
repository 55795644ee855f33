import { helpExamples } from '../examples.ts'
import { wrapped } from '../terminal.ts'

/** A flag of the help, its value, and what it does. */
const flagLine = /^ {2}(--[a-z-]+(?: (?:[A-Z][A-Z=]*|[a-z]+\|[a-z]+)(?= |$))?) *(.*)$/

const indent = 30

/**
 * The help of `serve` for a terminal of this width. The descriptions of the flags start in one column, or below the flag
 * where that leaves too little room.
 */
export function laidOut(help: string, columns: number): string {
  const isNarrow = columns < 72
  const from = isNarrow ? 6 : indent
  const lines: string[] = []
  let flag: string | undefined
  let text = ''
  const flush = (): void => {
    const [first = '', ...rest] = wrapped(text, columns - (flag === undefined ? 0 : from))
    if (flag === undefined) lines.push(first, ...rest)
    else {
      lines.push(...(isNarrow ? [`  ${flag}`, `${' '.repeat(from)}${first}`] : [`  ${flag}`.padEnd(from) + first]))
      lines.push(...rest.map((line) => ' '.repeat(from) + line))
    }
    flag = undefined
    text = ''
  }
  help.split('\n').forEach((line, i) => {
    const [, named, does] = flagLine.exec(line) ?? []
    if (named === undefined && line.startsWith('      ')) {
      text = `${text} ${line.trim()}`.trim()
      return
    }
    if (i > 0) flush()
    flag = named
    text = named === undefined ? line : (does ?? '')
  })
  flush()
  return `${lines.join('\n')}\n${examples}`
}

const examples = helpExamples(
  ['millrace serve', './agents, or the examples, on http://127.0.0.1:8000'],
  ['millrace serve my-agents --port 9000', 'the agents of a folder, on another port'],
  ['millrace serve --print-config', 'every setting, and where its value comes from'],
)
