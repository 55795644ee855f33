import type { MillraceError } from '@millrace/core'
import type { z } from 'zod'
import { refuse } from './problem.ts'

/** Validates a body or a query. The problem is a 422 that lists the path of every bad field. */
export function validateBody<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const errors = result.error.issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message }))
  throw bodyRefusal(errors)
}

/** `newMessage.parts[0].text`: the same spelling as the AG-UI reader's. */
function pathOf(path: readonly PropertyKey[]): string {
  return path.map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i === 0 ? '' : '.'}${String(key)}`)).join('')
}

/** The same problem, for readers that are not zod schemas. */
export function bodyRefusal(errors: readonly { readonly path: string; readonly message: string }[]): MillraceError {
  const first = errors[0]
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `
  return refuse('unprocessable', `${where}${first?.message ?? 'the request is not acceptable'}`, { errors })
}
