import type { AdkContent, AdkPart } from '../../event/adk-event.ts'
import type { ModelStarted } from '../../event/call-record.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import { isObject, type Json, sameJson } from '../../json/json.ts'
import { Sequence } from '../../persistent/sequence.ts'
import { type Calls, withCallsIndex } from './state.ts'

/**
 * The content of a message as a request carries it: its role and its parts. ADK removes the ids that it has made itself.
 * The writer of a request compares by this function, so that a reference gives exactly what was sent (SPEC 1.10).
 */
export function sentContent(content: AdkContent): Json {
  const { role } = content
  const all = partsOf(content)
  const parts = all.some(hasOwnId) ? all.map(withoutOwnId) : all
  return (typeof role === 'string' ? { role, parts } : { parts }) as unknown as Json
}

/**
 * Whether `sent` equals `sentContent(content)`, which is not made for it: before each model call all contents of a
 * conversation are compared.
 */
export function isSentContent(sent: Json, content: AdkContent): boolean {
  if (!isObject(sent) || !Array.isArray(sent.parts)) return false
  for (const key in sent) if (key !== 'role' && key !== 'parts') return false
  const { role } = content
  if (sent.role !== (typeof role === 'string' ? role : undefined)) return false
  const parts = partsOf(content)
  if (parts.length !== sent.parts.length) return false
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as AdkPart
    if (!sameJson(sent.parts[i], hasOwnId(part) ? withoutOwnId(part) : part)) return false
  }
  return true
}

const hasOwnId = (part: AdkPart): boolean => isOwn(callOf(part)?.id) || isOwn(responseOf(part)?.id)

function withoutOwnId(part: AdkPart): AdkPart {
  const call = callOf(part)
  const response = responseOf(part)
  if (call !== undefined && isOwn(call.id)) {
    const { id: _, ...functionCall } = call
    return { ...part, functionCall }
  }
  if (response !== undefined && isOwn(response.id)) {
    const { id: _, ...functionResponse } = response
    return { ...part, functionResponse }
  }
  return part
}

function isOwn(id: unknown): boolean {
  return typeof id === 'string' && id.startsWith('adk-')
}

/** Keeps the request of a call, its references resolved. The contents that it shares with an earlier call are not copied. */
export function withRequest(state: Calls, key: string, { request }: ModelStarted): Calls {
  if (!isObject(request) || !Array.isArray(request.contents)) return state
  let { values } = state.index
  if (isObject(request.values)) {
    for (const [hash, value] of Object.entries(request.values)) values = values.set(hash, value)
  }
  const { messages, requests } = state.index
  const lost: string[] = []
  const resolve = (ref: unknown): Json | undefined => {
    if (typeof ref !== 'string') return ref as Json
    const found = ref.startsWith('@') ? messages.get(ref.slice(1)) : values.get(ref.slice(1))
    if (found === undefined) lost.push(ref)
    return found
  }
  const base = typeof request.like === 'string' ? requests.get(request.like) : undefined
  const keep = typeof request.keep === 'number' ? request.keep : 0
  let contents: Sequence<Json> = Sequence.empty
  if (base !== undefined) {
    contents = base.contents.length === keep ? base.contents : Sequence.from(base.contents.toArray().slice(0, keep))
  } else if (request.like !== undefined) lost.push(String(request.like))
  for (const each of request.contents) {
    const content = resolve(each)
    if (content !== undefined) contents = contents.append(content)
  }
  const system = request.system === undefined ? undefined : resolve(request.system)
  const tools = request.tools === undefined ? undefined : resolve(request.tools)
  const omitted =
    request.omitted ?? (lost.length === 0 ? undefined : 'The log lacks earlier rows that this request refers to.')
  const kept = {
    contents,
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools }),
    ...(omitted === undefined ? {} : { omitted }),
  }
  return withCallsIndex(state, { values, requests: requests.set(key, kept) })
}
