import { isObject, MillraceError, type Problem } from '@millrace/core'
import { messageOf } from '../problem.ts'

type Call = (...args: unknown[]) => unknown

/** The names of the functions in a context, one object deep: `search`, `memory.search`. */
export function functionNames(context: object): readonly string[] {
  return Object.entries(context).flatMap(([key, value]) => {
    if (typeof value === 'function') return [key]
    if (!isObject(value)) return []
    return Object.entries(value).flatMap(([inner, field]) => (typeof field === 'function' ? [`${key}.${inner}`] : []))
  })
}

/** Calls one of the functions that `functionNames` found. */
export async function callFunction(context: object, name: string, args: unknown): Promise<unknown> {
  const path = name.split('.')
  const owner = path.slice(0, -1).reduce<unknown>((value, key) => Reflect.get(Object(value), key), context)
  const call = Reflect.get(Object(owner), path.at(-1) ?? '') as unknown
  if (!functionNames(context).includes(name) || typeof call !== 'function')
    throw new MillraceError('invalid', `the context of the run has no function ${name}`)
  return (call as Call).apply(owner, Array.isArray(args) ? args : [])
}

/** Functions of the same names, each of which calls `ask`, as an object to merge into the context. */
export function askingFunctions(
  names: readonly string[],
  context: object,
  ask: (name: string, args: readonly unknown[]) => Promise<unknown>,
): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const name of names) {
    const [key = '', inner] = name.split('.')
    const call: Call = (...args) => ask(name, args)
    if (inner === undefined) made[key] = call
    else made[key] = { ...Object(made[key] ?? Reflect.get(context, key)), [inner]: call }
  }
  return made
}

export function problemOfCall(error: unknown): Problem {
  if (error instanceof MillraceError) return { code: error.code, message: error.message }
  return { code: 'agent-error', message: messageOf(error) }
}
