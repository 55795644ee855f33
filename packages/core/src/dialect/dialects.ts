import { adk } from './adk.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { millrace } from './millrace.ts'
import { plan } from './plan.ts'
import { studio } from './studio.ts'

/** Every wire language by its name. */
export const dialects: Readonly<Partial<Record<DialectName, Dialect>>> = { adk, studio, plan, millrace }
