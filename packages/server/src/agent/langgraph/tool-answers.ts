import type { AdkFunctionResponse, NodeId } from '@millrace/core'
import type { GraphNode } from './graph-nodes.ts'
import { updatesOf } from './graph-state.ts'
import { messageParts, type ToolAnswer, toolAnswer } from './message-parts.ts'

/** The answer of a tool, and the LangChain run of the tool. */
export interface HeldAnswer {
  readonly run: string
  readonly node: GraphNode
  readonly response: AdkFunctionResponse
}

/**
 * The tools that run in each node, and the answer of the last one. What a tool returns is not always its answer: the node
 * may replace it (LangChain's `wrapToolCall` redacts results and handles errors). So the answer of a node's last tool is
 * held until the node ends, or does something else first.
 */
export class ToolAnswers {
  /** Running tools: LangChain run → call id and node. */
  readonly #running = new Map<string, { readonly call: string; readonly node: NodeId }>()
  readonly #held = new Map<NodeId, HeldAnswer>()

  started(run: string, call: string, { node }: GraphNode): void {
    this.#running.set(run, { call, node })
  }

  /** The tool has ended; returns its answer unless it is held. `known` tells whether an id is that of a call. */
  ended(
    run: string,
    node: GraphNode,
    name: string,
    answer: ToolAnswer,
    known: (id: string) => boolean,
  ): HeldAnswer | undefined {
    const own = answer.id !== undefined && known(answer.id) ? answer.id : undefined
    const id = own ?? this.#running.get(run)?.call ?? run
    this.#running.delete(run)
    const held = { run, node, response: { id, name, response: answer.response } }
    const isLast = node.node !== '' && ![...this.#running.values()].some((other) => other.node === node.node)
    if (!isLast) return held
    this.#held.set(node.node, held)
    return undefined
  }

  /** The held answer of a node that goes on, as the tool gave it. */
  take(node: NodeId): readonly HeldAnswer[] {
    const held = this.#held.get(node)
    this.#held.delete(node)
    return held === undefined ? [] : [held]
  }

  takeAll(): readonly HeldAnswer[] {
    const all = [...this.#held.values()]
    this.#held.clear()
    return all
  }

  /** The held answer of a node that ended with this output: the output's message for the call, where there is one. */
  final(node: NodeId, output: unknown): readonly HeldAnswer[] {
    return this.take(node).map((held) => {
      const messages = updatesOf(output).flatMap(([key, update]) => (key === 'messages' ? [update ?? []].flat() : []))
      const answers = messages.filter((message) => messageParts(message).type === 'tool').map(toolAnswer)
      const given = answers.find(({ id }) => id === held.response.id)?.response
      // An error is worded for the model; people see the tool's own.
      const isKept = given === undefined || ('error' in given && 'error' in (held.response.response ?? {}))
      return isKept ? held : { ...held, response: { ...held.response, response: given } }
    })
  }
}
