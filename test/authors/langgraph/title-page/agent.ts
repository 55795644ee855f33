// Pattern: a workflow of the functional API that asks twice in a row, and takes any answer. What it saves is not what it
// answers with.
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { entrypoint, getPreviousState, interrupt, MemorySaver, task } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { lastText } from '../../kit/fake-model.ts'

const write = task('write', async (chapter: number, topic: string) => {
  await effect(`title-page/write ${topic} ${chapter}`)
  return `${chapter}: ${topic}`
})

export const resumable = true
export const graph = entrypoint(
  { name: 'title-page', checkpointer: new MemorySaver() },
  async ({ messages }: { messages: BaseMessage[] }) => {
    const volume = getPreviousState<number>() ?? 1
    const text = (await Promise.all([1, 2].map((chapter) => write(chapter, lastText(messages))))).join(', ')
    const title: string = interrupt({ question: 'Title?', text })
    const subtitle: string = interrupt({ question: 'Subtitle?', title })
    const page = new AIMessage(`Volume ${volume}. ${title}. ${subtitle}.`)
    return entrypoint.final({ value: { messages: [...messages, page] }, save: volume + 1 })
  },
)
