// Pattern: the functional API. A workflow is a function that calls tasks, asks a person, and remembers what it saved.
import { AIMessage, type BaseMessage } from '@langchain/core/messages'
import { entrypoint, getPreviousState, interrupt, MemorySaver, task } from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'
import { lastText } from '../../kit/fake-model.ts'

const compose = task('compose', async (topic: string) => {
  await effect(`functional/compose ${topic}`)
  return `An essay about ${topic}`
})
const grade = task('grade', async (essay: string, by: string) => {
  await effect(`functional/grade ${by} ${essay}`)
  return essay.length + by.length
})

export const resumable = true
export const graph = entrypoint(
  { name: 'review', checkpointer: new MemorySaver() },
  async ({ messages }: { messages: BaseMessage[] }) => {
    const before = getPreviousState<{ reviews: string[] }>()?.reviews ?? []
    const essay = await compose(lastText(messages))
    const grades = await Promise.all([grade(essay, 'ann'), grade(essay, 'bob')])
    const review: string = interrupt({ question: 'How is it?', essay })
    const reviews = [...before, review]
    const value = { essay, grades, reviews, messages: [new AIMessage(`${essay}: ${reviews.join(', ')}`)] }
    return entrypoint.final({ value, save: { reviews } })
  },
)
