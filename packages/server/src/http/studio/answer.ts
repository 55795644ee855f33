import { type Json, parseJson, type RunInput } from '@millrace/core'
import type { LoadedSession } from '../../run/load-session.ts'
import { maxBodyDepth } from '../doors/json-body.ts'

/** One answer to every open question. */
export function answersWith({ facts }: LoadedSession, payload: Json): NonNullable<RunInput['resume']> {
  return [...facts.open.keys()].map((interrupt) => ({ interrupt, status: 'resolved', payload }))
}

/** A typed answer as a value: yes and no as booleans, JSON as JSON, anything else as text. */
export function typedAnswer(text: string): Json {
  if (/^\s*(yes|y|approve|approved|ok|confirm)\s*[.!]?\s*$/i.test(text)) return true
  if (/^\s*(no|n|reject|rejected|deny|cancel)\s*[.!]?\s*$/i.test(text)) return false
  const parsed = parseJson(text, maxBodyDepth)
  return 'value' in parsed ? parsed.value : text
}
