import { flow } from './flow.ts'
import { plan } from './plan.ts'
import { problems } from './problems.ts'
import { proof } from './proof.ts'
import { state } from './state.ts'
import { timeline } from './timeline.ts'
import { transcript } from './transcript.ts'
import { usage } from './usage.ts'
import type { View } from './view.ts'

/** Every view by its name: what REST, the CLI and the page list. */
export const views = { transcript, timeline, state, flow, usage, proof, plan, problems } as const satisfies Readonly<
  Record<string, View<unknown>>
>
export type ViewName = keyof typeof views
