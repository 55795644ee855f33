/** A task as the model is given it. */
export interface GivenTask {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly status: string
}
export interface PlanChanges {
  readonly add: readonly { readonly title: string; readonly description: string }[]
  readonly update: readonly { readonly id: string; readonly title: string }[]
  readonly remove: readonly string[]
}

const nothing: PlanChanges = { add: [], update: [], remove: [] }

/**
 * What a message changes in the plan: it adds, renames or removes a task, or it is a request, whose tasks are added. A
 * request that was made before changes nothing, because its tasks are in the plan, or a person has taken them out.
 */
export function changesFor(message: string, tasks: readonly GivenTask[], earlier: readonly string[]): PlanChanges {
  const text = message.trim().replace(/^please[, ]+/i, '')
  const nth = (at: string | undefined): GivenTask | undefined => tasks[Number(at) - 1]
  const [, added] = /^add (?:a |another )?task\s*[:,]?\s*(.+)$/i.exec(text) ?? []
  if (added !== undefined) return { ...nothing, add: [lineOf(added)] }
  const [, dropped] = /^(?:remove|delete|drop) task (\d+)/i.exec(text) ?? []
  if (dropped !== undefined) return { ...nothing, remove: [nth(dropped)?.id ?? ''].filter((id) => id !== '') }
  const [, renamed, title] = /^(?:rename|change) task (\d+) (?:to|into)\s*[:,]?\s*(.+)$/i.exec(text) ?? []
  const task = nth(renamed)
  if (title !== undefined) return task === undefined ? nothing : { ...nothing, update: [{ id: task.id, title }] }
  const knows = (): boolean => asksForPlan(text) || asksToExecute(text) || earlier.includes(message)
  if (isSmallTalk(text) || (tasks.length > 0 && knows())) return nothing
  const present = new Set(tasks.map((each) => each.title.toLowerCase()))
  // “Also prepare a table” adds to the plan what it says, and begins no plan of its own.
  const [, more] = /^(?:and|also|then|next|finally)[, ]+(?:also |please )*(.+)$/i.exec(text) ?? []
  const add = more === undefined || tasks.length === 0 ? tasksFor(more ?? text) : stepsIn(more).map(lineOf)
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
    return `Here is a plan for **${subjectOf(message)}**:\n\n${plan}\n\nEdit the tasks as you like (“Add a task: …”, “Rename task 1 to …”, “Remove task 2”), then execute them.`
  }
  if (tasks.length > 0 && asksToExecute(message.trim()))
    return `The plan is ready:\n\n${plan}\n\nA message only changes it: press Execute to carry it out.`
  if (tasks.length > 0)
    return `I leave the plan as it is:\n\n${plan}\n\nExecute it when you like, or tell me what to change.`
  return 'Tell me what you want to get done, for example “Plan a competitor analysis of the CRM market”, and I will propose tasks.'
}

/** A greeting, thanks or praise, or several of them: “Thanks, looks good!”. */
const isSmallTalk = (text: string): boolean =>
  text
    .split(/[,;.!]+/)
    .map((part) => part.trim())
    .every((part) => part === '' || smallTalk.test(part) || praise.test(part))
const smallTalk =
  /^(?:hi|hello|hey|thanks?|thank you|ok(?:ay)?|yes|no|good (?:morning|evening|day)|who are you|what can you do|help)\b.{0,25}$/i
const praise =
  /^(?:(?:this|that|it|all) )?(?:(?:looks?|sounds?|is|seems) )?(?:good|great|fine|nice|perfect|right|well done)(?: to me| so far| work| job| now)?$/i
const asksForPlan = (text: string): boolean => /^(?:show|what|which|how|list|is|are)\b.*\b(?:plan|tasks?)\b/i.test(text)

/** “Execute the plan”, “Now run it, please”: no task of its own. */
const asksToExecute = (text: string): boolean =>
  /^(?:please[, ]+|ok(?:ay)?[, ]+|now[, ]+|let us |let's |then )*(?:execute|run|start|begin|carry out|go ahead with|do)(?: (?:it|them|all|everything|the (?:whole )?(?:plan|tasks?)|all (?:the )?tasks))?(?: out)?(?: now)?(?:,? please)?[.!]*$/i.test(
    text,
  )

const numbered = (tasks: readonly { readonly title: string; readonly description: string }[]): string =>
  tasks
    .map(({ title, description }, i) => `${i + 1}. ${title}${description === '' ? '' : ` — ${description}`}`)
    .join('\n')

function lineOf(line: string): { title: string; description: string } {
  const [title = '', description = ''] = line.split(' — ')
  return { title, description }
}

const verbs =
  'analy[sz]e|ask|book|build|buy|call|check|choose|collect|compare|create|define|design|draft|estimate|find|gather|identify|interview|invite|list|look|make|measure|organi[sz]e|prepare|present|publish|read|research|review|save|schedule|send|set|study|summari[sz]e|survey|test|translate|update|write'
const clause = new RegExp(`\\s*(?:[,;.]|\\band\\b|\\bthen\\b)[\\s,]*(?:and |then )*(?=(?:${verbs})\\b)`, 'i')

/** The tasks that a request names one after the other; else two searches from different sides and a document. */
function tasksFor(request: string): PlanChanges['add'] {
  const steps = stepsIn(request)
  if (steps.length > 1) return steps.map(lineOf)
  const subject = subjectOf(request) || 'this'
  const [, market] = /(?:analysis|comparison|study|survey) of (.+)$/i.exec(subject) ?? []
  if (market !== undefined) {
    return [
      `Survey ${market} — who is in it and how they differ`,
      `Compare prices and choice in ${market} — what it costs and how to choose`,
      `Write a summary of ${market} — a document to share, with its sources`,
    ].map(lineOf)
  }
  return [
    `Research ${subject} — what is known, with sources`,
    `Look into budget and risks of ${subject} — what it takes and what can go wrong`,
    `Write a brief on ${subject} — a document to share, with its sources`,
  ].map(lineOf)
}

function stepsIn(request: string): readonly string[] {
  return request
    .replace(/^(?:can|could|would) you |^(?:help me |i want to |i need to |let us |let's )/i, '')
    .replace(/[.?!]+$/, '')
    .split(clause)
    .filter((step) => step !== '')
    .map(capital)
}

const capital = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase())

const subjectOf = (text: string): string =>
  text
    .replace(/^(?:please |can you |help me |i want to |i need to )*/i, '')
    .replace(/^(?:(?:plan|organi[sz]e|prepare|research|look into|make a plan for)\s+)/i, '')
    .replace(/[.?!]+$/, '')
    .trim()
