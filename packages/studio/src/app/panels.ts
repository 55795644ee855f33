import type { SessionHandle } from '@millrace/react'
import { type ComponentType, lazy } from 'react'
import type { IconName } from '../ui/icon.tsx'

/**
 * A panel of the inspector: it shows one view of the session at the shared cursor. To add one, write
 * `<name>/<name>.tsx` and `<name>/<name>.css`, add an icon to `ui/icon.tsx` and an entry to `panels` below.
 */
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
  /** The name of the session's agent, whose graph the flow panel shows. */
  readonly agent: string
  /** The seq to show; undefined is the latest. */
  readonly at: number | undefined
}

type Load = () => Promise<ComponentType<PanelProps>>
const loads: Load[] = []

/** A panel is loaded when it is first shown, so that the conversation does not wait for a graph library. */
function panel(load: Load): ComponentType<PanelProps> {
  loads.push(load)
  return lazy(async () => ({ default: await untilLoaded(load) }))
}

/** Asks for a panel again until it comes: the connection may be lost just then, and the page must live on. */
async function untilLoaded(load: Load): Promise<ComponentType<PanelProps>> {
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }
}

/** Loads all panels ahead of their use; called when the page is idle. */
export function loadPanels(): void {
  // Without a connection nothing is loaded ahead; a panel that is shown tries again.
  for (const load of loads) load().catch(() => undefined)
}

/** In the order of the tabs. */
export const panels: readonly Panel[] = [
  {
    id: 'flow',
    title: 'Flow',
    icon: 'flow',
    key: '1',
    component: panel(async () => (await import('../flow/flow.tsx')).FlowPanel),
  },
  {
    id: 'state',
    title: 'State',
    icon: 'state',
    key: '2',
    component: panel(async () => (await import('../state/state.tsx')).StatePanel),
  },
  {
    id: 'proof',
    title: 'Proof',
    icon: 'proof',
    key: '3',
    component: panel(async () => (await import('../proof/proof.tsx')).ProofPanel),
  },
  {
    id: 'plan',
    title: 'Plan',
    icon: 'plan',
    key: '4',
    component: panel(async () => (await import('../plan/plan.tsx')).PlanPanel),
  },
  {
    id: 'wire',
    title: 'Wire',
    icon: 'wire',
    key: '5',
    component: panel(async () => (await import('../wire/wire.tsx')).WirePanel),
  },
  {
    id: 'problems',
    title: 'Problems',
    icon: 'problems',
    key: '6',
    component: panel(async () => (await import('../problems/problems.tsx')).ProblemsPanel),
  },
  {
    id: 'usage',
    title: 'Usage',
    icon: 'usage',
    key: '7',
    component: panel(async () => (await import('../usage/usage.tsx')).UsagePanel),
  },
  {
    id: 'step',
    title: 'Step',
    icon: 'step',
    key: '8',
    component: panel(async () => (await import('../step/step.tsx')).StepPanel),
  },
]
