import { isObject, type JsonObject, type RunInput } from '@millrace/core'
import { z } from 'zod'
import type { HttpLimits } from './deps.ts'
import { bodyRefusal } from './doors/validate-body.ts'

const part = z.looseObject({ text: z.string().optional() })
const message = z.object({
  id: z.string().min(1).max(200),
  role: z.enum(['user', 'system', 'developer', 'tool', 'assistant']),
  content: z.object({ role: z.string().optional(), parts: z.array(part).max(100).optional() }),
})
const resume = z.object({
  interrupt: z.string().min(1).max(500),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.json().optional(),
})

/** The canonical RunInput, as our own routes take it. The other surfaces make one from their own shapes. */
export const runInput = z.object({
  messages: z.array(message),
  state: z.record(z.string(), z.json()).optional(),
  tools: z
    .array(
      z.object({
        name: z.string().min(1).max(200),
        description: z.string().max(10_000),
        parameters: z.record(z.string(), z.json()).optional(),
      }),
    )
    .optional(),
  context: z
    .array(z.object({ description: z.string(), value: z.string() }))
    .max(100)
    .optional(),
  resume: z.array(resume).max(100).optional(),
  props: z.record(z.string(), z.json()).optional(),
})

/** Limits what a run is given, on every surface alike (SPEC 6.3); `paths` names fields as the surface calls them. */
export function boundInput(
  limits: HttpLimits,
  { messages, tools = [], state }: RunInput,
  paths: { readonly state?: string } = {},
): void {
  const errors = [
    ...(messages.length > limits.messages ? [{ path: 'messages', message: `at most ${limits.messages}` }] : []),
    ...(tools.length > limits.tools ? [{ path: 'tools', message: `at most ${limits.tools}` }] : []),
    ...tooMuchState(limits, state, paths.state ?? 'state'),
  ]
  if (errors.length > 0) throw bodyRefusal(errors)
}

/** Limits state that a client sends or patches, by its size as JSON. */
export function boundState(limits: Pick<HttpLimits, 'state'>, state: JsonObject, path: string): void {
  const errors = tooMuchState(limits, state, path)
  if (errors.length > 0) throw bodyRefusal(errors)
}

function tooMuchState({ state: most }: Pick<HttpLimits, 'state'>, state: JsonObject | undefined, path: string) {
  const size = state === undefined ? 0 : Buffer.byteLength(JSON.stringify(state))
  return size > most ? [{ path, message: `at most ${most} bytes as JSON` }] : []
}

/** The title of a session that begins with this input: what the user says. */
export function openingTitle({ messages }: RunInput): string {
  const parts: readonly unknown[] = messages.findLast(({ role }) => role === 'user')?.content.parts ?? []
  return titleFrom(parts.map((part) => (isObject(part) ? (part.text ?? '') : '')).join(''))
}

/** The beginning of a text. A log refuses half an emoji in a title, which the cut or the client may leave, and U+0000. */
export function titleFrom(text: string): string {
  return text.slice(0, 80).replaceAll(/\p{Surrogate}|\0/gu, '')
}
