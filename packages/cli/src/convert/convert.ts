import { statSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import {
  convertChunks,
  type DialectName,
  defined,
  type Frame,
  MillraceError,
  printFrame,
  printLine,
} from '@millrace/core'
import { CommandError } from '../command-error.ts'
import { ctrlC, interruptedCode } from '../ctrl-c.ts'
import { fromAuto } from '../dialect-option.ts'
import { inputName, isUrl, openInput } from '../input.ts'
import { textOut } from '../output.ts'

export interface ConvertCommandOptions {
  readonly from: DialectName | 'auto'
  readonly to: DialectName
  readonly lines?: true
  readonly session?: string
}

/** The run of frames that name none. */
const run = 'run-1'

/**
 * Percent. V8 lets its heap grow to several times what is in use before it collects garbage, so a long stream would take
 * 200 MB where 20 MB are in use. A conversion collects more often, which costs 10 to 19 % more CPU.
 */
const heapGrowth = 50

/** Resolves with the exit code. */
export async function convertCommand(file: string | undefined, options: ConvertCommandOptions): Promise<number> {
  const { from, to, lines, session } = options
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`)
  const { signal, release } = ctrlC()
  const out = textOut()
  const print = lines === true ? frameLine : printFrame
  const seen = { bytes: 0 }
  try {
    const chunks = await openInput(file, { signal })
    const now = timeOf(file)
    const converted = convertChunks(textsOf(chunks, seen), {
      to,
      run,
      now,
      ...defined({ from: fromAuto(from), session }),
    })
    for await (const frames of converted) {
      const full = out.write(frames.map(print).join(''))
      if (full !== undefined) await full
      if (signal.aborted) return interruptedCode
    }
    return 0
  } catch (error) {
    if (signal.aborted) return interruptedCode
    if (!(error instanceof MillraceError)) throw error
    throw new CommandError(seen.bytes === 0 ? `${inputName(file)} is empty` : `${inputName(file)}: ${error.message}`)
  } finally {
    await out.flush()
    release()
  }
}

/** Node's own decoder leaves much less garbage than the one of core, which may use no global. */
async function* textsOf(chunks: AsyncIterable<Uint8Array>, seen: { bytes: number }): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for await (const chunk of chunks) {
    seen.bytes += chunk.length
    yield decoder.decode(chunk, { stream: true })
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
}

/** A file without times is as old as itself, so that converting it twice gives the same bytes. */
function timeOf(file: string | undefined): () => number {
  if (file === undefined || file === '-' || isUrl(file)) return Date.now
  const time = Math.round(statSync(file).mtimeMs)
  return () => time
}

/** The data, or the whole frame where the dialect names its frames; comments are left out. */
function frameLine({ event, data, comment }: Frame): string {
  if (event !== undefined) return printLine({ event, data })
  return data === '' && comment !== undefined ? '' : `${data}\n`
}
