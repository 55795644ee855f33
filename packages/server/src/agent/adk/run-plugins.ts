import { type Event, type LlmResponse, PluginManager } from '@google/adk'

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
