import { adkRequest } from '../../event/adk-request.ts'
import { callText } from '../../event/model-call.ts'
import { callOf, partsOf, responseOf } from '../../event/parts.ts'
import type {
  AgentSaid,
  Logged,
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
import type { Encoder, EncoderOptions } from '../dialect.ts'
import { keptFields } from '../kept-fields.ts'
import { nodeName } from '../node-name.ts'
import { PlainChunks } from './chunks.ts'
import { planToLog } from './encode/plan-to-log.ts'
import { RunKeys } from './encode/run-keys.ts'
import { StudioSpeakers } from './encode/speakers.ts'
import { Speech } from './encode/speech.ts'
import { UnprintedState } from './encode/unprinted-state.ts'
import { StudioInterrupts } from './interrupts.ts'
import { type OpenNode, OpenNodes } from './nodes.ts'
import { touchedKeys } from './state.ts'
import * as print from './wire.ts'

interface PrintedRun {
  readonly id: string
  readonly nodes: OpenNodes
  readonly lanes: StudioSpeakers
  readonly calls: CallIds
  readonly speech: Speech
  readonly keys: RunKeys
  readonly unprinted: UnprintedState
  /** The log has nodes of its own, so none are inferred from authors. */
  named: boolean
  /** The state at the start of the run, which is the input of its first node. */
  input: JsonObject
  over: boolean
}

/** Prints any log. Snapshots are folds: the state is kept here, and never on the events. */
export class StudioEncoder implements Encoder {
  readonly #session: string
  readonly #endsAtQuestion: boolean
  /** For readers that append. Absent: a chunk is the text so far. */
  readonly #pieces: PlainChunks | undefined
  readonly #interrupts = new StudioInterrupts()
  #state: JsonObject
  #run: PrintedRun | undefined

  constructor({ session, facts = noFacts, chunks = 'text', endsAtQuestion = false }: EncoderOptions) {
    this.#session = session
    this.#endsAtQuestion = endsAtQuestion
    if (chunks === 'delta') this.#pieces = new PlainChunks()
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
    const late = this.#run !== undefined && this.#run.id !== recorded.run ? this.#run.speech.flush() : []
    const frames = this.#print(this.#runOf(recorded), recorded, before)
    return late.length === 0 ? frames : [...late, ...frames]
  }

  #print(run: PrintedRun, recorded: Recorded, before: JsonObject): readonly Frame[] {
    const { event } = recorded
    switch (event.kind) {
      case 'run.started':
        run.keys.ask(event.input)
        return [{ event: 'session', data: this.#session }]
      case 'node.started':
        return this.#nodeStarted(run, event, recorded.at)
      case 'node.finished':
        return this.#nodeFinished(run, event, recorded.at)
      case 'agent':
        return this.#agent(run, event, recorded.at, before)
      case 'state':
        return this.#state === before ? [] : this.#stateChanged(run, event.node, touchedKeys(event.patch), 'later')
      case 'run.finished':
        return this.#finished(run, event, recorded.at)
      default:
        return this.#fact(run, event, recorded.at)
    }
  }

  prelude(): readonly Frame[] {
    const run = this.#run
    if (run === undefined || run.over) return []
    const { nodes, keys, speech } = run
    return [
      { event: 'session', data: this.#session },
      ...nodes.all.map((node) => print.printStart(node, false, {}, keys.before, this.#sign)),
      ...(nodes.any ? print.printState(this.#state, Object.keys(this.#state), {}) : []),
      ...speech.streaming(),
    ]
  }

  /** Says on each start of a node that chunks are pieces. */
  get #sign(): JsonObject {
    return this.#pieces === undefined ? {} : { chunks: 'delta' }
  }

  #runOf({ run: id, event }: Recorded): PrintedRun {
    if (this.#run?.id === id && event.kind !== 'run.started') return this.#run
    this.#pieces?.reset()
    const nodes = new OpenNodes()
    this.#run = {
      id,
      nodes,
      lanes: new StudioSpeakers(),
      calls: callIds(id),
      speech: new Speech(nodes, this.#pieces),
      keys: new RunKeys(),
      unprinted: new UnprintedState(),
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
      ...this.#unprinted(run),
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
    run.speech.shows(node.name)
    this.#pieces?.known()
    return print.printStart(node, implied, event, run.keys.before, this.#sign)
  }

  #nodeFinished(run: PrintedRun, event: NodeFinished, at: number): Frame[] {
    const { speech, nodes, keys, unprinted } = run
    const said = speech.say(speech.turns.end(event.node))
    const node = nodes.get(event.node)
    if (node === undefined) return said
    // Its own snapshot shows what it wrote; what other nodes wrote must not look like its work.
    unprinted.drop(node.id)
    const others = this.#unprinted(run)
    const named = nodes.named(node.name, node.step)?.id === node.id
    nodes.end(node.id)
    const duration = event.duration ?? Math.max(0, Math.round(at - node.at))
    const given = { before: keys.before, after: keys.after(node.id) }
    return [...said, ...others, print.printEnd(node, named, { ...event, duration }, this.#state, given)]
  }

  #leave(run: PrintedRun, node: NodeId, at: number, error?: NodeFinished['error']): Frame[] {
    const end = error === undefined ? ({ status: 'ok' } as const) : ({ status: 'error', error } as const)
    return this.#nodeFinished(run, { kind: 'node.finished', node, ...end }, at)
  }

  #agent(run: PrintedRun, said: AgentSaid, at: number, before: JsonObject): Frame[] {
    const { event } = said
    const { speech } = run
    const speaks = event.author !== 'user'
    // Nearly every event is a token of the speaker before: it starts and ends no node.
    const infers = speaks && said.node === undefined && !run.named
    const again = infers && isPartial(event) ? run.lanes.again(event) : undefined
    if (again !== undefined) return speech.say(speech.turns.partial(said, again, again))
    const { frames, node } = this.#speaker(run, said, at)
    const own: AgentSaid = node === undefined || node === said.node ? said : { ...said, node }
    const lane = node ?? `${event.branch ?? ''}\n${event.author}\n${said.task ?? ''}`
    if (isPartial(event)) {
      const text = speaks ? speech.say(speech.turns.partial(own, lane)) : []
      return frames.length === 0 ? text : [...frames, ...text]
    }
    const text = speaks ? speech.say(speech.turns.whole(own, lane)) : []
    if (speaks) run.keys.answer(event.content, node)
    const acts = this.#acts(run, own, node)
    const first = acts.length === 0 ? [] : speech.say(speech.turns.before(lane))
    if (acts.length > 0) speech.acted(node)
    const delta = Object.keys(event.actions?.stateDelta ?? {})
    const changed = this.#state === before ? [] : this.#stateChanged(run, node, delta, 'now')
    return [...frames, ...text, ...first, ...acts, ...changed]
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
      // ADK's own call for a confirmation is printed as the `interrupt`, and its answer as the `resume`.
      if ((call ?? response)?.name === adkRequest.confirmation) continue
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
   * What an ADK event changes is printed at once. What an open node changes otherwise waits for its next snapshot, or for
   * the next node. A change that no open node made is printed at once while nodes run, else in the next snapshot.
   */
  #stateChanged(
    run: PrintedRun,
    by: NodeId | undefined,
    keys: readonly string[] = Object.keys(this.#state),
    when: 'now' | 'later',
  ): Frame[] {
    const node = by === undefined ? undefined : run.nodes.get(by)
    if (node !== undefined && when === 'later') {
      run.unprinted.add(node.id, keys)
      return []
    }
    return run.nodes.any ? print.printState(this.#state, keys, this.#nameOf(run, node)) : []
  }

  #unprinted(run: PrintedRun): Frame[] {
    return run.unprinted
      .take()
      .flatMap(([node, keys]) => print.printState(this.#state, keys, this.#nameOf(run, run.nodes.get(node))))
  }

  #nameOf({ nodes }: PrintedRun, node: OpenNode | undefined): { readonly node?: string; readonly node_id?: string } {
    if (node === undefined) return {}
    return { node: node.name, ...(nodes.named(node.name)?.id === node.id ? {} : { node_id: node.id }) }
  }

  #where(run: PrintedRun, node: NodeId | undefined): { readonly node_id?: string } {
    if (node === undefined || run.nodes.get(node) === undefined || run.nodes.speaker?.id === node) return {}
    return { node_id: node }
  }

  #finished(run: PrintedRun, event: RunFinished & Pick<RunEvent, 'extra'>, at: number): Frame[] {
    if (run.over) return []
    const { outcome, error } = event
    const frames = run.speech.flush()
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
      given: { before: run.keys.before, after: run.keys.after() },
    }
    const end = { event: 'end', data: '' }
    if (outcome !== 'interrupted') return [...frames, print.printDone(event, facts), end]
    // Nothing ends where a run waits for a person: the stream goes on with the run that has the answer.
    frames.push(...this.#unprinted(run), print.printInterrupted(event, facts))
    return this.#endsAtQuestion ? [...frames, end] : frames
  }

  #fact(run: PrintedRun, event: RunEvent, at: number): readonly Frame[] {
    switch (event.kind) {
      case 'log': {
        const as = event.extra?.studio?.event
        if ((as === 'trace' || as === 'debug') && event.data !== undefined) {
          return [{ event: as, data: JSON.stringify(event.data) }]
        }
        const text = callText(event)
        if (text !== undefined) return [print.logFrame(calling(run, text, event.node), this.#where(run, event.node))]
        // Notes of engines and of other dialects are not for a Studio client.
        if (event.level === 'debug' && as === undefined) return []
        return [print.logFrame(event, this.#where(run, event.node))]
      }
      case 'model.started':
        return [print.logFrame(calling(run, callText(event) ?? '', event.node), this.#where(run, event.node))]
      case 'model.finished':
      case 'tool.finished':
      case 'feedback':
      case 'changed':
        return []
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
        const said = run.speech.drop(event.messages)
        const lost = { code: 'crashed', message: 'lost in a crash, and run again' } as const
        return [...said, ...event.nodes.flatMap((node) => this.#leave(run, node, at, lost))]
      }
      default:
        return planToLog(event).map((message) => print.logFrame({ message, level: 'info' }, {}))
    }
  }
}

/** The message alone, as the schema shows it, and the agent where a page would show another one as that at work. */
function calling({ nodes, speech }: PrintedRun, message: string, node: NodeId | undefined): Logged {
  const name = node === undefined ? undefined : nodes.get(node)?.name
  const named = name !== undefined && speech.shows(name) ? { data: { agent: name } } : {}
  return { kind: 'log', level: 'info', message, ...named }
}
