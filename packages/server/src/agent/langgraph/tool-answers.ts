import { type AdkFunctionResponse, isObject, type NodeId } from '@millrace/core'
import { messageParts, type ToolAnswer, toolAnswer } from '../langchain-message.ts'
import type { GraphNode } from './graph-nodes.ts'
import { updatesOf } from './graph-state.ts'

/** The answer of a tool, and the LangChain run of the tool. */
export interface HeldAnswer {
  readonly run: string
  readonly node: GraphNode
  readonly response: AdkFunctionResponse
  /** Whether the tool failed on a model's call, so that it may be run again for that call. */
  readonly mayChange: boolean
}

/** The answer of a tool. A tool that returns a command answers with the command's message for the call. */
export function answerIn(output: unknown, call: string | undefined): ToolAnswer {
  const given = isCommand(output) || (Array.isArray(output) && output.some(isCommand)) ? toolMessages(output) : []
  const answers = given.map(toolAnswer)
  return answers.find(({ id }) => id === call) ?? answers.at(-1) ?? toolAnswer(output)
}

function isCommand(output: unknown): boolean {
  return isObject(output) && output.lg_name === 'Command'
}

function toolMessages(output: unknown): readonly unknown[] {
  const messages = updatesOf(output).flatMap(([key, update]) => (key === 'messages' ? [update ?? []].flat() : []))
  return messages.filter((message) => messageParts(message).type === 'tool')
}

interface RunningTool {
  readonly call: string
  readonly node: NodeId
  /** Whether LangChain named the call. If not, the call is guessed from the name of the tool. */
  readonly isSure: boolean
}

/**
 * The tools that run in each node, and the answer of the last one. What a tool returns is not always its answer: the node
 * may replace it (LangChain's `wrapToolCall` redacts results and handles errors), or run the tool again. So the answer of
 * a node's last tool, and an error, is held until the node ends, or does something else first.
 */
export class ToolAnswers {
  /** Running tools, by their LangChain run. */
  readonly #running = new Map<string, RunningTool>()
  readonly #held = new Map<NodeId, readonly HeldAnswer[]>()

  started(run: string, call: string, { node }: GraphNode, isSure: boolean): void {
    this.#running.set(run, { call, node, isSure })
  }

  callOf(run: string): string | undefined {
    return this.#running.get(run)?.call
  }

  /** The tool runs again for this call, so the error of its last try is not the answer. Returns whether there was one. */
  dropFailedTry(call: string, { node }: GraphNode): boolean {
    const held = this.#held.get(node) ?? []
    const others = held.filter(({ response }) => response.id !== call)
    this.#held.set(node, others)
    return others.length < held.length
  }

  /** The tool has ended; returns its answer unless it is held. `known` tells whether an id is that of a call. */
  ended(
    run: string,
    node: GraphNode,
    name: string,
    answer: ToolAnswer,
    known: (id: string) => boolean,
  ): HeldAnswer | undefined {
    const tool = this.#running.get(run)
    const own = answer.id !== undefined && known(answer.id) ? answer.id : undefined
    const id = (tool?.isSure === true ? undefined : own) ?? tool?.call ?? run
    this.#running.delete(run)
    const mayChange = tool?.isSure === true && 'error' in answer.response
    const held = { run, node, response: { id, name, response: answer.response }, mayChange }
    const isLast = ![...this.#running.values()].some((other) => other.node === node.node)
    if (node.node === '' || !(isLast || mayChange)) return held
    this.#held.set(node.node, [...(this.#held.get(node.node) ?? []), held])
    return undefined
  }

  /** The held answers of a node that goes on, as the tools gave them. While other tools run, errors may still change. */
  take(node: NodeId, goesOn = true): readonly HeldAnswer[] {
    const held = this.#held.get(node) ?? []
    const stays = goesOn ? [] : held.filter(({ mayChange }) => mayChange)
    this.#held.set(node, stays)
    return goesOn ? held : held.filter(({ mayChange }) => !mayChange)
  }

  takeAll(): readonly HeldAnswer[] {
    const all = [...this.#held.values()].flat()
    this.#held.clear()
    return all
  }

  /** The held answers of a node that ended with this output: the output's message for the call, where there is one. */
  final(node: NodeId, output: unknown): readonly HeldAnswer[] {
    const answers = toolMessages(output).map(toolAnswer)
    return this.take(node).map((held) => {
      const given = answers.find(({ id }) => id === held.response.id)?.response
      // An error is worded for the model; people see the tool's own.
      const isKept = given === undefined || ('error' in given && 'error' in (held.response.response ?? {}))
      return isKept ? held : { ...held, response: { ...held.response, response: given } }
    })
  }
}
