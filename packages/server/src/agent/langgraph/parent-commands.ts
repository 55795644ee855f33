import { isObject } from '@millrace/core'

/**
 * The commands by which nodes left their graph for the one around it (`Command.PARENT`). LangGraph throws them, so that
 * such a node has no end among the events, and only handlers of LangChain see what it returned.
 */
export class ParentCommands {
  /** By the LangChain run of the node. */
  readonly #commands = new Map<string, unknown>()

  readonly handler = {
    name: 'millrace-parent-commands',
    awaitHandlers: true,
    handleChainError: (error: unknown, run: string): void => {
      if (isObject(error) && error.name === 'ParentCommand') this.#commands.set(run, error.command)
    },
  }

  has(run: string): boolean {
    return this.#commands.has(run)
  }

  take(run: string): unknown {
    const command = this.#commands.get(run)
    this.#commands.delete(run)
    return command
  }
}
