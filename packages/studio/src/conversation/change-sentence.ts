import type { ChangedStep } from '@millrace/core'

/** What was changed, of which step and by whom. */
export function changeSentence({
  field,
  by,
  agent,
  name,
}: Pick<ChangedStep, 'field' | 'by' | 'agent' | 'name'>): string {
  const whose = agent === undefined ? '' : ` of ${agent}`
  if (field === 'message') return `${by} changed the message`
  if (field === 'state') return `${by} changed the state`
  if (field === 'tool') return `${by} changed the result of ${name ?? 'a tool'}`
  return `${by} changed the request of a model call${whose}`
}
