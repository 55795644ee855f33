import { defined, isObject } from '@millrace/core'

/** What a request says about the run that it starts. */
export interface TappedRequest {
  /** What the user said last. */
  readonly text?: string
  /** The agent that the request names, where its dialect has a field for it. */
  readonly agent?: string
}

/** Reads the body of a request of any dialect. */
export function askedIn(body: string): TappedRequest {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return {}
  }
  if (!isObject(value)) return {}
  const app = value.appName ?? value.app_name
  return defined({ text: saidIn(value), agent: typeof app === 'string' && app !== '' ? app : undefined })
}

/** The text of ADK's `newMessage`, of the last message of the user, or of a field that is named for it. */
function saidIn(value: Readonly<Record<string, unknown>>): string | undefined {
  const message = value.newMessage ?? value.new_message
  if (isObject(message)) return textOf(message.parts)
  const messages: readonly unknown[] = Array.isArray(value.messages) ? value.messages : []
  const last = messages.findLast((each) => isObject(each) && each.role === 'user')
  return textOf(isObject(last) ? (last.content ?? last.parts) : (value.input ?? value.message))
}

/** A text, or the texts of parts. */
function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  const texts = content.flatMap((part: unknown) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []))
  return texts.length === 0 ? undefined : texts.join('')
}
