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

export const nothing: PlanChanges = { add: [], update: [], remove: [] }

/** A title is a line to read; the plan takes no longer ones. */
const longestTitle = 300

export function taskLine(line: string): { title: string; description: string } {
  const [title = '', description = ''] = line.split(' — ')
  return { title: [...title].slice(0, longestTitle).join(''), description }
}

export const capital = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase())

/**
 * What a message that edits the plan changes, or undefined for one that does not. One that speaks of the plan and cannot
 * be followed (“Move task 3 to the top”) changes nothing: it is no request for tasks.
 */
export function editIn(text: string, tasks: readonly GivenTask[]): PlanChanges | undefined {
  return (
    adding(text, tasks) ??
    removing(text, tasks) ??
    renaming(text, tasks) ??
    (isAboutPlan(text, tasks) ? nothing : undefined)
  )
}

function adding(text: string, tasks: readonly GivenTask[]): PlanChanges | undefined {
  const [, plural, named] =
    /^add (?:an? |another |the |some )?(?:task|step)(s?)(?: to\b)?\s*[:,]?\s*(.+?)\??$/i.exec(text) ?? []
  if (named !== undefined) {
    const titles = plural === '' ? [named] : named.split(/\s*,\s*(?:and\s+)?|\s+and\s+/)
    return { ...nothing, add: titles.map(capital).map(taskLine) }
  }
  const [, more] = /^add (?:an? |another |the |some )?(.+?)[.!?]*$/i.exec(text) ?? []
  return more === undefined || tasks.length === 0 ? undefined : { ...nothing, add: [taskLine(capital(more))] }
}

function removing(text: string, tasks: readonly GivenTask[]): PlanChanges | undefined {
  const [, what] =
    /^(?:remove|delete|drop|cancel|clear|take out|get rid of) (.+?)(?: from (?:the|my) plan)?[.!?]*$/i.exec(text) ?? []
  const removed = what === undefined ? undefined : tasksNamed(what, tasks)
  return removed === undefined ? undefined : { ...nothing, remove: removed.map(({ id }) => id) }
}

function renaming(text: string, tasks: readonly GivenTask[]): PlanChanges | undefined {
  const [, what, words] = /^(?:rename|change|reword) (.+?) (?:to|into)\s*[:,]?\s*(.+)$/i.exec(text) ?? []
  const renamed = what === undefined ? undefined : tasksNamed(what, tasks)
  if (renamed === undefined || words === undefined) return undefined
  const title = withoutQuotes(words)
  return { ...nothing, update: renamed.length === 1 ? renamed.map(({ id }) => ({ id, title })) : [] }
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** The tasks that words name: by number, by place, by a part of the title, or all; undefined where they name none. */
function tasksNamed(words: string, tasks: readonly GivenTask[]): readonly GivenTask[] | undefined {
  if (/^(?:everything|all(?: of them)?|(?:all )?(?:the |my )?(?:whole )?(?:tasks|steps|plan))$/i.test(words))
    return tasks
  const at = (place: number): readonly GivenTask[] => tasks.slice(place, place + 1)
  if (/^(?:tasks?|steps?)?(?:(?:\s|,|\band\b)*#?\d+)+$/i.test(words)) {
    return [...words.matchAll(/\d+/g)].flatMap(([number]) => at(Number(number) - 1))
  }
  const [, place] = /^(?:the )?(\w+) (?:task|step|one)$/i.exec(words) ?? []
  if (place?.toLowerCase() === 'last') return tasks.slice(-1)
  const ordinal = ordinals.indexOf(place?.toLowerCase() ?? '')
  if (ordinal >= 0) return at(ordinal)
  const title = withoutQuotes(
    words.replace(/^(?:the )?(?:task |step )?/i, '').replace(/ (?:task|step)$/i, ''),
  ).toLowerCase()
  const titled = tasks.filter((task) => task.title.toLowerCase().includes(title))
  return titled.length === 1 ? titled : undefined
}

const withoutQuotes = (text: string): string => text.replace(/^["“'‘]|["”'’]$/g, '').trim()

/** Words about the plan that is there, such as “Swap tasks 1 and 2”, “make it shorter” or “start over”. */
const isAboutPlan = (text: string, tasks: readonly GivenTask[]): boolean =>
  tasks.length > 0 &&
  (/^(?:add|remove|delete|drop|clear|rename|change|reword|move|swap|merge|split|reorder|sort|shorten|undo|edit|mark)\b.*\b(?:tasks?|steps?|plan|one)\b/i.test(
    text,
  ) ||
    /^(?:make|keep|change|shorten|improve|undo|redo|move|do) (?:it|them|this|that|these|those)\b/i.test(text) ||
    /^(?:why|how so|undo|start over|start again|try again|go|go on|go ahead|continue|next|stop|more|less)(?: not)?[.!?]*$/i.test(
      text,
    ))
