import { branchOf, isBelow, mostSpeakers } from '../../../event/branch.ts'
import type { AgentSaid, NodeFinished, NodeStarted, RunEvent } from '../../../event/run-event.ts'
import type { JsonObject } from '../../../json/json.ts'
import { type AgUiEvent, keptOf, restOf } from '../wire.ts'
import { type AgUiWriter, tagged } from './writer.ts'

/** What a node execution is to an AG-UI client. */
interface Node {
  /** The run's own agent is the run itself; what it calls is a subagent; a part of a graph is a step. */
  readonly as: 'run' | 'step' | 'subagent'
  readonly agent: string
  /** The subagentRunId of what happens in it; undefined for the agent itself. */
  readonly tag: string | undefined
  readonly key: string
}

/**
 * The node executions of a run as steps and subagents, and the one that each event belongs to. In logs without nodes
 * (ADK's own wire) they are inferred: the turn of another author is a step, a branch is a subagent beside others.
 */
export class Nodes {
  readonly #writer: AgUiWriter
  #agent = ''
  #wired = false
  /** The log has events for its nodes, so nothing is inferred from authors. */
  #named = false
  readonly #nodes = new Map<string, Node>()
  /** How often an id was started: AG-UI allows each subagent id once within a run. */
  readonly #times = new Map<string, number>()
  #turn: string | undefined
  /** The open branches with the keys of their nodes, and the branch that spoke last. */
  readonly #branches = new Map<string, string>()
  #branch: string | undefined
  /** The highest number of each step name. */
  readonly #numbers = new Map<string, number>()

  constructor(writer: AgUiWriter) {
    this.#writer = writer
  }

