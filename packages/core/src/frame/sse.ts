import { createParser } from 'eventsource-parser'
import { blockReader } from './block.ts'
import type { Frame } from './frame.ts'

/** Text to frames. Chunk boundaries never change the result (SPEC 3.2). */
export interface FrameReader {
  feed(text: string): readonly Frame[]
  /** True when the text so far stops inside a frame: the stream was cut (the parser would drop it silently). */
  readonly open: boolean
  /** What a reconnect must send as `Last-Event-ID`: the latest id of a frame that ended, with data or without. */
  readonly lastId: string
  /** The reconnection time the stream asked for, in milliseconds. */
  readonly retry: number | undefined
}

/** A longer frame is not read: its beginning is returned as a frame marked `truncated`, and the reader goes on. */
export const maxFrameSize = 16 * 1024 * 1024

/**
 * Reads an event stream exactly as the WHATWG standard says. eventsource-parser reads the fields of one block at a time.
 * This function and `blockReader` add what it lacks: the BOM, a CR that ends a chunk (the parser would wait for the next
 * one), the id of a frame without data, a frame that was cut off, and a bound that does not depend on the chunks.
 * Decode bytes with `new TextDecoder('utf-8', { ignoreBOM: true })`: the BOM is removed here.
 */
export function sseReader(maxSize: number = maxFrameSize): FrameReader {
  let ready: Frame[] = []
  let lastId = ''
  let retry: number | undefined
  let dispatched = false
  const comments: string[] = []

  const parser = createParser({
    onEvent({ event, id, data }) {
      dispatched = true
      flushComments(undefined)
      if (id !== undefined) lastId = id
      if (event === undefined && id === undefined) ready.push({ data })
      else ready.push({ ...(event === undefined ? {} : { event }), ...(id === undefined ? {} : { id }), data })
    },
    onComment: (comment) => comments.push(comment),
    onRetry(milliseconds) {
      retry = milliseconds
    },
  })
  parser.feed('') // on its first chunk the parser would remove the Latin-1 letters of a BOM, so that chunk is empty

  /** A comment is a frame of its own; the last one carries the id of a frame that has no data (SPEC 2.4). */
  const flushComments = (id: string | undefined): void => {
    if (comments.length === 0) return
    comments.forEach((comment, i) => {
      const last = i === comments.length - 1
      ready.push({ data: '', comment, ...(last && id !== undefined ? { id } : {}) })
    })
    comments.length = 0
  }

  const blocks = blockReader(maxSize, (text, from, end, truncated) => {
    if (truncated) {
      ready.push({ data: text.slice(from, end), truncated })
      return
    }
    const plain = plainFrame(text, from, end)
    if (plain !== undefined) {
      if (plain.id !== undefined) lastId = plain.id
      ready.push(plain)
      return
    }
    const block = text.slice(from, end)
    dispatched = false
    parser.feed(block)
    if (dispatched) return
    const id = idIn(block)
    if (id !== undefined) lastId = id
    flushComments(id)
  })

  return {
    feed(text) {
      ready = []
      blocks.feed(text)
      return ready
    },
    get open() {
      return blocks.skipping || blocks.rest.split('\n').some((line) => line !== '' && !line.startsWith(':'))
    },
    get lastId() {
      return lastId
    },
    get retry() {
      return retry
    },
  }
}

const letterE = 'e'.charCodeAt(0)
const letterI = 'i'.charCodeAt(0)

/** As `text.startsWith(word, at)`, which takes four times as long. */
function hasAt(text: string, at: number, word: string): boolean {
  return text.slice(at, at + word.length) === word
}

/**
 * The frame of a block of the usual form: at most one `event:`, at most one `id:`, then one line of data. Nearly every
 * frame has it, and the parser takes longer for one than JSON.parse. Undefined for every other block.
 */
function plainFrame(text: string, from: number, blockEnd: number): Frame | undefined {
  let at = from
  let event: string | undefined
  let id: string | undefined
  if (text.charCodeAt(at) === letterE && hasAt(text, at, 'event: ')) {
    const end = text.indexOf('\n', at)
    event = text.slice(at + 'event: '.length, end)
    if (event === '') return undefined
    at = end + 1
  }
  if (text.charCodeAt(at) === letterI && hasAt(text, at, 'id: ')) {
    const end = text.indexOf('\n', at)
    id = text.slice(at + 'id: '.length, end)
    if (id.includes('\0')) return undefined
    at = end + 1
  }
  if (!hasAt(text, at, 'data: ') || text.indexOf('\n', at) !== blockEnd - 2) return undefined
  const data = text.slice(at + 'data: '.length, blockEnd - 2)
  if (event === undefined) return id === undefined ? { data } : { id, data }
  return id === undefined ? { event, data } : { event, id, data }
}

/**
 * The id of a block without data. An id that contains NULL is ignored, as the standard says. The block is split at LF
 * and not searched with a multiline pattern, for which U+2028 would begin a line too.
 */
function idIn(block: string): string | undefined {
  let id: string | undefined
  for (const line of block.split('\n')) {
    if (line !== 'id' && !line.startsWith('id:')) continue
    const value = line.slice(line.startsWith('id: ') ? 4 : 3)
    if (!value.includes('\0')) id = value
  }
  return id
}

/** One frame as text, LF only: the official AG-UI client splits on "\n\n" alone and fails on CRLF. */
export function printFrame(frame: Frame): string {
  const { event, data } = frame
  const bare = frame.id === undefined && frame.comment === undefined && !breaksLine(data)
  if (bare && event === undefined) return `data: ${data}\n\n`
  if (bare && event !== undefined && !breaksLine(event)) return `event: ${event}\ndata: ${data}\n\n`
  let text = ''
  if (frame.comment !== undefined) text += `: ${oneLine(frame.comment)}\n`
  if (frame.event !== undefined) text += `event: ${oneLine(frame.event)}\n`
  if (frame.id !== undefined) text += `id: ${frame.id.replace(/[\r\n\0]+/g, '')}\n`
  if (frame.data !== '' || frame.event !== undefined || frame.comment === undefined) {
    if (breaksLine(frame.data)) for (const line of frame.data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
    else text += `data: ${frame.data}\n`
  }
  return `${text}\n`
}

/** `retry:` as text: how long a client waits before it reconnects, in milliseconds. */
export function printRetry(milliseconds: number): string {
  return `retry: ${Math.max(0, Math.round(milliseconds))}\n\n`
}

function breaksLine(text: string): boolean {
  return text.includes('\n') || text.includes('\r')
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, ' ')
}
