import { call, type OfflineRequest, type OfflineScript, type OfflineTurn, say, think } from '@millrace/server/adk'
import type { SearchResult as Found } from '../corpus/search.ts'
import { report } from './offline-report.ts'

/** The offline script of the agents: text around what the searches really found. */
export const researchScript: OfflineScript = {
  dispatcher({ user, step }) {
    if (/what can you|help/i.test(user))
      return 'I hand research questions to a planner with three assistants. Try “Research quantum computing”.'
    return step === 0 ? call('transfer_to_agent', { agentName: 'plan_generator' }) : 'The planner takes it from here.'
  },
  plan_generator: plan,
  section_researcher: (request) => searchThen(request, request.user.replace(/^Section:\s*/, ''), 2),
  enhanced_search_executor(request) {
    const [, gap = request.user, covered = ''] =
      /^Close the gap: (.*?)\. Covered already: (.*)$/s.exec(request.user) ?? []
    return searchThen(request, gap, 6, new Set(covered.split('; ')))
  },
  report_composer: ({ user }) => say(report(user)),
}

const topicOf = (text: string): string =>
  text
    .replace(/^(please )?(research|find|look up|investigate|tell me about)\s+(the )?(latest )?/i, '')
    .replace(/[?.!]+$/, '')
    .trim() || text

/** Searches, plans sections from the results, has them researched in parallel, closes the gap, has the report written. */
function plan({ user, step, results, result, state }: OfflineRequest): OfflineTurn {
  const topic = topicOf(user)
  // The results of the first search are the sections.
  const around = result('web_search')
  const sections = foundBy(around)
    .slice(0, 3)
    .map(({ title }) => title.slice(0, 100))
  if (step === 1 && sections.length === 0) {
    if (typeof around?.error === 'string') return `The search failed: ${around.error}`
    return `I searched for **${topic}** and found nothing, so there is nothing to report. Other words may find more.`
  }
  switch (step) {
    case 0:
      return [
        think(
          `The user asks about ${topic}. One search shows what there is to read; the sections of the plan follow from that. They do not depend on each other, so they can be researched side by side.`,
        ),
        call('web_search', { query: topic, limit: 5 }),
      ]
    case 1:
      return [
        say(`My plan for **${topic}**:\n\n${sections.map((section, i) => `${i + 1}. ${section}`).join('\n')}\n`),
        call('save_plan', { topic, sections }),
        ...sections.map((section) => call('section_researcher', { request: `Section: ${section}` })),
      ]
    case 2:
      return call('enhanced_search_executor', {
        request: `Close the gap: ${topic} in practice. Covered already: ${sections.join('; ')}`,
      })
    case 3: {
      const found = results.filter(({ name }) => name === 'section_researcher' || name === 'enhanced_search_executor')
      const findings = found.map(({ response }, i) => `## ${sections[i] ?? 'A second look'}\n${text(response)}`)
      return call('report_composer', { request: `# ${topic}\n${findings.join('\n')}` })
    }
    default: {
      const written = text(results.findLast(({ name }) => name === 'report_composer')?.response)
      return say(written === '' && typeof state.report === 'string' ? state.report : written)
    }
  }
}

/** Searches, then reports the results that are not covered already. */
function searchThen(
  { step, result }: OfflineRequest,
  query: string,
  limit: number,
  covered: ReadonlySet<string> = new Set(),
): OfflineTurn {
  if (step === 0) return call('web_search', { query, limit })
  const answer = result('web_search')
  if (typeof answer?.error === 'string') return `The search failed: ${answer.error}`
  const found = foundBy(answer).filter(({ title }) => !covered.has(title))
  if (found.length === 0) return 'Nothing more was found on this.'
  return found.map(({ snippet, title, url }) => `- ${snippet} ([${title}](${url}))`).join('\n')
}

const foundBy = (answer: Readonly<Record<string, unknown>> | undefined): readonly Found[] =>
  Array.isArray(answer?.results) ? (answer.results as unknown as Found[]) : []

const text = (answer: Readonly<Record<string, unknown>> | undefined): string =>
  typeof answer?.result === 'string' ? answer.result : typeof answer?.error === 'string' ? answer.error : ''
