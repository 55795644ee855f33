// Pattern: custom streaming. A node and a tool report their progress through the stream writer.
import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { effect } from '../../kit/effect.ts'

const State = Annotation.Root({ ...MessagesAnnotation.spec, rows: Annotation<number>() })

export const resumable = true
export const graph = new StateGraph(State)
  .addNode('load', async (_state, config: LangGraphRunnableConfig) => {
    for (const done of [25, 50, 100]) config.writer?.({ step: 'load', done })
    await effect('progress/load')
    return { rows: 3 }
  })
  .addNode('report', async ({ rows }, config: LangGraphRunnableConfig) => {
    config.writer?.('almost there')
    await effect('progress/report')
    return { messages: [new AIMessage(`${rows} rows`)] }
  })
  .addEdge(START, 'load')
  .addEdge('load', 'report')
  .addEdge('report', END)
  .compile()
