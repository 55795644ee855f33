import type { RunnableConfig } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { fold, type Json, type PlanData, planView } from '@millrace/core'
import { graphRun, record } from '@millrace/server/langgraph'
import { z } from 'zod'
import { type SearchResult, webSearch } from '../corpus/search.ts'

/**
 * The tools of a task. Artifacts and data items are recorded in the log and nowhere else. `found` is called with every
 * search result.
 */
export function toolsFor(task: string, config: RunnableConfig, found: (result: SearchResult) => void) {
  const { context } = graphRun(config)
  const items = () =>
    fold(planView, context.history)
      .data.toArray()
      .filter(({ deleted }) => deleted !== true)

  return [
    tool(
      async ({ query }) => {
        const answer = await webSearch(query, 4, context.signal)
        answer.results.forEach(found)
        return answer
      },
      {
        name: 'web_search',
        description: 'Searches the web, or the bundled library when no search engine is configured.',
        schema: z.object({ query: z.string().min(2).max(300) }),
      },
    ),
    tool(
      async ({ name, type, content }, inner) => {
        const id = context.newId()
        await record({ kind: 'artifact', id, name, type, version: 1, part: { text: content }, task }, inner)
        return { artifactId: id, characters: content.length }
      },
      {
        name: 'create_artifact',
        description: 'Saves a document in markdown.',
        schema: z.object({
          name: z.string().min(1).max(200),
          type: z.enum(['document', 'note', 'summary', 'plan', 'other']),
          content: z.string().max(100_000),
        }),
      },
    ),
    tool(
      async ({ itemType, item, id }, inner) => {
        const content = JSON.stringify(item)
        const known = items().find((each) => each.id === id || (id === undefined && same(each, itemType, content)))
        // A task that is carried out again finds what it saved before, and does not save it twice.
        if (id === undefined && known !== undefined) return { dataItemId: known.id, operation: 'none' }
        const made = known?.id ?? context.newId()
        const operation = known === undefined ? 'create' : 'update'
        await record({ kind: 'data', id: made, operation, itemType, item: item as Json, task }, inner)
        return { dataItemId: made, operation }
      },
      {
        name: 'save_data_item',
        description: 'Saves a structured item, such as a contact or a competitor; with an id, changes that item.',
        schema: z.object({
          itemType: z.string().min(1).max(100),
          item: z.record(z.string(), z.unknown()),
          id: z.string().optional(),
        }),
      },
    ),
    tool(
      async ({ id }, inner) => {
        const known = items().find((each) => each.id === id)
        if (known === undefined) throw new Error(`unknown data item ${id}`)
        await record({ kind: 'data', id, operation: 'delete', itemType: known.itemType, task }, inner)
        return { deleted: id }
      },
      { name: 'delete_data_item', description: 'Deletes a data item.', schema: z.object({ id: z.string() }) },
    ),
  ]
}

function same(known: PlanData, itemType: string, content: string): boolean {
  return known.itemType === itemType && JSON.stringify(known.item) === content
}
