import type { Context } from '@google/adk'

/**
 * Asks a person before a tool goes on, in words of the tool's own (ADK's `requireConfirmation` has one sentence for all).
 * The run ends as interrupted; when the person has answered, the tool is called again with the same arguments.
 *
 * ```ts
 * execute: (_args, context) => confirm(context, 'Delete all 12 proverbs?') ?? deleteAll()
 * ```
 * Gives back what the tool must return, or undefined when the person said yes.
 */
export function confirm(
  context: Context | undefined,
  question: string,
): { status: string } | { error: string } | undefined {
  if (context === undefined) throw new Error('confirm() needs the context that ADK hands to the tool')
  if (context.toolConfirmation === undefined) {
    context.requestConfirmation({ hint: question })
    context.actions.skipSummarization = true
    return { status: 'waiting for confirmation' }
  }
  return context.toolConfirmation.confirmed ? undefined : { error: 'The user said no.' }
}
