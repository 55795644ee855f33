import { isObject } from '../json/json.ts'
import { Fault, faultAt } from '../schema/fault.ts'
import { boolean, code, data, dataObject, type FieldReader, list, mapOf, number, string } from '../schema/readers.ts'
import { shape } from '../schema/shape.ts'
import type { AdkEvent } from './adk-event.ts'

// The fields of ADK 2.0 (JS and Python) and of google.genai's Content, as tables: the same row reads the wire and checks
// what enters the store. `data` belongs to the user and is never changed.

/** google.genai lets the name be absent while a call still streams its arguments; the canonical event does not. */
const named =
  (read: FieldReader): FieldReader =>
  (value, strict) => {
    const result = read(value, strict)
    if (result instanceof Fault || !isObject(result) || result.name !== undefined) return result
    return strict ? faultAt('.name', 'is missing') : { ...result, name: '' }
  }

/** ADK wraps a response that is not an object as `{result}`. A server that does not is read as if it did. */
const response: FieldReader = (value, strict) =>
  isObject(value) || strict ? dataObject(value, strict) : { result: value }

const part = shape({
  text: string,
  thought: boolean,
  thoughtSignature: string,
  functionCall: named(
    shape({ id: string, name: string, args: dataObject, partialArgs: list(data), willContinue: boolean }),
  ),
  functionResponse: named(
    shape({ id: string, name: string, response, parts: list(data), scheduling: string, willContinue: boolean }),
  ),
  inlineData: shape({ mimeType: string, data: string, displayName: string }),
  fileData: shape({ mimeType: string, fileUri: string, displayName: string }),
  executableCode: shape({ id: string, code: string, language: string }),
  codeExecutionResult: shape({ id: string, outcome: string, output: string }),
  videoMetadata: shape({ startOffset: string, endOffset: string, fps: number }),
  partMetadata: dataObject,
  mediaResolution: data,
})

const content = shape({ role: string, parts: list(part) })

const actions = shape({
  stateDelta: dataObject,
  artifactDelta: mapOf(number),
  requestedAuthConfigs: dataObject,
  requestedToolConfirmations: dataObject,
  skipSummarization: boolean,
  transferToAgent: string,
  escalate: boolean,
  agentState: dataObject,
  endOfAgent: boolean,
  route: data,
  compaction: shape({ startTimestamp: number, endTimestamp: number, compactedContent: content }),
  rewindBeforeInvocationId: string,
  renderUiWidgets: list(data),
  setModelResponse: data,
})

const usageMetadata = shape({
  promptTokenCount: number,
  candidatesTokenCount: number,
  totalTokenCount: number,
  thoughtsTokenCount: number,
  cachedContentTokenCount: number,
  toolUsePromptTokenCount: number,
  promptTokensDetails: data,
  candidatesTokensDetails: data,
  cacheTokensDetails: data,
  toolUsePromptTokensDetails: data,
  trafficType: string,
})

const groundingMetadata = shape({
  groundingChunks: list(
    shape({
      web: shape({ uri: string, title: string, domain: string }),
      retrievedContext: shape({ uri: string, title: string, text: string, documentName: string }),
      maps: shape({ uri: string, title: string, text: string, placeId: string }),
    }),
  ),
  groundingSupports: list(
    shape({
      segment: shape({ startIndex: number, endIndex: number, partIndex: number, text: string }),
      groundingChunkIndices: list(number),
      confidenceScores: list(number),
    }),
  ),
  webSearchQueries: list(string),
  retrievalQueries: list(string),
  searchEntryPoint: shape({ renderedContent: string, sdkBlob: string }),
  retrievalMetadata: shape({ googleSearchDynamicRetrievalScore: number }),
})

const citationMetadata = shape({
  citations: list(
    shape({
      startIndex: number,
      endIndex: number,
      uri: string,
      title: string,
      license: string,
      publicationDate: data,
    }),
  ),
})

