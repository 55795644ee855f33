import { isObject, MillraceError } from '@millrace/core'
import type { FileEngine, LoadedAgentFile } from './agent-engine.ts'
import { fileEngines } from './engines.ts'

/** Makes the agent for one run, or for its description. */
export type AgentFactory = (config: AgentConfig) => unknown

/** The config of a factory, as `langgraph dev` gives it. */
export interface AgentConfig {
  readonly configurable: Readonly<Record<string, string>>
}

/** What an agent's file exports, checked, and the engine that runs it. */
export interface AgentFile extends LoadedAgentFile {
  readonly engine: FileEngine
  /** The name for people; exported as `title` or `name`. */
  readonly title?: string
  /** When the export is a function: it is called once more for each run. */
  readonly factory?: AgentFactory
}

/** The exports under which an author may give an agent of any engine, after those of the engines themselves. */
const anyEngine = ['agent', 'default']

/** Finds the agent among the exports. `file` is the name for the error, which says what was seen and what to do. */
export async function readExports(file: string, loaded: unknown): Promise<AgentFile> {
  const found = isObject(loaded) ? loaded : {}
  // A default export that is an object of exports, as CommonJS has it.
  const all: Record<string, unknown> =
    isObject(found.default) && engineOf(found.default) === undefined ? { ...found.default, ...found } : { ...found }
  const names = [...fileEngines.flatMap((engine) => engine.exports), ...anyEngine].filter((name) => all[name] != null)
  const holders = [...new Set([...names, ...Object.keys(all)])].filter((name) => holds(all[name]))
  for (const name of [...holders, ...names]) {
    const value = await exportedBy(all[name], name)
    const engine = engineOf(value.exported)
    if (engine !== undefined) return { engine, ...value, exports: all, ...labelsOf(all) }
  }
  throw new MillraceError('agent-error', `${file} ${refusal(all, names)}`)
}

interface Exported {
  readonly exported: unknown
  readonly factory?: AgentFactory
}

/** A function is a factory, except under a name whose engine knows none. */
async function exportedBy(value: unknown, name: string): Promise<Exported> {
  const owner = fileEngines.find((engine) => engine.exports.includes(name))
  if (typeof value !== 'function' || isClass(value) || owner?.factories === false) {
    return { exported: await value }
  }
  const factory = value as AgentFactory
  return { exported: await factory({ configurable: {} }), factory }
}

function isClass(value: unknown): boolean {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))
}

function holds(value: unknown): boolean {
  return fileEngines.some((engine) => engine.holds?.(value) === true)
}

function engineOf(value: unknown): FileEngine | undefined {
  return fileEngines.find((engine) => engine.recognises(value))
}

function labelsOf({ name, title = name, description, examples, resumable }: Readonly<Record<string, unknown>>) {
  return {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(Array.isArray(examples) ? { examples: examples.filter((example) => typeof example === 'string') } : {}),
    ...(typeof resumable === 'boolean' ? { resumable } : {}),
  }
}

/** The sentence of a file without an agent: what it exports, and the fix. */
function refusal(all: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const known = [...fileEngines.flatMap((engine) => engine.exports), ...anyEngine]
  // An export without a value: most often a variable that is set later, or an import in a circle.
  const [wrong = known.find((name) => Object.hasOwn(all, name))] = names
  const wanted = fileEngines.map((one) => `${one.exports[0]} (${one.exported})`).join(' or ')
  if (wrong !== undefined) {
    const engine = fileEngines.find((one) => one.exports.includes(wrong))
    const what = wrong === 'default' ? 'a default' : wrong
    const remedy = engine === undefined ? `export ${wanted}` : engine.remedy
    return `exports ${what} that is ${kindOf(all[wrong])}: ${remedy}.`
  }
  const others = Object.keys(all).filter((key) => key !== 'default')
  for (const other of others) {
    const engine = typeof all[other] === 'function' ? undefined : engineOf(all[other])
    if (engine !== undefined) return `exports ${other}, which is ${engine.exported}: export it as ${engine.exports[0]}.`
  }
  return `exports ${others.length === 0 ? 'nothing' : others.join(', ')}. Export ${wanted}.`
}

/** `a number`, `a class`, `an object of the class Foo`. */
function kindOf(value: unknown): string {
  if (isClass(value)) return 'a class'
  if (typeof value === 'function') return 'a function, and what it returned is no agent'
  if (Array.isArray(value)) return 'an array'
  if (value === undefined || value === null) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const name: unknown = Object.getPrototypeOf(value)?.constructor?.name
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `an object of the class ${name}` : 'an object'
}
