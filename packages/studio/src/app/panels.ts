import type { SessionHandle } from '@millrace/react'
import type { ComponentType } from 'react'
import { FlowPanel } from '../flow/flow.tsx'
import { PlanPanel } from '../plan/plan.tsx'
import { ProblemsPanel } from '../problems/problems.tsx'
import { ProofPanel } from '../proof/proof.tsx'
import { StatePanel } from '../state/state.tsx'
import type { IconName } from '../ui/icon.tsx'
import { UsagePanel } from '../usage/usage.tsx'
import { WirePanel } from '../wire/wire.tsx'

/** A panel of the inspector: it shows one view of the session at the shared cursor. */
export interface Panel {
  readonly id: string
  readonly title: string
  readonly icon: IconName
  /** The key that opens it. */
  readonly key: string
  readonly component: ComponentType<PanelProps>
}

export interface PanelProps {
  readonly session: SessionHandle
  /** The agent of the session, for its graph. */
  readonly agent: string
  readonly at: number | undefined
}

/** In the order of the tabs. */
export const panels: readonly Panel[] = [
  { id: 'flow', title: 'Flow', icon: 'flow', key: '1', component: FlowPanel },
  { id: 'state', title: 'State', icon: 'state', key: '2', component: StatePanel },
  { id: 'proof', title: 'Proof', icon: 'proof', key: '3', component: ProofPanel },
  { id: 'plan', title: 'Plan', icon: 'plan', key: '4', component: PlanPanel },
  { id: 'wire', title: 'Wire', icon: 'wire', key: '5', component: WirePanel },
  { id: 'problems', title: 'Problems', icon: 'problems', key: '6', component: ProblemsPanel },
  { id: 'usage', title: 'Usage', icon: 'usage', key: '7', component: UsagePanel },
]
