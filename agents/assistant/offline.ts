import { call, fail, type OfflineRequest, type OfflineTurn, say, think } from '@millrace/server/adk'

/** The offline script: it understands a few sentences. The tools and their results are real. */
export function assistantScript(request: OfflineRequest): OfflineTurn {
  return request.step === 0 ? firstTurn(request) : afterTools(request)
}

function firstTurn({ user, state }: OfflineRequest): OfflineTurn {
  const text = user.trim()
  const counted = /^count(?: slowly)?(?: up)? to (\d{1,4})/i.exec(text)?.[1]
  const sum = /(-?\d+(?:\.\d+)?)\s*([-+*/×x÷])\s*(-?\d+(?:\.\d+)?)/.exec(text)
  const added = /^(?:please )?add (?:a |the |this )?proverb\s*[:,]?\s*["“]?(.+?)["”]?$/i.exec(text)?.[1]
  const removed = /remove (?:the )?(?:proverb )?(?:number |no\.? ?|#)?(\d+|first|second|third|last)/i.exec(text)?.[1]
  const city = /weather (?:is it |like )?(?:in|for|at) ([\p{L} .'-]+?)(?: today| now)?[?.!]*$/iu.exec(text)?.[1]
  if (/simulate a (?:model )?failure/i.test(text))
    return [say('Let me see. '), fail('UNAVAILABLE', 'The model is overloaded (simulated).')]
  if (counted !== undefined) return say(numbers(Math.min(Number(counted), 1000)), 20)
  if (/delete all/i.test(text)) return call('delete_all_proverbs')
  if (added !== undefined) return call('add_proverb', { proverb: added })
  if (removed !== undefined)
    return call('remove_proverb', {
      number: ordinal(removed, Array.isArray(state.proverbs) ? state.proverbs.length : 0),
    })
  if (/list|show|which proverbs|my proverbs/i.test(text)) return call('list_proverbs')
  if (city !== undefined) return call('get_weather', { city })
  if (sum !== null) return arithmetic(sum)
  if (/tell me a proverb|a proverb/i.test(text)) return 'Still waters run deep. Shall I add it to your list?'
  if (/^(hello|hi|hey|good (?:morning|day|evening))\b/i.test(text)) return 'Hello! How can I help you?'
  return 'I am the offline model, so I only know a few things: proverbs, the weather of some cities, and sums. Try “Add a proverb: Still waters run deep”.'
}

/** One sentence per result, with the tool's own figures. */
function afterTools({ results }: OfflineRequest): OfflineTurn {
  return results.map(({ name, response }) => sentence(name, response)).join(' ')
}

function sentence(tool: string, answer: Readonly<Record<string, unknown>>): string {
  if (typeof answer.error === 'string') {
    return tool === 'delete_all_proverbs' ? 'All right, nothing was deleted.' : `That did not work: ${answer.error}`
  }
  switch (tool) {
    case 'add_proverb':
      return `I added “${answer.added}”. The list has ${plural(Number(answer.count))} now.`
    case 'remove_proverb':
      return `I removed “${answer.removed}”. The list has ${plural(Number(answer.count))} now.`
    case 'delete_all_proverbs':
      return `Done: ${plural(Number(answer.deleted))} deleted.`
    case 'list_proverbs': {
      const proverbs = Array.isArray(answer.proverbs) ? answer.proverbs : []
      if (proverbs.length === 0) return 'Your list is empty.'
      return `Your proverbs:\n\n${proverbs.map((proverb, i) => `${i + 1}. ${proverb}`).join('\n')}`
    }
    case 'get_weather':
      return `In ${answer.city} it is ${answer.lowCelsius} to ${answer.highCelsius} °C in a typical week of spring, with rain on ${answer.rainyDaysPerWeek} days of seven.`
    default:
      return JSON.stringify(answer)
  }
}

function arithmetic([, left, operator, right]: RegExpExecArray): OfflineTurn {
  const [a, b] = [Number(left), Number(right)]
  const results: Readonly<Record<string, number>> = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '×': a * b,
    x: a * b,
    '/': a / b,
    '÷': a / b,
  }
  const result = results[operator ?? '+'] ?? Number.NaN
  if (!Number.isFinite(result))
    return [
      think('The divisor is zero, so there is no result.'),
      say('That has no answer: nothing can be divided by zero.'),
    ]
  const shown = Number(result.toPrecision(12))
  return [
    think(
      `The user wants ${a} ${operator} ${b}. Working it out step by step: the operands are ${a} and ${b}, so the result is ${shown}.`,
    ),
    say(`${a} ${operator} ${b} = ${shown}`),
  ]
}

const numbers = (last: number): string => Array.from({ length: last }, (_, i) => String(i + 1)).join(' ')
const plural = (count: number): string => (count === 1 ? '1 proverb' : `${count} proverbs`)
const ordinal = (word: string, count: number): number =>
  ({ first: 1, second: 2, third: 3, last: Math.max(1, count) })[word.toLowerCase()] ?? Number(word)
