import type { ComponentType } from 'react'
import { TimelinePanel } from '../timeline/timeline.tsx'
import type { PanelProps } from './panels.ts'

/** What stands under the conversation and the inspector, across the whole width. */
export const slots: { readonly timeline: ComponentType<PanelProps> | undefined } = { timeline: TimelinePanel }
