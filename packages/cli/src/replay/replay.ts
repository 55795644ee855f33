import { createServer } from 'node:http'
import type { DialectName } from '@millrace/core'
import { CommandError } from '../command-error.ts'
import { ctrlC } from '../ctrl-c.ts'
import { fromAuto } from '../dialect-option.ts'
import { listening } from '../listening.ts'
import { sayJson, sayLine } from '../output.ts'
import { readWhole } from '../read-whole.ts'
import { coloursOf, counted, durationText } from '../terminal.ts'
import { runsOf } from './runs.ts'
import { replayHandler } from './serve-run.ts'

export interface ReplayOptions {
  readonly from: DialectName | 'auto'
  readonly dialect?: DialectName
  readonly port: number
  readonly host: string
  readonly speed: number
  readonly json?: boolean
}

/** Serves until Ctrl-C. */
export async function replayCommand(file: string, options: ReplayOptions): Promise<void> {
  const recording = await readWhole(file, fromAuto(options.from))
  const runs = runsOf(recording.rows)
  if (runs.length === 0) throw new CommandError(`${file} has no run to replay`)
  const { signal, release } = ctrlC()
  const { faint } = coloursOf(process.stdout)
  const server = createServer(
    replayHandler({
      runs,
      agent: recording.agent === '' ? 'agent' : recording.agent,
      own: recording.dialect === 'millrace' ? 'ag-ui' : recording.dialect,
      forced: options.dialect,
      speed: options.speed,
      signal,
      onServed: (served) => {
        const { method, path, run, dialect } = served
        if (options.json === true) sayJson(served)
        else sayLine(faint(`${method} ${path}  run ${run} of ${runs.length} as ${dialect}`))
      },
    }),
  )
  const address = await listening(server, options)
  const length = runs.reduce((sum, { rows }) => sum + ((rows.at(-1)?.at ?? 0) - (rows[0]?.at ?? 0)), 0)
  const { dialect } = recording
  if (options.json === true) sayJson({ address, file, dialect, runs: runs.length, duration: length })
  else
    sayLine(
      `Replaying ${file} (${dialect}, ${counted(runs.length, 'run')}, ${durationText(length)}), listening on ${address}`,
    )
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  server.closeAllConnections()
  server.close()
  release()
}
