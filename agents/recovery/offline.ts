import { defined } from '@millrace/core'
import { call, type OfflineRequest, type OfflineScript, type OfflineTurn, say } from '@millrace/server/adk'
import { type Acreage, acreageFor } from './acreage.ts'
import { amountIn, areas, lengths } from './amounts.ts'
import { fireIn, knownFires, lastFireIn } from './data/fires.ts'
import { briefing, briefingText, narrowAnswer } from './offline-briefing.ts'
import { burnReport, nepaReport, salvageReport, trailReport } from './offline-reports.ts'

/** The offline script of the five agents: text around the figures that the tools computed. */
export const recoveryScript: OfflineScript = {
  coordinator,
  burn_analyst: (request) => report(request, 'assess_severity', { fire_id: fireOf(request.user) }, burnReport),
  trail_assessor: (request) => report(request, 'classify_damage', { fire_id: fireOf(request.user) }, trailReport),
  cruising_assistant(request) {
    const sectors = /sectors:([\w,-]+)/.exec(request.user)?.[1]?.split(',')
    const args = { fire_id: fireOf(request.user), ...(sectors === undefined ? {} : { sectors }) }
    return report(request, 'assess_salvage', args, salvageReport)
  },
  nepa_advisor(request) {
    const salvage_acres = amountIn(request.user, areas)
    const temporary_road_miles = amountIn(request.user, lengths)
    const args = { fire_id: fireOf(request.user), ...defined({ salvage_acres, temporary_road_miles }) }
    return report(request, 'decide_pathway', args, nepaReport)
  },
}

function fireOf(text: string): string {
  const named = fireIn(text)
  return 'fire' in named ? named.fire.id : named.other
}

/** Calls the tool, then reports its result; the error of a failed tool is passed on. */
function report<T>(
  { step, result, user }: OfflineRequest,
  tool: string,
  args: Parameters<typeof call>[1],
  format: (found: T, acreage: Acreage) => string,
): OfflineTurn {
  if (step === 0) return call(tool, args)
  const found = result(tool)
  if (found === undefined || typeof found.error === 'string')
    return `I could not assess this: ${found?.error ?? 'the tool gave no answer'}`
  return format(found as T, acreageFor(user))
}

/** A question about a road is one about the rule, whatever else it has. */
const isAboutRoad = (text: string): boolean => /\broads?\b/i.test(text) && amountIn(text, lengths) !== undefined

const wanted: readonly { readonly about: RegExp; readonly specialist: string }[] = [
  { about: /burn|sever|dnbr|soil/i, specialist: 'burn_analyst' },
  { about: /trail|bridge|clos/i, specialist: 'trail_assessor' },
  { about: /timber|salvage.*worth|volume|value|cruis/i, specialist: 'cruising_assistant' },
  { about: /nepa|pathway|regulation|exclusion|cfr|assessment|salvage|temporary road/i, specialist: 'nepa_advisor' },
]

/** Words that ask how large the fire was, where nothing else is asked about. “The Cedar Creek area” is a place. */
const isAboutSize = /\b(?:acres?|acreage|hectares?|ha|size|how (?:big|large)|(?:what|how much|total|whole) area)\b/i

/** The one specialist that a narrow question needs; undefined for a briefing, and for what is no question. */
function specialistFor(text: string): string | undefined {
  if (/briefing|everything|overview/i.test(text)) return undefined
  if (isAboutRoad(text)) return 'nepa_advisor'
  const specialist = wanted.find(({ about }) => about.test(text))?.specialist
  if (specialist !== undefined) return specialist
  if (amountIn(text, areas) !== undefined) return 'nepa_advisor'
  return isAboutSize.test(text) ? 'burn_analyst' : undefined
}

const isUnitAlone = /^\W*(?:(?:and|what|is|that|it|how much|please)\W+)*in (?:hectares|ha|acres)\W*(?:please\W*)?$/i

/** What the person asks: “And in hectares?” asks the question before it again. */
function questionOf(user: string, asked: readonly string[]): string {
  if (!isUnitAlone.test(user)) return user
  const before = asked.findLast((text) => !isUnitAlone.test(text))
  return before === undefined ? user : `${before} ${user}`
}

/** Asks all four at once, then two follow-ups, then writes the briefing. A narrow question goes to one specialist. */
function coordinator(request: OfflineRequest): OfflineTurn {
  const { user, step, results, history } = request
  const asked = history.filter(({ role }) => role === 'user').map(({ text }) => text)
  const question = questionOf(user, asked)
  const narrow = specialistFor(question)
  if (narrow === undefined && lastFireIn([user]) === undefined && !/briefing|fire|recover|cedar/i.test(user)) {
    return `I coordinate post-fire recovery for the ${knownFires} Fire. Ask me for a recovery briefing, or about severity, trails, timber or NEPA.`
  }
  const subject = lastFireIn(asked) ?? fireIn(user)
  if ('refusal' in subject) return subject.refusal
  const fire = `fire_id:${subject.fire.id}`
  if (narrow !== undefined) {
    if (step === 0) return call(narrow, { request: `${fire} ${question}` })
    return say(narrowAnswer(subject.fire.name, results))
  }
  if (step === 0) return wanted.map(({ specialist }) => call(specialist, { request: fire }))
  if (step === 1) return followUps(request, fire)
  return say(briefing(results))
}

/** Asks about the plots where the fire was worst, and whether a salvage of those alone needs less review. */
function followUps({ result }: OfflineRequest, fire: string): OfflineTurn {
  const high = [...briefingText(result('burn_analyst')).matchAll(/^- ([A-Z]+-\d+):/gm)].map(([, id = '']) => id)
  const plots = [...briefingText(result('cruising_assistant')).matchAll(/^- TP-\d+ \(([\w-]+), [^,]+, (\d+) acres\)/gm)]
  const acres = plots.reduce((sum, [, sector = '', size]) => sum + (high.includes(sector) ? Number(size) : 0), 0)
  return [
    call('cruising_assistant', { request: `${fire} sectors:${high.join(',')} Which plots first?` }),
    call('nepa_advisor', {
      request: `${fire} Which pathway for a salvage of ${acres} acres, in the high-severity sectors alone?`,
    }),
  ]
}
