import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type {
  AgentSaid,
  NodeFinished,
  NodeId,
  NodeStarted,
  Recorded,
  RunEvent,
  RunFinished,
} from '../../event/run-event.ts'
import { noFacts } from '../../event/session-facts.ts'
import { applyState } from '../../event/state-fold.ts'
import { isPartial } from '../../event/streaming.ts'
import type { Frame } from '../../frame/frame.ts'
import type { JsonObject } from '../../json/json.ts'
import { type CallIds, callIds } from '../bare-text/call-ids.ts'
import { printForeignFrame } from '../bare-text/raw-frame.ts'
import { type TextPiece, type TextTurns, textTurns } from '../bare-text/text-turns.ts'
import type { Encoder, EncoderOptions } from '../dialect.ts'
import { keptFields } from '../kept-fields.ts'
import { nodeName } from '../node-name.ts'
import { PlainChunks } from './chunks.ts'
import { planToLog } from './encode/plan-to-log.ts'
import { StudioSpeakers } from './encode/speakers.ts'
import { StudioInterrupts } from './interrupts.ts'
import { type OpenNode, OpenNodes } from './nodes.ts'
import { touchedKeys } from './state.ts'
import * as print from './wire.ts'

interface PrintedRun {
  readonly id: string
  readonly nodes: OpenNodes
  readonly lanes: StudioSpeakers
  readonly calls: CallIds
  readonly turns: TextTurns
  /** The log has nodes of its own, so none are inferred from authors. */
  named: boolean
  /** The state at the start of the run, which is the input of its first node. */
  input: JsonObject
  over: boolean
}

/** Prints any log. Snapshots are folds: the state is kept here, and never on the events. */
export class StudioEncoder implements Encoder {
  readonly #session: string
  readonly #chunks = new PlainChunks()
  readonly #interrupts = new StudioInterrupts()
  #state: JsonObject
  #run: PrintedRun | undefined

  constructor({ session, facts = noFacts }: EncoderOptions) {
    this.#session = session
    this.#state = facts.state
    // Their runs have ended, so which run asked matters no more.
    for (const { id, node } of facts.open.values())
      this.#interrupts.ask(id, node === undefined ? '' : nodeName(node), '')
  }

  push(recorded: Recorded): readonly Frame[] {
    const before = this.#state
    const { event } = recorded
    this.#state = applyState(before, event)
    if (event.kind === 'foreign') return event.dialect === 'studio' ? [printForeignFrame(event)] : []
    if (recorded.run === '') return []
    // The waiting text of a run that never ended is printed before the next run begins.
    const late =
      this.#run !== undefined && this.#run.id !== recorded.run ? this.#say(this.#run, this.#run.turns.flush()) : []
    const frames = this.#print(this.#runOf(recorded), recorded, before)
    return late.length === 0 ? frames : [...late, ...frames]
  }

