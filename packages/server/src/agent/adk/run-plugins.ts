import { createEvent, type Event, type LlmResponse, PluginManager } from '@google/adk'
import { defined } from '@millrace/core'

/** What every plugin answers that has nothing to say. */
const nothing = Promise.resolve(undefined)

/**
 * The plugins of a run whose author has none: ours alone. ADK asks its plugins about every token, twice, through several
 * promises each time; ours has something to say only about answers with calls, so it is asked about those alone.
 */
export class OwnPlugins extends PluginManager {
  override runOnEventCallback(): Promise<Event | undefined> {
    return nothing
  }

  override runAfterModelCallback(
    asked: Parameters<PluginManager['runAfterModelCallback']>[0],
  ): Promise<LlmResponse | undefined> {
    const parts = asked.llmResponse.content?.parts
    if (!parts?.some(({ functionCall }) => functionCall !== undefined)) return nothing
    return super.runAfterModelCallback(asked)
  }
}

/** The plugins of an author, and ours. */
export class AuthorPlugins extends PluginManager {
  /** ADK treats a plugin's answer to a model error as an event, and fails if it lacks the fields of one: they are added. */
  override async runOnModelErrorCallback(
    asked: Parameters<PluginManager['runOnModelErrorCallback']>[0],
  ): Promise<LlmResponse | undefined> {
    const given = await super.runOnModelErrorCallback(asked)
    if (given === undefined) return undefined
    const { invocationId, agent, branch } = asked.callbackContext.invocationContext
    return { ...createEvent({ invocationId, ...defined({ author: agent?.name, branch }) }), ...given }
  }
}
