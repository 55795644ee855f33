import {
  type DialectName,
  defined,
  detectDialect,
  detectFraming,
  isObject,
  MillraceError,
  parseJson,
  printLine,
  type Recording,
  wholeRecording,
} from '@millrace/core'
import { CommandError } from './command-error.ts'
import { type InputOptions, inputName, openInput } from './input.ts'

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
  text += decoder.decode()
  if (text.trim() === '') throw new CommandError(`${inputName(source)} is empty`)
  text = withHeader(text)
  try {
    return await wholeRecording(text, { run: 'run-1', now: Date.now, ...defined({ from }) })
  } catch (error) {
    throw error instanceof MillraceError ? new CommandError(`${inputName(source)}: ${error.message}`) : error
  }
}

/** The rows of a log without the header of an export, as `convert --to millrace --lines` prints them, are a session too. */
function withHeader(text: string): string {
  if (detectFraming(text) !== 'lines' || detectDialect(text) !== 'millrace') return text
  const parsed = parseJson(text.slice(0, text.indexOf('\n')).replace(/^\uFEFF/, ''))
  if (!('value' in parsed) || !isObject(parsed.value) || parsed.value.format !== undefined) return text
  return printLine({ format: 'millrace.session', version: 1, session: { id: 'rows', agent: '', title: '' } }) + text
}
