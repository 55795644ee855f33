import type { AdkPart } from '../../event/adk-event.ts'
import { isJsonObject, isObject, type Json, type JsonObject, parseJson } from '../../json/json.ts'
import { Fault, faultAt } from '../../schema/fault.ts'
import { fields } from '../../schema/fields.ts'
import { type FieldReader, list, notObject, oneOf, string } from '../../schema/readers.ts'
import { print } from './wire.ts'

// Message content, in both directions: AG-UI's text and content parts, and google.genai's parts.

export type MediaKind = 'image' | 'audio' | 'video' | 'document'
const mediaKinds: readonly string[] = ['image', 'audio', 'video', 'document']

/** `content` of a user or tool message: text, or a list of parts. */
export const contentParts: FieldReader<readonly AdkPart[]> = (value, strict) => {
  if (typeof value === 'string') return [{ text: value }]
  return Array.isArray(value) ? partList(value, strict) : faultAt('', 'must be a string or a list of parts')
}

/** One content part of AG-UI 1.0, or the 0.x `binary` part, which 1.0 peers refuse and which is upgraded here. */
export const contentPart: FieldReader<AdkPart> = (value, strict) => {
  if (!isObject(value)) return notObject
  if (value.type === 'text') return textPart(value, strict)
  if (value.type === 'binary') return binaryPart(value)
  if (typeof value.type !== 'string' || !mediaKinds.includes(value.type))
    return faultAt('.type', 'must be one of text, image, audio, video, document')
  const name = isObject(value.metadata) ? value.metadata.filename : undefined
  const part = sourcePart(value.source, name)
  return part instanceof Fault ? part.under('.source') : part
}
const partList = list(contentPart)
const textPart = fields({ text: string }, {})

function sourcePart(source: unknown, name: unknown): AdkPart | Fault {
  if (!isObject(source)) return notObject
  const mimeType = source.mimeType ?? source.mime_type
  if (source.type === 'data') {
    const given = inlineSource({ value: source.value, mimeType }, false)
    return given instanceof Fault ? given : inline(given.mimeType, given.value, name)
  }
  const given = linkedSource(source, false)
  return given instanceof Fault ? given : file(given.value, mimeType, name)
}
const inlineSource = fields({ value: string, mimeType: string }, {})
const linkedSource = fields({ value: string, type: oneOf(['data', 'url', 'file']) }, {})

function binaryPart(value: Readonly<Record<string, unknown>>): AdkPart | Fault {
  const mimeType = string(value.mimeType ?? value.mime_type, false)
  if (mimeType instanceof Fault) return mimeType.under('.mimeType')
  const { data, url, id, filename } = value
  if (typeof data === 'string') return inline(mimeType, data, filename)
  const uri = url ?? id
  return typeof uri === 'string' ? file(uri, mimeType, filename) : faultAt('', 'needs data, url or id')
}

function inline(mimeType: string, data: string, name: unknown): AdkPart {
  return { inlineData: { mimeType, data, ...(typeof name === 'string' ? { displayName: name } : {}) } }
}

function file(fileUri: string, mimeType: unknown, name: unknown): AdkPart {
  return {
    fileData: {
      fileUri,
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
      ...(typeof name === 'string' ? { displayName: name } : {}),
    },
  }
}

/** A file as an AG-UI content part; undefined for a part that is no file. */
export function mediaPart(part: AdkPart): JsonObject | undefined {
  const { inlineData, fileData } = part
  if (isObject(inlineData) && typeof inlineData.data === 'string') {
    const mimeType = typeof inlineData.mimeType === 'string' ? inlineData.mimeType : 'application/octet-stream'
    return media(mimeType, { type: 'data', value: inlineData.data, mimeType }, inlineData.displayName)
  }
  if (isObject(fileData) && typeof fileData.fileUri === 'string') {
    const { fileUri, mimeType } = fileData
    // A url is what any client can fetch; a handle of a provider (gs://, files/…) is a file.
    const type = /^(?:https?|data):/.test(fileUri) ? 'url' : 'file'
    return media(
      mimeType,
      { type, value: fileUri, ...(mimeType === undefined ? {} : { mimeType }) },
      fileData.displayName,
    )
  }
  return undefined
}

function media(mimeType: string | undefined, source: JsonObject, name: unknown): JsonObject {
  return {
    type: mediaKind(mimeType ?? ''),
    source,
    ...(typeof name === 'string' ? { metadata: { filename: name } } : {}),
  }
}

function mediaKind(mimeType: string): MediaKind {
  const kind = mimeType.split('/')[0]
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}

/** Parts as message content: plain text if all of them are text. */
export function agUiContentOf(parts: readonly AdkPart[]): Json {
  const made = parts.flatMap((part): JsonObject[] => {
    const file = mediaPart(part)
    if (file !== undefined) return [file]
    return typeof part.text === 'string' && part.thought !== true ? [{ type: 'text', text: part.text }] : []
  })
  return made.every((part) => part.type === 'text') ? made.map((part) => part.text).join('') : made
}

/**
 * A tool's result as ADK has it: an object. Text that is a JSON object becomes that object, so that views find what is
 * inside (a `proof_layer`, an `error`); other text becomes `{ result }`, as ADK itself wraps it.
 */
export function responseFromContent(content: Json): JsonObject {
  if (typeof content !== 'string') {
    return {
      result: partsIn(content)
        .map((part) => part.text ?? '')
        .join(''),
    }
  }
  return (content.startsWith('{') ? objectIn(content) : undefined) ?? { result: content }
}

/** The files of a tool's result (google.genai FunctionResponse.parts). */
export function responseFiles(content: Json): readonly AdkPart[] {
  if (typeof content === 'string') return []
  return partsIn(content).filter((part) => part.text === undefined)
}

function partsIn(content: Json): readonly AdkPart[] {
  const parts = contentParts(content, false)
  return parts instanceof Fault ? [] : parts
}

/** A tool's result as AG-UI content: bare text if it is nothing else, otherwise JSON, with files as parts. */
export function contentFromResponse(response: unknown, files: readonly AdkPart[]): Json {
  const said = resultText(response)
  const made = files.flatMap((part) => mediaPart(part) ?? [])
  if (made.length === 0) return said
  return said === '' ? made : [{ type: 'text', text: said }, ...made]
}

/** Bare text only if it reads back as the same result: a text that is itself a JSON object would not. */
function resultText(response: unknown): string {
  if (response === undefined) return ''
  const { result, ...more } = isObject(response) ? response : {}
  const bare =
    typeof result === 'string' && Object.keys(more).length === 0 && responseFromContent(result).result === result
  return bare ? result : print(response as Json)
}

/** A call's arguments, or undefined when the text is not a JSON object. */
export function argumentsOf(given: string): JsonObject | undefined {
  return given === '' ? {} : objectIn(given)
}

/** JSON inside a string must be checked by itself, because the limits of the frame do not reach into it. */
function objectIn(text: string): JsonObject | undefined {
  const parsed = parseJson(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : undefined
}
