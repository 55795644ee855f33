import { isJsonObject, type Json, type JsonObject } from '@millrace/core'

/** What a question shows beside its sentence, and the answers that its author offers. */
export interface QuestionParts {
  readonly details: Json | undefined
  readonly choices: readonly string[]
}

/** More answers, or longer ones, are a list to read and no buttons. */
const mostChoices = 8
const longestChoice = 60
const choiceKeys = ['options', 'choices'] as const

/**
 * The parts of a question's payload. What its sentence says already is not shown twice. Where the answer is a form,
 * `offers` is false, and the answers that the author offers are a detail.
 */
export function questionParts(payload: Json | undefined, sentence: string | undefined, offers = true): QuestionParts {
  if (payload === undefined || payload === null || payload === sentence) return { details: undefined, choices: [] }
  if (!isJsonObject(payload)) return { details: payload, choices: [] }
  const offered = offers ? choiceKeys.find((key) => choicesIn(payload[key]).length > 0) : undefined
  const kept = Object.entries(payload).filter(([key, value]) => key !== offered && value !== sentence)
  return {
    details: kept.length === 0 ? undefined : (Object.fromEntries(kept) as JsonObject),
    choices: offered === undefined ? [] : choicesIn(payload[offered]),
  }
}

function choicesIn(value: Json | undefined): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > mostChoices) return []
  const texts = value.filter(
    (each): each is string => typeof each === 'string' && each.trim() !== '' && each.length <= longestChoice,
  )
  return texts.length === value.length && new Set(texts).size === texts.length ? texts : []
}
