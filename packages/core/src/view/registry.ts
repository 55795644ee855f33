import { callsView } from './calls/index.ts'
import { feedbackView } from './feedback/index.ts'
import { flowView } from './flow/index.ts'
import { planView } from './plan/index.ts'
import { problemsView } from './problems/index.ts'
import { proofView } from './proof/index.ts'
import { stateView } from './state/index.ts'
import { timelineView } from './timeline/index.ts'
import { transcriptView } from './transcript/index.ts'
import { usageView } from './usage/index.ts'
import type { View } from './view.ts'

/** Every view by its name, for REST, the CLI and the page. */
export const views = {
  transcript: transcriptView,
  timeline: timelineView,
  state: stateView,
  flow: flowView,
  calls: callsView,
  feedback: feedbackView,
  usage: usageView,
  proof: proofView,
  plan: planView,
  problems: problemsView,
} as const satisfies Readonly<Record<string, View<unknown>>>
export type ViewName = keyof typeof views