const transcription = shape({ text: string, finished: boolean, languageCode: string })

const event = shape({
  id: string,
  author: string,
  invocationId: string,
  timestamp: number,
  turnId: string,
  content,
  partial: boolean,
  turnComplete: boolean,
  interrupted: boolean,
  actions,
  longRunningToolIds: list(string),
  branch: string,
  finishReason: code,
  finishMessage: string,
  errorCode: code,
  errorMessage: string,
  usageMetadata,
  groundingMetadata,
  citationMetadata,
  customMetadata: dataObject,
  modelVersion: string,
  avgLogprobs: number,
  logprobsResult: data,
  cacheMetadata: data,
  nodeInfo: shape({ path: string, outputFor: data, messageAsOutput: boolean }),
  output: data,
  route: data,
  isolationScope: string,
  inputTranscription: transcription,
  outputTranscription: transcription,
  voiceActivity: data,
  liveSessionResumptionUpdate: shape({
    newHandle: string,
    resumable: boolean,
    lastConsumedClientMessageIndex: data,
  }),
  goAway: data,
  interactionId: string,
  liveSessionId: string,
})

/** An ADK event with the fields that the wire had. Its owner may fill in the others. */
export type AdkWireEvent = { -readonly [Name in keyof AdkEvent]?: AdkEvent[Name] }

/** Reads an ADK event off a wire into canonical spelling. Returns the same reference if it was canonical already. */
export function readAdkEvent(value: unknown): AdkWireEvent | Fault {
  if (isObject(value) && isPlain(value)) return value
  return event(value, false) as AdkWireEvent | Fault // the table above has checked it
}

/** For guards: a canonical ADK event, its four identifying fields included. */
export const canonicalEvent: FieldReader = (value, strict) => {
  const read = event(value, strict)
  if (read instanceof Fault || !isObject(read)) return read
  for (const name of ['id', 'author', 'invocationId', 'timestamp']) {
    if (read[name] === undefined) return faultAt(`.${name}`, 'is missing')
  }
  return read
}
export const canonicalContent: FieldReader = content
export const canonicalPart: FieldReader = part

type Fields = Readonly<Record<string, unknown>>

/**
 * Nine of ten events are text deltas with nothing to correct. They are recognised by checking the fields that such an
 * event has and counting that there are no others: 0.09 us, where the tables take 0.46. Other events go through the tables.
 */
function isPlain(event: Fields): boolean {
  let others = countOf(event)
  if (typeof event.id === 'string') others--
  if (typeof event.author === 'string') others--
  if (typeof event.invocationId === 'string') others--
  if (typeof event.branch === 'string') others--
  if (event.partial === true) others--
  if (Number.isFinite(event.timestamp)) others--
  if (Array.isArray(event.longRunningToolIds) && event.longRunningToolIds.length === 0) others--
  if (isObject(event.content) && isPlainContent(event.content)) others--
  if (isObject(event.actions) && isPlainActions(event.actions)) others--
  return others === 0
}

function isPlainContent(value: Fields): boolean {
  let others = countOf(value)
  if (typeof value.role === 'string') others--
  if (Array.isArray(value.parts) && value.parts.every(isPlainPart)) others--
  return others === 0
}

function isPlainPart(value: unknown): boolean {
  if (!isObject(value)) return false
  let others = countOf(value)
  if (typeof value.text === 'string') others--
  if (typeof value.thought === 'boolean') others--
  return others === 0
}

function isPlainActions(value: Fields): boolean {
  let others = countOf(value)
  if (isObject(value.stateDelta)) others--
  if (isObject(value.artifactDelta) && countOf(value.artifactDelta) === 0) others--
  if (isObject(value.requestedAuthConfigs)) others--
  if (isObject(value.requestedToolConfirmations)) others--
  return others === 0
}

function countOf(value: Fields): number {
  let count = 0
  for (const _ in value) count++
  return count
}
