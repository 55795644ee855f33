import type { Draft, Outcome, RunEvent } from '../../event/run-event.ts'
import { applyState } from '../../event/state-fold.ts'
import type { Frame } from '../../frame/frame.ts'
import { foreignFrame } from '../bare-text/raw-frame.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'
import {
  readChunk,
  readDebug,
  readInterrupt,
  readLog,
  readResume,
  readSpeaker,
  readThinking,
  readToolCall,
  readToolResult,
} from './decode/frame.ts'
import { type Ended, type StudioFrameResult, StudioRun } from './decode/run.ts'
import { readTrace } from './decode/trace.ts'

/** Reads the frames of the schema and those of ADK Studio's own server. One stream may carry several runs. */
export class StudioDecoder implements Decoder {
  session: string | undefined = undefined
  readonly #options: DecoderOptions
  #run: StudioRun
  #runs = 1

  constructor(options: DecoderOptions) {
    this.#options = options
    this.#run = new StudioRun(options.run, options.agent ?? '')
  }

  push(frame: Frame): readonly Draft[] {
    if (frame.event === 'chunk' && this.#run.phase === 'open') return this.#chunk(frame)
    if (frame.event === undefined && frame.data === '' && frame.comment !== undefined) return []
    const left = frame.event === 'session' ? this.#leave() : []
    const started = this.#start()
    const read = frame.event === 'session' ? this.#session(frame.data, started.length > 0) : readFrame(this.#run, frame)
    const events = typeof read === 'string' ? [foreignFrame('studio', frame, read)] : read
    return [...left, ...this.#drafts([...started, ...events])]
  }

  /** Text of a run that is open: nearly every frame is that, and it neither starts a run nor changes the state. */
  #chunk(frame: Frame): readonly Draft[] {
    const run = this.#run
    const read = readChunk(run, frame.data)
    if (typeof read === 'string') return [{ run: run.id, event: foreignFrame('studio', frame, read) }]
    run.busy = true
    const [only] = read
    if (only !== undefined && read.length === 1) return [{ run: run.id, event: only }]
    return read.map((event) => ({ run: run.id, event }))
  }

  end(how: 'closed' | 'cut'): readonly Draft[] {
    const run = this.#run
    const closed = run.speech.close()
    if (run.phase !== 'open') return this.#drafts(closed)
    return this.#drafts([...closed, { kind: 'run.finished', ...unfinished(run, how) }])
  }

  /**
   * Another `session` is another run, once something has happened in this one. ADK Studio sends it twice at the start:
   * first its server, then the program that the server has started.
   */
  #leave(): readonly Draft[] {
    const run = this.#run
    if (run.phase === 'new' || (run.phase === 'open' && !run.busy)) return []
    const left = this.end('closed')
    this.#runs += 1
    this.#run = new StudioRun(`${this.#options.run}.${this.#runs}`, this.#options.agent ?? '', run)
    return left
  }

  #start(): readonly RunEvent[] {
    if (this.#run.phase !== 'new') return []
    this.#run.phase = 'open'
    return [{ kind: 'run.started', agent: this.#options.agent ?? '', input: { messages: [] } }]
  }

  #session(id: string, first: boolean): StudioFrameResult {
    const known = this.session
    this.session ??= id
    if (!first) return 'the run has already begun'
    return known === undefined || known === id ? [] : 'another session'
  }

  #drafts(events: readonly RunEvent[]): readonly Draft[] {
    const run = this.#run
    for (const event of events) {
      run.state = applyState(run.state, event)
      if (event.kind === 'run.finished') {
        run.phase = 'finished'
        run.waits = event.outcome === 'interrupted'
      } else if (event.kind !== 'run.started' && event.kind !== 'foreign' && event.kind !== 'log') run.busy = true
    }
    return events.map((event) => ({ run: run.id, event }))
  }
}

function readFrame(run: StudioRun, { event, data, truncated }: Frame): StudioFrameResult {
  if (truncated === true) return 'the frame is too long'
  if (event !== 'chunk') run.chunks.interrupt()
  switch (event) {
    case 'trace':
      return readTrace(run, data)
    case 'chunk':
      return readChunk(run, data)
    case 'tool_call':
      return readToolCall(run, data)
    case 'tool_result':
      return readToolResult(run, data)
    case 'log':
      return readLog(run, data)
    case 'error':
      return failed(run, data)
    case 'end':
      // Some servers print an end even where the run waits for a person.
      if (run.phase === 'finished') return run.waits ? [] : 'the run has already ended'
      return [...run.speech.close(), { kind: 'run.finished', ...ended(run) }]
    case 'thinking':
      return readThinking(run, data)
    case 'agent':
      return readSpeaker(run, data)
    case 'debug':
      return readDebug(run, data)
    case 'interrupt':
      return readInterrupt(run, data)
    case 'resume':
      return readResume(run, data)
    default:
      return event === undefined ? 'a frame without event' : 'unknown event'
  }
}

/** An error fails a run, but ADK Studio sends its last snapshots after it: the run ends after those. */
function failed(run: StudioRun, message: string): StudioFrameResult {
  if (run.phase === 'finished') return 'the run has already ended'
  // If this one were an event, it would be printed before the error that counts, and readers would take it for that
  // one.
  if (run.failure !== undefined) return [{ kind: 'log', level: 'error', message }]
  run.failure = message
  return run.speech.close()
}

/** The end of a run whose stream has an `end`. */
function ended(run: StudioRun): Ended {
  const { failure, done } = run
  if (failure !== undefined) {
    return { ...done, outcome: 'failed', error: { code: 'agent-error', ...done?.error, message: failure } }
  }
  const outcome: Outcome = run.interrupts.openIn(run.id) ? 'interrupted' : 'done'
  return { outcome, ...done }
}

/** The end of a run whose stream stopped without `end`. */
function unfinished(run: StudioRun, how: 'closed' | 'cut'): Ended {
  const settled = how === 'closed' && (run.done !== undefined || run.interrupts.openIn(run.id))
  if (run.failure !== undefined || settled) return ended(run)
  const message = how === 'cut' ? 'the stream broke off' : 'the stream stopped without end'
  return { outcome: 'failed', error: { code: 'cut', message } }
}
