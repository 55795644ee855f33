import { type AboutRecording, type DialectName, detectFraming, MillraceError, recordingRows } from '@millrace/core'
import { type RestoredPage, restoredPages } from '@millrace/core/store'
import type { ImportedText, ImportReading } from './import-thread.ts'

/** How a recording is read. */
export interface ImportWork {
  readonly from: DialectName | undefined
  readonly run: string
  /** The time of events that have none. */
  readonly now: number
}

export function recordingReading(work: ImportWork): ImportReading<AboutRecording> {
  return {
    entry: new URL('./import-worker.js', import.meta.url),
    work,
    here: (text) => readRecordingText(text, work),
  }
}

/** Characters. A document is parsed at once, so that its values are all in memory. */
const longestDocument = 16 * 1024 * 1024

/** Reads a whole recording as pages for a log. Its rows are printed as they are read, because objects take more memory. */
export async function readRecordingText(
  text: string,
  { from, run, now }: ImportWork,
): Promise<ImportedText<AboutRecording>> {
  if (text.trim() === '')
    throw new MillraceError('invalid', 'the body is empty; send JSONL, JSON or an event stream', { http: 'invalid' })
  if (text.length > longestDocument && detectFraming(text) === 'document')
    throw new MillraceError('limit', 'a JSON document of more than 16 MB is not imported; send one event a line')
  const reading = recordingRows(text, { run, now: () => now, ...(from === undefined ? {} : { from }) })
  const printed = restoredPages()
  const pages: RestoredPage[] = []
  for (;;) {
    const { done, value } = await reading.next()
    if (done === true) {
      pages.push(printed.end())
      return { about: value, pages }
    }
    const page = printed.push(value)
    if (page !== undefined) pages.push(page)
  }
}
