import { capital, editIn, type GivenTask, nothing, type PlanChanges, taskLine } from './offline-edits.ts'

/**
 * What a message changes in the plan: it adds, renames or removes a task, or it is a request, whose tasks are added. A
 * request that was made before changes nothing, because its tasks are in the plan, or a person has taken them out.
 */
export function changesFor(message: string, tasks: readonly GivenTask[], earlier: readonly string[]): PlanChanges {
  const text = plainly(message)
  const knows = (): boolean => asksForPlan(text) || asksToExecute(message) || earlier.includes(message)
  if (isSmallTalk(text)) return nothing
  const edit = editIn(text, tasks)
  if (edit !== undefined) return edit
  if (tasks.length > 0 && knows()) return nothing
  const present = new Set(tasks.map((each) => each.title.toLowerCase()))
  // “Also prepare a table” adds to the plan what it says, and begins no plan of its own.
  const [, more] = /^(?:and|also|then|next|finally)[, ]+(?:also |please )*(.+)$/i.exec(text) ?? []
  const added = more === undefined ? undefined : editIn(more, tasks)
  if (added !== undefined) return added
  const add = more === undefined || tasks.length === 0 ? tasksFor(more ?? text) : stepsIn(more).map(taskLine)
  return { ...nothing, add: add.filter((each) => !present.has(each.title.toLowerCase())) }
}

/** The answer in the conversation: what changes, and the plan as it is then. */
export function proposal(message: string, tasks: readonly GivenTask[], earlier: readonly string[]): string {
  const { add, update, remove } = changesFor(message, tasks, earlier)
  const titles = new Map(update.map(({ id, title }) => [id, title]))
  const kept = tasks
    .filter(({ id }) => !remove.includes(id))
    .map((task) => ({ ...task, title: titles.get(task.id) ?? task.title }))
  const plan = numbered([...kept, ...add])
  if (add.length + update.length + remove.length > 0 && tasks.length > 0)
    return `The plan is now:\n\n${plan}\n\nExecute it when you like.`
  if (add.length > 0) {
    return `Here is a plan for **${subjectOf(message)}**:\n\n${plan}\n\nEdit the tasks as you like (${edits}), then execute them.`
  }
  if (tasks.length > 0 && asksToExecute(message))
    return `The plan is ready:\n\n${plan}\n\nA message only changes it: press Execute to carry it out.`
  if (tasks.length > 0)
    return `I leave the plan as it is:\n\n${plan}\n\nExecute it when you like, or tell me what to change (${edits}).`
  return 'Tell me what you want to get done, for example “Plan a competitor analysis of the CRM market”, and I will propose tasks.'
}

const edits = '“Add a task: …”, “Rename task 1 to …”, “Remove task 2”'

/** No request needs more; the time to read one grows faster than its length. */
const longest = 10_000

/** A message without what is polite before it: “Hello, could you please …”. */
const plainly = (message: string): string =>
  message
    .slice(0, longest)
    .trim()
    .replace(
      /^(?:(?:please|hi|hello|hey|thanks|thank you|great|ok(?:ay)?|yes|so|now|no,|help me(?: to)?|(?:can|could|would|will) you|i(?: would|['’]d)? (?:like|want|need) (?:you )?to|let us|let['’]s)(?![\p{L}\p{N}])[\s,.!:]*)+/iu,
      '',
    )

/** Words of which greetings, thanks and praise consist: “Thanks, looks good to me!”. */
const smallWords = new Set(
  `a again all alright and are awesome bye can cool day do done evening everyone far fine for good goodbye got great hello help
  hey hi how i is it job just looks lot lovely me morning much nice no nope now of ok okay perfect please right see seems so
  sounds super sure thank thanks that that's that’s the there this to understood very well what who wonderful work yeah yep yes you your`.split(
    /\s+/,
  ),
)
const isSmallTalk = (text: string): boolean =>
  (text.toLowerCase().match(/[\p{L}\p{N}'’]+/gu) ?? []).every((word) => smallWords.has(word))
const asksForPlan = (text: string): boolean => /^(?:show|what|which|how|list|is|are)\b.*\b(?:plan|tasks?)\b/i.test(text)

/** “Execute the plan”, “Looks good, now run it, please”: no task of its own. */
const asksToExecute = (message: string): boolean => {
  const parts = message.split(/[,;.!]+/).filter((part) => !isSmallTalk(part))
  return parts.length > 0 && parts.every((part) => execution.test(part.trim()))
}
const execution =
  /^(?:please[, ]+|ok(?:ay)?[, ]+|now[, ]+|let us |let's |then )*(?:execute|run|start|begin|carry out|go ahead with|do)(?: (?:it|them|all|everything|the (?:whole )?(?:plan|tasks?)|all (?:the )?tasks))?(?: out)?(?: now)?(?:,? please)?$/i

const numbered = (tasks: readonly { readonly title: string; readonly description: string }[]): string =>
  tasks
    .map(({ title, description }, i) => `${i + 1}. ${title}${description === '' ? '' : ` — ${description}`}`)
    .join('\n')

const verbs =
  'analy[sz]e|ask|book|build|buy|call|check|choose|collect|compare|create|define|design|draft|estimate|find|gather|identify|interview|invite|list|look|make|measure|organi[sz]e|prepare|present|publish|read|research|review|save|schedule|send|set|study|summari[sz]e|survey|test|translate|update|write'
const clause = new RegExp(`\\s*(?:[,;.]|\\band\\b|\\bthen\\b)[\\s,]*(?:and |then )*(?=(?:${verbs})\\b)`, 'i')

/** The tasks that a request names one after the other; else two searches from different sides and a document. */
function tasksFor(request: string): PlanChanges['add'] {
  const steps = stepsIn(request)
  if (steps.length > 1) return steps.map(taskLine)
  const subject = subjectOf(request) || 'this'
  const [, market] = /(?:analysis|comparison|study|survey) of (.+)$/i.exec(subject) ?? []
  if (market !== undefined) {
    return [
      `Survey ${market} — who is in it and how they differ`,
      `Compare prices and choice in ${market} — what it costs and how to choose`,
      `Write a summary of ${market} — a document to share, with its sources`,
    ].map(taskLine)
  }
  return [
    `Research ${subject} — what is known, with sources`,
    `Look into budget and risks of ${subject} — what it takes and what can go wrong`,
    `Write a brief on ${subject} — a document to share, with its sources`,
  ].map(taskLine)
}

function stepsIn(request: string): readonly string[] {
  const listed = [...request.matchAll(/^\s*(?:\d+[.)]|[-*•])\s+(\S.*)$/gm)].map(([, item = '']) => capital(item.trim()))
  if (listed.length > 0) return listed
  return request
    .replace(/[.?!]+$/, '')
    .split(clause)
    .filter((step) => step !== '')
    .map(capital)
}

const subjectOf = (text: string): string =>
  plainly(text)
    .replace(/^(?:(?:plan|organi[sz]e|prepare|research|look into|make a plan for)\s+)/i, '')
    .replace(/[.?!]+$/, '')
    .replaceAll(' — ', ', ')
    .trim()
