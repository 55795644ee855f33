import { createParser } from 'eventsource-parser'
import type { Frame } from './frame.ts'

/** Text to frames. Chunk boundaries never change the result (SPEC 3.2). */
export interface FrameReader {
  feed(text: string): readonly Frame[]
  /** True when the text so far stops inside a frame: the stream was cut (the parser would drop it silently). */
  readonly open: boolean
}

/** A frame larger than this is refused; the reader then reports `overflow` and is done. */
export const maxFrameSize = 16 * 1024 * 1024

export function sseReader(maxBufferSize: number = maxFrameSize): FrameReader {
  let ready: Frame[] = []
  let open = false
  const parser = createParser({
    maxBufferSize,
    onEvent: (message) => {
      ready.push({
        ...(message.event === undefined ? {} : { event: message.event }),
        ...(message.id === undefined ? {} : { id: message.id }),
        data: message.data,
      })
    },
    onComment: (comment) => {
      ready.push({ data: '', comment })
    },
  })
  return {
    feed(text) {
      ready = []
      if (text === '') return ready
      parser.feed(text)
      open = !/(?:\n\n|\r\r|\r\n\r\n)$/.test(text)
      return ready
    },
    get open() {
      return open
    },
  }
}

/** One frame as text, LF only: the official AG-UI client splits on "\n\n" alone and fails on CRLF. */
export function printFrame(frame: Frame): string {
  let text = ''
  if (frame.comment !== undefined) text += `: ${frame.comment.replace(/[\r\n]+/g, ' ')}\n`
  if (frame.event !== undefined) text += `event: ${frame.event.replace(/[\r\n]+/g, ' ')}\n`
  if (frame.id !== undefined) text += `id: ${frame.id.replace(/[\r\n\0]+/g, '')}\n`
  if (frame.data !== '' || frame.event !== undefined || frame.comment === undefined) {
    for (const line of frame.data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`
  }
  return `${text}\n`
}
