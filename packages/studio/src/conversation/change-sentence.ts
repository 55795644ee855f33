import type { ChangedStep } from '@millrace/core'

/** What was changed, of which step and by whom: `me` is the person who reads it. */
export function changeSentence(
  { field, by: person, agent, name }: Pick<ChangedStep, 'field' | 'by' | 'agent' | 'name'>,
  me: string | undefined,
): string {
  const by = person === me ? 'You' : person
  const whose = agent === undefined ? '' : ` of ${agent}`
  if (field === 'message') return `${by} changed the message`
  if (field === 'state') return `${by} changed the state`
  if (field === 'tool') return `${by} changed the result of ${name ?? 'a tool'}`
  return `${by} changed the request of a model call${whose}`
}
