import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import type { SearchResult } from '../corpus/search.ts'
import { chat, extractTasks } from './chat.ts'
import { beginTask, executeTask, nextStep, reflect, selectTask } from './execute.ts'

export const title = 'Planner'
export const description =
  'Talks until there is a plan, then carries it out task by task: searches, writes artifacts, keeps data.'
export const examples = [
  'Plan a competitor analysis of the CRM market',
  'Plan a product launch',
  'Plan an offsite for a remote team',
]
/** After a crash an execution continues with the task it was at: there is a checkpoint after every node. */
export const resumable = true

/**
 * The state that the nodes share. `queue` has the ids of the tasks still to do in this execution, `current` is the task at
 * hand, and `findings` are the search results of this plan's tasks, so that a later task can use them.
 */
export const PlannerState = Annotation.Root({
  ...MessagesAnnotation.spec,
  queue: Annotation<string[]>({ reducer: (_before, after) => after, default: () => [] }),
  findings: Annotation<readonly SearchResult[]>({ reducer: (_before, after) => after, default: () => [] }),
  current: Annotation<string | null>({ reducer: (_before, after) => after, default: () => null }),
  outcome: Annotation<{ readonly status: 'done' | 'failed'; readonly result: string } | null>({
    reducer: (_before, after) => after,
    default: () => null,
  }),
})

export const graph = new StateGraph(PlannerState)
  .addNode('begin', beginTask)
  .addNode('chat', chat)
  .addNode('extract_tasks', extractTasks)
  .addNode('select_task', selectTask)
  .addNode('execute_task', executeTask)
  .addNode('reflect', reflect)
  .addEdge(START, 'begin')
  .addConditionalEdges('begin', nextStep, ['chat', 'select_task'])
  .addEdge('chat', 'extract_tasks')
  .addEdge('extract_tasks', END)
  .addConditionalEdges('select_task', ({ current }) => (current === null ? END : 'execute_task'), ['execute_task', END])
  .addEdge('execute_task', 'reflect')
  .addEdge('reflect', 'select_task')
  .compile()
