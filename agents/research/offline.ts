import { call, type OfflineRequest, type OfflineScript, type OfflineTurn, say, think } from '@millrace/server/adk'

interface Found {
  readonly title: string
  readonly url: string
  readonly snippet: string
}

/** What the agents say when there is no key: words around what the searches really found. */
export const script: OfflineScript = {
  dispatcher({ user, step }) {
    if (/what can you|help/i.test(user))
      return 'I hand research questions to a planner with three assistants. Try “Research quantum computing”.'
    return step === 0 ? call('transfer_to_agent', { agentName: 'plan_generator' }) : 'The planner takes it from here.'
  },
  plan_generator: plan,
  section_researcher: (request) => searchThen(request, request.user.replace(/^Section:\s*/, ''), findings),
  enhanced_search_executor: (request) => searchThen(request, request.user.replace(/^Close the gap:\s*/, ''), findings),
  report_composer: ({ user }) => say(report(user)),
}

const topicOf = (text: string): string =>
  text
    .replace(/^(please )?(research|find|look up|investigate|tell me about)\s+(the )?(latest )?/i, '')
    .replace(/[?.!]+$/, '')
    .trim() || text

function plan({ user, step, results, state }: OfflineRequest): OfflineTurn {
  const topic = topicOf(user)
  const sections = [`${topic}: how it works`, `${topic}: state of the field`, `${topic}: uses and limits`]
  switch (step) {
    case 0:
      return [
        think(
          `The user asks about ${topic}. Three sections cover it: how it works, where the field stands, what it is good for. They do not depend on each other, so they can be researched side by side.`,
        ),
        call('web_search', { query: topic, limit: 3 }),
        call('save_plan', { topic, sections }),
      ]
    case 1:
      return [
        say(`Here is my plan for **${topic}**:\n\n${sections.map((section, i) => `${i + 1}. ${section}`).join('\n')}`),
        ...sections.map((section) => call('section_researcher', { request: `Section: ${section}` })),
      ]
    case 2:
      return call('enhanced_search_executor', { request: `Close the gap: ${topic} standards and evaluation` })
    case 3: {
      const found = results.filter(({ name }) => name === 'section_researcher' || name === 'enhanced_search_executor')
      const told = found.map(
        ({ response }, i) => `## ${sections[i] ?? `${topic}: what a second look adds`}\n${text(response)}`,
      )
      return call('report_composer', { request: `# ${topic}\n${told.join('\n')}` })
    }
    default: {
      const written = text(results.findLast(({ name }) => name === 'report_composer')?.response)
      return say(written === '' && typeof state.report === 'string' ? state.report : written)
    }
  }
}

/** Search, then tell. */
function searchThen(
  { step, result }: OfflineRequest,
  query: string,
  tell: (found: readonly Found[]) => string,
): OfflineTurn {
  if (step === 0) return call('web_search', { query, limit: 3 })
  const answer = result('web_search')
  if (typeof answer?.error === 'string') return `The search failed: ${answer.error}`
  return tell(Array.isArray(answer?.results) ? (answer.results as unknown as Found[]) : [])
}

function findings(found: readonly Found[]): string {
  if (found.length === 0) return 'Nothing was found on this.'
  return found.map(({ snippet, title, url }) => `- ${snippet} ([${title}](${url}))`).join('\n')
}

/** A report out of headings and findings: every source once, at the end. */
function report(request: string): string {
  const sources = new Map(
    [...request.matchAll(/\[([^\]]+)\]\((https?:[^)]+)\)/g)].map(([, title = '', url = '']) => [url, title]),
  )
  const body = request.replace(
    / \(\[([^\]]+)\]\((https?:[^)]+)\)\)/g,
    (_whole, _title, url: string) => ` [${[...sources.keys()].indexOf(url) + 1}]`,
  )
  const list = [...sources].map(([url, title], i) => `${i + 1}. [${title}](${url})`)
  return `${body.trim()}\n\n**Source:** ${[...sources.values()].join(', ')}\n\n## Sources\n${list.join('\n')}`
}

const text = (answer: Readonly<Record<string, unknown>> | undefined): string =>
  typeof answer?.result === 'string' ? answer.result : typeof answer?.error === 'string' ? answer.error : ''
