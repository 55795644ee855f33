import { flow } from './flow/index.ts'
import { plan } from './plan/index.ts'
import { problems } from './problems/index.ts'
import { proof } from './proof/index.ts'
import { state } from './state/index.ts'
import { timeline } from './timeline/index.ts'
import { transcript } from './transcript/index.ts'
import { usage } from './usage/index.ts'
import type { View } from './view.ts'

/** Every view by its name: what REST, the CLI and the page list. */
export const views = { transcript, timeline, state, flow, usage, proof, plan, problems } as const satisfies Readonly<
  Record<string, View<unknown>>
>
export type ViewName = keyof typeof views