  /** A new run of an agent. A `wired` run was read off an AG-UI wire, which has its own steps. */
  begin(agent: string, wired: boolean): void {
    this.#agent = agent
    this.#wired = wired
    this.#named = false
    this.#turn = undefined
    this.#branch = undefined
    for (const index of [this.#nodes, this.#times, this.#branches, this.#numbers]) index.clear()
  }

  /** The agent of an event without a subagent. If the run names no agent, it is the first author. */
  voice(tag: string | undefined, author: string): string {
    if (this.#agent === '') this.#agent = author
    return (tag === undefined ? undefined : this.#nodes.get(tag)?.agent) ?? this.#agent
  }

  started(event: NodeStarted & RunEvent): void {
    this.#named = true
    const kept = keptOf(event)
    const parent = event.parent === undefined ? undefined : this.#nodes.get(event.parent)
    const owner = event.parent === undefined ? undefined : (parent?.tag ?? (parent ? undefined : event.parent))
    const as = kept.as === 'step' || kept.as === 'subagent' ? kept.as : undefined
    if (as === undefined && event.parent === undefined && event.agent === this.#agent) {
      this.#nodes.set(event.node, { as: 'run', agent: event.agent, tag: undefined, key: event.node })
    } else if ((as ?? (event.parent === undefined ? 'step' : 'subagent')) === 'step') {
      this.#startStep(event.node, event.agent, owner, restOf(kept))
    } else this.#startSubagent(event, owner, restOf(kept))
  }

  finished(event: NodeFinished & RunEvent): void {
    const node = this.#nodes.get(event.node)
    if (node === undefined || node.as === 'run') return
    const rest = restOf(keptOf(event))
    const { error, status } = event
    const failed = status === 'error' ? (error ?? { code: 'agent-error', message: 'failed' }) : undefined
    if (node.as === 'step') {
      const metadata = failed === undefined || rest?.metadata ? {} : { metadata: { error: { ...failed } } }
      this.#writer.closeNode(node.key, { ...stepEnd(node), ...metadata, ...rest })
    } else if (failed === undefined) {
      this.#writer.closeNode(node.key, { type: 'SUBAGENT_FINISHED', subagentRunId: node.key, ...rest })
    } else {
      const code = failed.source ?? (failed.code === 'agent-error' ? undefined : failed.code)
      const said = { message: failed.message, ...(code === undefined ? {} : { code }) }
      this.#writer.closeNode(node.key, { type: 'SUBAGENT_ERROR', subagentRunId: node.key, ...said, ...rest })
    }
  }

  /** The subagent that an event of this node belongs to. An unknown node counts as a subagent. */
  tagOf(node: string | undefined): string | undefined {
    if (node === undefined) return undefined
    const known = this.#nodes.get(node)
    return known === undefined ? node : known.tag
  }

  /** The subagent of an ADK event: by its node, else by its branch or author. */
  speaker({ node, event }: AgentSaid): string | undefined {
    if (node !== undefined || this.#named || this.#wired || event.author === 'user') return this.tagOf(node)
    const branch = branchOf(event)
    this.#leave(branch)
    return branch === '' ? this.#takeTurn(event.author) : this.#enter(branch, event.author)
  }

  /** The key of the subagent that a waiting node belongs to, so that its end can name the question. */
  keyOf(node: string): string | undefined {
    return this.#nodes.get(node)?.key
  }

  #startStep(id: string, agent: string, tag: string | undefined, rest: JsonObject | undefined): void {
    const name = this.#stepName(agent, tag)
    const key = stepKey(tag, name)
    this.#nodes.set(id, { as: 'step', agent: name, tag, key })
    const start: AgUiEvent = { type: 'STEP_STARTED', stepName: name, ...tagged(tag), ...rest }
    this.#writer.openNode(key, start, stepEnd({ agent: name, tag }))
  }

  /** A name that no open step of the same owner has. Numbers only grow, so that the search is short. */
  #stepName(agent: string, tag: string | undefined): string {
    const open = (name: string): boolean => this.#writer.isNodeOpen(stepKey(tag, name))
    if (!open(agent)) return agent
    const base = stepKey(tag, agent)
    let count = this.#numbers.get(base) ?? 1
    do count += 1
    while (open(`${agent}@${count}`))
    this.#numbers.set(base, count)
    return `${agent}@${count}`
  }

  #startSubagent({ node, agent, call }: NodeStarted, owner: string | undefined, rest: JsonObject | undefined): void {
    const id = this.#register(node, node, agent)
    // A parent that has ended is left out: a reader that joined after its end would not know it.
    const inside = owner !== undefined && this.#writer.isNodeOpen(owner) ? { parentSubagentRunId: owner } : {}
    const caller = call === undefined ? {} : { parentToolCallId: call }
    const start: AgUiEvent = { type: 'SUBAGENT_STARTED', subagentRunId: id, name: agent, ...inside, ...caller, ...rest }
    this.#writer.openNode(id, start, { type: 'SUBAGENT_FINISHED', subagentRunId: id })
  }

  /** The id of a subagent on the wire: that of the log, unless it was used before. */
  #register(key: string, wanted: string, agent: string): string {
    let times = this.#times.get(wanted) ?? 0
    let id = wanted
    do {
      times += 1
      id = times === 1 ? wanted : `${wanted}~${times}`
    } while (times > 1 && this.#times.has(id))
    this.#times.set(wanted, times)
    if (id !== wanted) this.#times.set(id, 1)
    const node: Node = { as: 'subagent', agent, tag: id, key: id }
    this.#nodes.set(key, node)
    this.#nodes.set(id, node)
    return id
  }

  /** In the main conversation one author speaks at a time: the turn of an author other than the agent is a step. */
  #takeTurn(author: string): undefined {
    const turn = author === this.voice(undefined, author) ? undefined : author
    if (turn === this.#turn) return
    if (this.#turn !== undefined) this.#writer.closeNode(stepKey(undefined, this.#turn))
    this.#turn = turn
    if (turn !== undefined) this.#startStep(`turn of ${turn}`, turn, undefined, undefined)
  }

  #enter(branch: string, author: string): string | undefined {
    const key = `branch ${branch}`
    const known = this.#nodes.get(key)
    if (known !== undefined && this.#writer.isNodeOpen(known.key)) return known.tag
    const id = this.#register(key, branch, author)
    const start: AgUiEvent = { type: 'SUBAGENT_STARTED', subagentRunId: id, name: author }
    this.#writer.openNode(id, start, { type: 'SUBAGENT_FINISHED', subagentRunId: id })
    const [oldest] = this.#branches.size >= mostSpeakers ? this.#branches.keys() : []
    if (oldest !== undefined) this.#over(oldest)
    this.#branches.set(branch, id)
    return id
  }

  /** A branch speaks again only after the branches below it are done: these end now. */
  #leave(branch: string): void {
    if (branch === this.#branch) return // they have ended already
    this.#branch = branch
    for (const each of this.#branches.keys()) if (isBelow(each, branch)) this.#over(each)
  }

  #over(branch: string): void {
    this.#writer.closeNode(this.#branches.get(branch) ?? '')
    this.#branches.delete(branch)
  }
}

function stepKey(tag: string | undefined, name: string): string {
  return `step ${tag ?? ''}\n${name}`
}

function stepEnd({ agent, tag }: { readonly agent: string; readonly tag: string | undefined }): AgUiEvent {
  return { type: 'STEP_FINISHED', stepName: agent, ...tagged(tag) }
}
