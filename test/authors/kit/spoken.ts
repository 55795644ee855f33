import { fold, itemsOf, type JsonObject, type Recorded, transcriptView } from '@millrace/core'

/** One thing that an agent said or did, as a line: `author: text`, `author calls tool {…}`, `tool answers {…}`. */
export type Spoken = string

/** The conversation by our transcript view, without the messages of people. */
export function spoken(rows: readonly Recorded[]): readonly Spoken[] {
  const lines: Spoken[] = []
  for (const item of itemsOf(fold(transcriptView, rows))) {
    if (item.kind !== 'message' || item.role === 'user' || item.superseded === true) continue
    const { author } = item
    for (const part of item.parts) {
      if (part.kind === 'text') lines.push(said(author, part.text))
      if (part.kind !== 'tool') continue
      lines.push(called(author, part.name, part.args ?? {}))
      if (part.result !== undefined) lines.push(answered(part.name, part.result))
    }
  }
  return lines
}

export const said = (author: string, text: string): Spoken => `${author}: ${text}`
export const called = (author: string, tool: string, args: JsonObject): Spoken =>
  `${author} calls ${tool} ${JSON.stringify(args)}`
export const answered = (tool: string, result: JsonObject): Spoken => `${tool} answers ${JSON.stringify(result)}`
