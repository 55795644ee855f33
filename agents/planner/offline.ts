import { call, type OfflineRequest, type OfflineScript, type OfflineTurn, say } from '@millrace/server/adk'
import { chatModel } from '@millrace/server/langgraph'

interface Found {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** What the graph's nodes say when there is no key; searches, artifacts and data items are real. */
const script: OfflineScript = {
  chat: ({ user }) => say(proposal(user)),
  extract_tasks: ({ user }) => JSON.stringify({ tasks: tasksIn(user) }),
  execute_task: carryOut,
  reflect({ user }) {
    const [, title = ''] = /Task: (.*)/.exec(user) ?? []
    if (/Status: failed/.test(user))
      return `“${title}” failed; the other tasks do not depend on it, so the plan goes on.`
    return `“${title}” is complete. What it found is kept with its sources, so the next task can build on it.`
  },
}

export const llm = chatModel({ offline: script })

const subjectOf = (text: string): string =>
  text
    .replace(/^(please |can you |help me )*(plan|organi[sz]e|prepare)\s+(an?|the|my|our)?\s*/i, '')
    .replace(/[.?!]+$/, '')
    .trim()

function proposal(user: string): string {
  if (!/plan|organi|prepare|tasks?/i.test(user))
    return 'Tell me what you want to get done, for example “Plan a competitor analysis of the CRM market”, and I will propose tasks.'
  const subject = subjectOf(user) || 'this'
  return `Here is a plan for **${subject}**:

1. Research ${subject} — find what is known, with sources
2. Write a summary of ${subject} — a document to share
3. List the main points of ${subject} as data — one item each

Edit the tasks as you like, then execute them.`
}

/** The numbered lines of the last answer. */
function tasksIn(conversation: string): readonly { title: string; description: string }[] {
  const last = conversation.slice(conversation.lastIndexOf('\nai: ') + 1)
  return [...last.matchAll(/^\d+\. (.+?)(?: — (.+))?$/gm)].map(([, title = '', description = '']) => ({
    title,
    description,
  }))
}

function carryOut({ user, step, result }: OfflineRequest): OfflineTurn {
  const [, title = ''] = /Task: (.*)/.exec(user) ?? []
  const subject = title
    .replace(/^(research|write a summary of|list the main points of)\s+/i, '')
    .replace(/ as data$/i, '')
  const found = (result('web_search')?.results ?? []) as unknown as readonly Found[]
  if (step === 0) return call('web_search', { query: subject === '' ? title : subject })
  if (found.length === 0) return `I found nothing about ${subject}.`
  const sources = found.map(({ title: name, url }) => `[${name}](${url})`)
  if (/^list/i.test(title)) {
    if (step === 1)
      return found.map(({ title: name, url, snippet }) =>
        call('save_data_item', { itemType: 'finding', item: { name, url, note: snippet } }),
      )
    return `Saved ${found.length} findings as data items.`
  }
  if (step === 1) {
    const content = `# ${title}\n\n${found.map(({ snippet, title: name, url }) => `- ${snippet} ([${name}](${url}))`).join('\n')}\n`
    return call('create_artifact', { name: title, type: /summary/i.test(title) ? 'summary' : 'document', content })
  }
  return `Wrote “${title}” from ${found.length} sources: ${sources.join(', ')}.`
}
