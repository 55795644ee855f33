import type { Context } from '@google/adk'

/**
 * Asks a person before a tool continues, with a question of the tool's choice (ADK's `requireConfirmation` has one fixed
 * sentence). The run ends as interrupted; after the answer the tool is called again with the same arguments.
 *
 * ```ts
 * execute: (_args, context) => confirm(context, 'Delete all 12 proverbs?') ?? deleteAll()
 * ```
 * Returns the value that the tool must return, or undefined when the person said yes.
 */
export function confirm(
  context: Context | undefined,
  question: string,
): { status: string } | { error: string } | undefined {
  if (context === undefined) throw new Error('confirm() needs the context: pass it the second argument of execute')
  if (context.toolConfirmation === undefined) {
    context.requestConfirmation({ hint: question })
    context.actions.skipSummarization = true
    return { status: 'waiting for confirmation' }
  }
  return context.toolConfirmation.confirmed ? undefined : { error: 'The user said no.' }
}
