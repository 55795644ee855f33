import { adk } from './adk/index.ts'
import { agUi } from './ag-ui/index.ts'
import type { Dialect } from './dialect.ts'
import { millrace } from './millrace/index.ts'
import { planDialect } from './plan/index.ts'
import { studio } from './studio/index.ts'

/**
 * Every wire language that Millrace ships, by its name. Where two of them recognise the same frame, the first one wins:
 * a plan's `tool_call` also looks like one of Studio, and a Studio trace may carry an ADK event.
 */
export const dialects = {
  'ag-ui': agUi,
  plan: planDialect,
  studio,
  adk,
  millrace,
} as const satisfies Readonly<Record<string, Dialect>>

export type DialectName = keyof typeof dialects
export const dialectNames = Object.keys(dialects) as readonly DialectName[]
