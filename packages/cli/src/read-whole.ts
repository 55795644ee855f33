import { type DialectName, defined, MillraceError, type Recording, wholeRecording } from '@millrace/core'
import { CommandError } from './command-error.ts'
import { type InputOptions, openInput } from './input.ts'

/** Bytes. A recording that is compared or replayed is held in memory. */
const longest = 256 * 1024 * 1024

/** Reads a whole recording of any dialect, from a file, standard input or a URL. */
export async function readWhole(source: string, from?: DialectName, options: InputOptions = {}): Promise<Recording> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  let size = 0
  for await (const chunk of await openInput(source, options)) {
    size += chunk.length
    if (size > longest) throw new CommandError(`${source} is longer than 256 MB; cut it into single runs`)
    text += decoder.decode(chunk, { stream: true })
  }
  try {
    return await wholeRecording(text + decoder.decode(), { run: 'run-1', now: Date.now, ...defined({ from }) })
  } catch (error) {
    throw error instanceof MillraceError ? new CommandError(`${source}: ${error.message}`) : error
  }
}
