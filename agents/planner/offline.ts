import { call, fail, type OfflineRequest, type OfflineScript, type OfflineTurn, say } from '@millrace/server/adk'
import { chatModel } from '@millrace/server/langgraph'
import type { SearchResult } from '../corpus/search.ts'
import { proposal } from './offline-proposal.ts'

/** The offline script of the graph's nodes. Searches, artifacts and data items are real. */
const plannerScript: OfflineScript = {
  chat: (request) => say(proposal(request)),
  extract_tasks: ({ user }) => JSON.stringify({ tasks: tasksIn(user) }),
  execute_task: carryOut,
  reflect({ user }) {
    const [, title = '', status = '', result = ''] = /^Task: (.*)\nStatus: (.*)\nResult: (.*)/.exec(user) ?? []
    if (status === 'failed')
      return `“${title}” failed: ${result}. The other tasks do not depend on it, so the plan goes on.`
    if (/found nothing/i.test(result)) return `“${title}” found nothing. Other words may find more; the plan goes on.`
    const [, count] = /(\d+) (?:new )?sources?/.exec(result) ?? []
    return count === undefined
      ? `“${title}” is done.`
      : `“${title}” is done and rests on ${plural(Number(count))}; the next task can build on that.`
  },
}

export const llm = chatModel({ offline: plannerScript })

/** The numbered lines of the last answer. */
function tasksIn(conversation: string): readonly { title: string; description: string }[] {
  const last = conversation.slice(conversation.lastIndexOf('\nai: ') + 1)
  return [...last.matchAll(/^\d+\. (.+?)(?: — (.+))?$/gm)].map(([, title = '', description = '']) => ({
    title,
    description,
  }))
}

/** A writing task uses the findings so far; any other task searches, and saves what is new. */
function carryOut(request: OfflineRequest): OfflineTurn {
  const { user, step, result } = request
  const [, title = ''] = /Task: (.*)/.exec(user) ?? []
  if (/simulate a failure/i.test(title)) return fail('UNAVAILABLE', 'the model is overloaded (simulated)')
  const known = [...user.matchAll(/^- (.*) \(\[([^\]]+)\]\(([^)]+)\)\)$/gm)].map(
    ([, snippet = '', name = '', url = '']) => ({ snippet, title: name, url }),
  )
  const writes = /^(?:write|draft|summari[sz]e)\b/i.test(title)
  if (writes && known.length > 0) return writeUp(title, known, step)
  const subject = title.replace(/^(?:research|survey|compare|look into|find|collect|check|write an? \w+ o[fn])\s+/i, '')
  if (step === 0) return call('web_search', { query: subject })
  const search = result('web_search')
  if (typeof search?.error === 'string') return fail('SEARCH', search.error)
  const found = (Array.isArray(search?.results) ? search.results : []) as unknown as readonly SearchResult[]
  if (found.length === 0) return `I found nothing about ${subject}.`
  if (writes) return writeUp(title, found, step - 1)
  return keep(
    subject,
    found.filter(({ url }) => !known.some((one) => one.url === url)),
    step,
  )
}

function keep(subject: string, fresh: readonly SearchResult[], step: number): OfflineTurn {
  if (fresh.length === 0) return `Nothing new about ${subject}: what there is was found before.`
  if (step === 1)
    return fresh.map(({ title, url, snippet }) =>
      call('save_data_item', { itemType: 'source', item: { title, url, note: snippet } }),
    )
  return `Kept ${plural(fresh.length, 'new ')} on ${subject}: ${fresh.map(({ title, url }) => `[${title}](${url})`).join(', ')}.`
}

function writeUp(task: string, found: readonly SearchResult[], step: number): OfflineTurn {
  const [, subject = task] = /\bo[fn] (.*)$/.exec(task) ?? []
  const title = subject.replace(/^(?:the|an?) /i, '').replace(/^./, (letter) => letter.toUpperCase())
  if (step > 0) return `Wrote “${title}” from ${plural(found.length)}.`
  const body = found.map(({ snippet }, i) => `${snippet} [${i + 1}]`).join('\n\n')
  const list = found.map(({ title: name, url }, i) => `${i + 1}. [${name}](${url})`).join('\n')
  const content = `# ${title}\n\n${body}\n\n## Sources\n${list}\n`
  return call('create_artifact', { name: title, type: 'summary', content })
}

const plural = (count: number, kind = ''): string => (count === 1 ? `1 ${kind}source` : `${count} ${kind}sources`)
