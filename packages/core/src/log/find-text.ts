import type { AdkEvent, AdkPart } from '../event/adk-event.ts'
import { nodePath } from '../event/node-path.ts'
import { callOf, partsOf, responseOf, textOf } from '../event/parts.ts'
import type { RunEvent, RunInput, Task, TaskEdit } from '../event/run-event.ts'
import { isPartial } from '../event/streaming.ts'
import { isObject } from '../json/json.ts'
import type { FoundKind } from './event-log.ts'

/** The text of one kind in a row, and whose it is. */
export interface FindText {
  readonly kind: FoundKind
  readonly author: string
  readonly text: string
}

/** Characters of one text that are indexed and shown. */
const mostText = 32_768
const deepest = 20

/**
 * What a row is found by: at most one text of each kind. Partials have none, because the whole message follows. A log may
 * be restored from an unchecked file, so the types are not certain here.
 */
export function findTexts(event: RunEvent): readonly FindText[] {
  switch (event.kind) {
    case 'run.started':
      return [...inputTexts(event.input), ...textIn('agent', event.agent, event.agent)]
    case 'agent':
      return isPartial(event.event) ? [] : saidTexts(event.event)
    case 'state':
      return textIn('state', agentOf(event.node), paths(event.patch))
    case 'node.started':
      return textIn('agent', event.agent, event.agent)
    case 'node.finished':
      return textIn('error', agentOf(event.node), problemText(event.error))
    case 'model.finished':
      return textIn('error', agentOf(event.node), problemText(event.error))
    case 'run.finished':
      return textIn('error', '', problemText(event.error))
    case 'log':
      return event.level === 'error' || event.level === 'warn'
        ? textIn('error', agentOf(event.node), event.message)
        : []
    case 'foreign':
      return textIn('error', '', `${event.reason} ${event.raw}`)
    case 'interrupt':
      return textIn('message', agentOf(event.node), joined([event.message, flat(event.payload)]))
    case 'resumed':
      return textIn('message', 'user', flat(event.payload))
    case 'tasks':
      return textIn('plan', agentOf(event.node), joined(event.tasks.map(taskText)))
    case 'tasks.changed':
      return textIn('plan', agentOf(event.node), joined(event.changes.map(taskText)))
    case 'task.finished':
      return textIn('plan', agentOf(event.node), event.result)
    case 'task.reflected':
      return textIn('plan', agentOf(event.node), event.text)
    case 'artifact':
      return textIn('plan', agentOf(event.node), joined([event.name, event.part?.text]))
    case 'data':
      return textIn('plan', agentOf(event.node), joined([event.itemType, flat(event.item)]))
    default:
      return []
  }
}

function inputTexts({ messages, state }: RunInput): readonly FindText[] {
  const list = Array.isArray(messages) ? messages.filter(isObject) : []
  const [first] = list
  const author = typeof first?.name === 'string' ? first.name : 'user'
  const parts = list
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .flatMap(({ content }) => partsOf(isObject(content) ? content : undefined))
  return [...partTexts(author, parts), ...textIn('state', author, keysOf(state))]
}

function saidTexts({ author, content, actions, errorCode, errorMessage }: AdkEvent): readonly FindText[] {
  return [
    ...partTexts(author, partsOf(content)),
    ...textIn('state', author, keysOf(actions?.stateDelta)),
    ...textIn('error', author, joined([errorCode, errorMessage])),
    ...textIn('agent', author, actions?.transferToAgent),
  ]
}

function partTexts(author: string, parts: readonly AdkPart[]): readonly FindText[] {
  const tools = parts.flatMap((part) => {
    const call = callOf(part)
    const response = responseOf(part)
    return [
      ...(call === undefined ? [] : [call.name, flat(call.args)]),
      ...(response === undefined ? [] : [response.name, flat(response.response)]),
    ]
  })
  return [...textIn('message', author, joined(parts.map(textOf))), ...textIn('tool', author, joined(tools))]
}

function textIn(kind: FoundKind, author: unknown, text: unknown): readonly FindText[] {
  if (typeof text !== 'string' || text.trim() === '') return []
  return [{ kind, author: typeof author === 'string' ? author : '', text: text.slice(0, mostText) }]
}

function joined(texts: readonly unknown[]): string {
  return texts.filter((text) => typeof text === 'string' && text !== '').join(' ')
}

/** The agent whose step it was: `coordinator/burn_analyst@2` is a step of burn_analyst. */
function agentOf(node: unknown): string {
  if (typeof node !== 'string') return ''
  const path = nodePath(node)
  return path.slice(path.lastIndexOf('/') + 1)
}

function problemText(error: unknown): string {
  return isObject(error) ? joined([error.message, error.code, error.source]) : ''
}

function taskText(task: Partial<Task> | TaskEdit): string {
  const { title, description } = task
  return joined([title, description, 'result' in task ? task.result : undefined])
}

function paths(patch: unknown): string {
  if (!Array.isArray(patch)) return ''
  return patch
    .filter(isObject)
    .map(({ path, op, value }) => {
      const below = op === 'add' || op === 'replace' ? keysOf(value) : ''
      return joined([typeof path === 'string' ? path.replace(/^\//, '') : '', below])
    })
    .join(', ')
}

/** The keys of a state and of what is in it. */
function keysOf(state: unknown): string {
  const keys: string[] = []
  let left = mostText
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth === 0) return
    for (const [key, below] of Object.entries(value)) {
      if (left <= 0) return
      if (!Array.isArray(value)) {
        keys.push(key)
        left -= key.length + 2
      }
      visit(below, depth - 1)
    }
  }
  visit(state, deepest)
  return keys.join(', ')
}

/** Values with their keys, as a line of text. */
function flat(value: unknown): string {
  const pieces: string[] = []
  let left = mostText
  const put = (piece: string): void => {
    pieces.push(piece)
    left -= piece.length
  }
  const visit = (value: unknown, depth: number): void => {
    if (left <= 0 || value === null || value === undefined || depth === 0) return
    if (typeof value !== 'object') {
      put(String(value).slice(0, left))
      return
    }
    let first = true
    for (const [key, below] of Object.entries(value)) {
      if (left <= 0) return
      if (!first) put(', ')
      first = false
      if (!Array.isArray(value)) put(`${key}: `)
      visit(below, depth - 1)
    }
  }
  visit(value, deepest)
  return pieces.join('')
}