  #print(run: PrintedRun, recorded: Recorded, before: JsonObject): readonly Frame[] {
    const { event } = recorded
    switch (event.kind) {
      case 'run.started':
        return [{ event: 'session', data: this.#session }]
      case 'node.started':
        return this.#nodeStarted(run, event, recorded.at)
      case 'node.finished':
        return this.#nodeFinished(run, event, recorded.at)
      case 'agent':
        return this.#agent(run, event, recorded.at, before)
      case 'state':
        return event.node !== undefined && run.nodes.get(event.node) !== undefined
          ? []
          : this.#stateChanged(run, before, touchedKeys(event.patch))
      case 'run.finished':
        return this.#finished(run, event, recorded.at)
      default:
        return this.#fact(run, event, recorded.at)
    }
  }

  prelude(): readonly Frame[] {
    const run = this.#run
    if (run === undefined || run.over) return []
    const { nodes, turns } = run
    const last = nodes.all.at(-1)?.id
    const speaker = turns.streaming[0]?.node ?? last
    return [
      { event: 'session', data: this.#session },
      ...nodes.all.map((node) => print.printStart(node, false, {})),
      ...(nodes.any ? print.printState(this.#state, Object.keys(this.#state)) : []),
      ...(speaker === last ? [] : this.#names(run, speaker)),
      ...turns.streaming.map((piece) =>
        piece.thought ? this.#thinking(run, piece) : { event: 'chunk', data: piece.text },
      ),
      ...(nodes.speaker?.id === speaker ? [] : this.#names(run, nodes.speaker?.id)),
    ]
  }

  #runOf({ run: id, event }: Recorded): PrintedRun {
    if (this.#run?.id === id && event.kind !== 'run.started') return this.#run
    this.#chunks.reset()
    this.#run = {
      id,
      nodes: new OpenNodes(),
      lanes: new StudioSpeakers(),
      calls: callIds(id),
      turns: textTurns(),
      named: false,
      input: this.#state,
      over: false,
    }
    return this.#run
  }

  #nodeStarted(run: PrintedRun, event: NodeStarted & Pick<RunEvent, 'extra'>, at: number): Frame[] {
    const made = run.named ? [] : run.nodes.all
    run.named = true
    const step = event.extra?.studio?.step
    return [
      ...made.flatMap((node) => this.#leave(run, node.id, at)),
      this.#start(run, event.node, event, at, typeof step === 'number' ? step : undefined),
    ]
  }

  #start(
    run: PrintedRun,
    id: NodeId,
    event: Partial<NodeStarted> & { agent: string },
    at: number,
    step?: number,
  ): Frame {
    const implied = run.nodes.impliedId(event.agent) === id
    if (run.nodes.impliedStep === 1) run.input = this.#state
    const node: OpenNode = {
      id,
      name: event.agent,
      step: step ?? run.nodes.impliedStep,
      input: this.#state,
      at,
      whole: true,
    }
    run.nodes.start(node)
    this.#chunks.known()
    return print.printStart(node, implied, event)
  }

  #nodeFinished(run: PrintedRun, event: NodeFinished, at: number): Frame[] {
    const said = this.#say(run, run.turns.end(event.node))
    const node = run.nodes.get(event.node)
    if (node === undefined) return said
    const named = run.nodes.named(node.name, node.step)?.id === node.id
    run.nodes.end(node.id)
    const duration = event.duration ?? Math.max(0, Math.round(at - node.at))
    return [...said, print.printEnd(node, named, { ...event, duration }, this.#state)]
  }

  #leave(run: PrintedRun, node: NodeId, at: number, error?: NodeFinished['error']): Frame[] {
    const end = error === undefined ? ({ status: 'ok' } as const) : ({ status: 'error', error } as const)
    return this.#nodeFinished(run, { kind: 'node.finished', node, ...end }, at)
  }

  #agent(run: PrintedRun, said: AgentSaid, at: number, before: JsonObject): Frame[] {
    const { event } = said
    const { frames, node } = this.#speaker(run, said, at)
    const own: AgentSaid = node === undefined ? said : { ...said, node }
    const lane = node ?? `${event.branch ?? ''}\n${event.author}\n${said.task ?? ''}`
    const speaks = event.author !== 'user'
    if (isPartial(event)) return speaks ? [...frames, ...this.#say(run, run.turns.partial(own, lane))] : frames
    const text = speaks ? this.#say(run, run.turns.whole(own, lane)) : []
    const acts = this.#acts(run, own, node)
    const first = acts.length === 0 ? [] : this.#say(run, run.turns.before(lane))
    const delta = Object.keys(event.actions?.stateDelta ?? {})
    return [...frames, ...text, ...first, ...acts, ...this.#stateChanged(run, before, delta)]
  }

  /** The node that speaks: the log's own, or one inferred from author and branch where the log has none. */
  #speaker(run: PrintedRun, { node, event }: AgentSaid, at: number): { frames: Frame[]; node: NodeId | undefined } {
    const { author } = event
    if (node !== undefined || run.named || author === '' || author === 'user') return { frames: [], node }
    const lane = run.lanes.enter(event, () => run.nodes.impliedId(author))
    const frames = lane.left.flatMap((id) => this.#leave(run, id, at))
    if (lane.starts) frames.push(this.#start(run, lane.node, { agent: author }, at))
    return { frames, node: lane.node }
  }

  #acts(run: PrintedRun, { event, extra }: AgentSaid & Pick<RunEvent, 'extra'>, node: NodeId | undefined): Frame[] {
    const frames: Frame[] = []
    const where = this.#where(run, node)
    const more = { ...where, ...keptFields(extra, 'studio') }
    for (const part of partsOf(event.content)) {
      const [call, response] = [callOf(part), responseOf(part)]
      if (call !== undefined) frames.push(print.printCall(call, run.calls.call(call.name, call.id), more))
      if (response !== undefined) {
        frames.push(print.printResult(response, run.calls.result(response.name, response.id), more))
      }
    }
    if (event.errorCode !== undefined || event.errorMessage !== undefined) {
      const message = event.errorMessage ?? event.errorCode ?? ''
      frames.push(print.logFrame({ message, level: 'error' }, where))
    }
    return frames
  }

  /**
   * A change that no open node made is printed at once while nodes run, else in the next snapshot of a node or the run.
   */
  #stateChanged(run: PrintedRun, before: JsonObject, keys: readonly string[] | undefined): Frame[] {
    if (this.#state === before || !run.nodes.any) return []
    return print.printState(this.#state, keys ?? Object.keys(this.#state))
  }

  #say(run: PrintedRun, pieces: readonly TextPiece[]): Frame[] {
    return pieces.flatMap((piece) => {
      if (piece.thought) return [this.#thinking(run, piece)]
      return [
        ...this.#agentFrame(run, piece),
        ...this.#chunks.split(piece.text).map((data) => ({ event: 'chunk', data })),
      ]
    })
  }

  #thinking(run: PrintedRun, { text, author, node }: TextPiece): Frame {
    const clear = node === undefined || run.nodes.named(author)?.id === node
    return print.jsonFrame('thinking', { content: text, agent: author, ...(clear ? {} : { node_id: node }) })
  }

  /**
   * Bare text carries no name: where a reader would assign it to another node, an `agent` frame names the right one.
   */
  #agentFrame(run: PrintedRun, { node }: TextPiece): Frame[] {
    if (node === undefined || run.nodes.speaker?.id === node) return []
    run.nodes.speak(node)
    return this.#names(run, node)
  }

  #names({ nodes }: PrintedRun, id: NodeId | undefined): Frame[] {
    const node = id === undefined ? undefined : nodes.get(id)
    if (node === undefined) return []
    return [{ event: 'agent', data: nodes.named(node.name)?.id === id ? node.name : node.id }]
  }

  #where(run: PrintedRun, node: NodeId | undefined): { readonly node_id?: string } {
    if (node === undefined || run.nodes.get(node) === undefined || run.nodes.speaker?.id === node) return {}
    return { node_id: node }
  }

  #finished(run: PrintedRun, event: RunFinished & Pick<RunEvent, 'extra'>, at: number): Frame[] {
    if (run.over) return []
    const { outcome, error } = event
    const frames = this.#say(run, run.turns.flush())
    const code = outcome === 'cancelled' ? 'cancelled' : 'agent-error'
    const problem = outcome === 'done' ? undefined : (error ?? { code, message: outcome })
    run.over = true
    // The nodes of a run that waits for a person stay open; those of any other run end with it.
    const over = outcome === 'interrupted' ? [] : run.nodes.all.toReversed()
    for (const { id } of over) for (const frame of this.#leave(run, id, at, problem)) frames.push(frame)
    if (outcome === 'failed') frames.push({ event: 'error', data: error?.message ?? 'failed' })
    const steps = event.extra?.studio?.total_steps
    const facts: print.DoneFacts = {
      steps: typeof steps === 'number' ? steps : run.nodes.totalSteps,
      input: run.input,
      state: this.#state,
      asks: this.#interrupts.openIn(run.id),
    }
    return [...frames, print.printDone(event, facts), { event: 'end', data: '' }]
  }

  #fact(run: PrintedRun, event: RunEvent, at: number): readonly Frame[] {
    switch (event.kind) {
      case 'log': {
        const as = event.extra?.studio?.event
        if ((as === 'trace' || as === 'debug') && event.data !== undefined) {
          return [{ event: as, data: JSON.stringify(event.data) }]
        }
        // Notes of engines and of other dialects are not for a Studio client.
        if (event.level === 'debug' && as === undefined) return []
        return [print.logFrame(event, this.#where(run, event.node))]
      }
      case 'interrupt': {
        const name = event.node === undefined ? '' : nodeName(event.node)
        const implied = event.id === this.#interrupts.impliedId(run.id)
        this.#interrupts.ask(event.id, name, run.id)
        return [print.interruptFrame(event, name, implied, at)]
      }
      case 'resumed': {
        const name = this.#interrupts.nameOf(event.interrupt)
        const implied = event.interrupt === this.#interrupts.latest(name)
        this.#interrupts.answer(event.interrupt)
        return [print.printResume(event, name, implied, at)]
      }
      case 'superseded': {
        const said = this.#say(run, run.turns.drop(event.messages))
        const lost = { code: 'crashed', message: 'lost in a crash, and run again' } as const
        return [...said, ...event.nodes.flatMap((node) => this.#leave(run, node, at, lost))]
      }
      default:
        return planToLog(event).map((message) => print.logFrame({ message, level: 'info' }, {}))
    }
  }
}
