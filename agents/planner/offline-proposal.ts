import type { OfflineRequest } from '@millrace/server/adk'

/** A plan for a request, or the current plan after a change. */
export function proposal({ user, history }: Pick<OfflineRequest, 'user' | 'history'>): string {
  const last = history.findLast(({ role, text }) => role === 'model' && /^1\. /m.test(text))?.text ?? ''
  const lines = [...last.matchAll(/^\d+\. (.+)$/gm)].map(([, line = '']) => line)
  const changed = lines.length === 0 ? undefined : change(lines, user)
  if (changed !== undefined) return `The plan is now:\n\n${numbered(changed)}\n\nExecute it when you like.`
  if (!/plan|organi|prepare|tasks?/i.test(user))
    return 'Tell me what you want to get done, for example “Plan a competitor analysis of the CRM market”, and I will propose tasks.'
  const subject = subjectOf(user) || 'this'
  return `Here is a plan for **${subject}**:\n\n${numbered(tasksFor(subject))}\n\nEdit the tasks as you like (“Add a task: …”, “Remove task 2”), then execute them.`
}

const numbered = (lines: readonly string[]): string => lines.map((line, i) => `${i + 1}. ${line}`).join('\n')

/** The plan after “add a task: …” or “remove task 2”; undefined when the user asked for neither. */
function change(lines: readonly string[], user: string): readonly string[] | undefined {
  const [, added] = /^(?:please )?add (?:a |another )?task\s*[:,]?\s*(.+)$/i.exec(user.trim()) ?? []
  if (added !== undefined) return [...lines, added]
  const [, removed] = /^(?:please )?(?:remove|delete|drop) task (\d+)/i.exec(user.trim()) ?? []
  return removed === undefined ? undefined : lines.filter((_line, i) => i !== Number(removed) - 1)
}

const subjectOf = (text: string): string =>
  text
    .replace(/^(please |can you |help me )*(plan|organi[sz]e|prepare)\s+/i, '')
    .replace(/[.?!]+$/, '')
    .trim()

/** Two searches from different sides, then a document that uses both. */
function tasksFor(subject: string): readonly string[] {
  const [, market] = /(?:analysis|comparison|study|survey) of (.+)$/i.exec(subject) ?? []
  if (market !== undefined) {
    return [
      `Survey ${market} — who is in it and how they differ`,
      `Compare prices and choice in ${market} — what it costs and how to choose`,
      `Write a summary of ${market} — a document to share, with its sources`,
    ]
  }
  return [
    `Research ${subject} — what is known, with sources`,
    `Look into budget and risks of ${subject} — what it takes and what can go wrong`,
    `Write a brief on ${subject} — a document to share, with its sources`,
  ]
}
