import { call, fail, type OfflineRequest, type OfflineScript, type OfflineTurn, say } from '@millrace/server/adk'
import { chatModel } from '@millrace/server/langgraph'
import type { SearchResult } from '../corpus/search.ts'
import type { GivenTask } from './offline-edits.ts'
import { changesFor, proposal } from './offline-proposal.ts'

/** The offline script of the graph's nodes. Searches, artifacts and data items are real. */
const plannerScript: OfflineScript = {
  chat({ user, instruction, history }) {
    const tasks = JSON.parse(instruction.slice(instruction.lastIndexOf('\n') + 1)) as readonly GivenTask[]
    const asked = history.filter(({ role }) => role === 'user').map(({ text }) => text)
    return say(proposal(user, tasks, asked.slice(0, -1)))
  },
  extract_tasks({ user }) {
    const { tasks, conversation } = JSON.parse(user) as ExtractRequest
    const asked = conversation.filter(({ role }) => role === 'human').map(({ text }) => text)
    return JSON.stringify(changesFor(asked.at(-1) ?? '', tasks, asked.slice(0, -1)))
  },
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

/** What the node `extract_tasks` asks the model with. */
interface ExtractRequest {
  readonly tasks: readonly GivenTask[]
  readonly conversation: readonly { readonly role: string; readonly text: string }[]
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
  const [, kind] = /^save each .* as an? (\w+)/i.exec(title) ?? []
  if (kind !== undefined && known.length > 0) return saveEach(kind, known, step)
  const subject = title.replace(
    /^(?:research|survey|compare|look into|find|collect|check|write an? (?:\w+ o[fn]\s)?)\s+/i,
    '',
  )
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

/** The names that the findings mention, each kept once with its source. */
function saveEach(itemType: string, known: readonly SearchResult[], step: number): OfflineTurn {
  const named = new Map<string, string>()
  for (const { snippet, url } of known) {
    for (const [name] of snippet.matchAll(/(?<=[a-z,] )(?:[A-Z][a-z]\w+|[A-Z]{3,})(?: (?:[A-Z][a-z]\w+|\d+))*/g)) {
      if (name !== 'CRM' && !named.has(name)) named.set(name, url)
    }
  }
  if (named.size === 0) return `The findings so far name no one to save as ${itemType}.`
  if (step === 0)
    return [...named].map(([name, source]) => call('save_data_item', { itemType, item: { name, source } }))
  return `Saved ${named.size} as ${itemType}: ${[...named.keys()].join(', ')}.`
}

function writeUp(task: string, found: readonly SearchResult[], step: number): OfflineTurn {
  const [, subject = task.replace(/^(?:write|draft|summari[sz]e) /i, '')] = /\bo[fn] (.*)$/.exec(task) ?? []
  const title = subject.replace(/^(?:the|an?) /i, '').replace(/^./, (letter) => letter.toUpperCase())
  if (step > 0) return `Wrote “${title}” from ${plural(found.length)}.`
  const body = found.map(({ snippet }, i) => `${snippet} [${i + 1}]`).join('\n\n')
  const list = found.map(({ title: name, url }, i) => `${i + 1}. [${name}](${url})`).join('\n')
  const content = `# ${title}\n\n${body}\n\n## Sources\n${list}\n`
  return call('create_artifact', { name: title, type: 'summary', content })
}

const plural = (count: number, kind = ''): string => (count === 1 ? `1 ${kind}source` : `${count} ${kind}sources`)
