import { FunctionTool, LlmAgent } from '@google/adk'
import { model, specialists } from '@millrace/server/adk'
import { z } from 'zod'
import { webSearch } from '../corpus/search.ts'
import { researchScript } from './offline.ts'

export const title = 'Research'
export const description =
  'A dispatcher hands over to a planner, whose researchers work in parallel and whose composer writes the report.'
export const examples = [
  'Research quantum computing',
  'Find latest AI research papers',
  'Research post-quantum cryptography',
  'What can you do?',
]

const llm = model({ offline: researchScript })

const search = new FunctionTool({
  name: 'web_search',
  description:
    'Searches the web (or, without a search engine configured, a bundled library) and returns titles, addresses and snippets.',
  parameters: z.object({ query: z.string().min(2).max(300), limit: z.number().int().min(1).max(10).optional() }),
  execute: ({ query, limit }, context) => webSearch(query, limit, context?.invocationContext.abortSignal),
})

const savePlan = new FunctionTool({
  name: 'save_plan',
  description: 'Keeps the research plan in the session, for every agent to read.',
  parameters: z.object({ topic: z.string(), sections: z.array(z.string()).min(1).max(6) }),
  execute({ topic, sections }, context) {
    context?.state.set('research_plan', { topic, sections })
    return { saved: sections.length }
  },
})

const sectionResearcher = new LlmAgent({
  name: 'section_researcher',
  description: 'Researches one section of the plan.',
  model: llm,
  instruction:
    'Search for the section you are given, then write two or three sentences of findings with a source for each: "- finding ([title](url))".',
  tools: [search],
  outputKey: 'last_section',
})

const searchExecutor = new LlmAgent({
  name: 'enhanced_search_executor',
  description: 'Runs follow-up searches for what the sections left open.',
  model: llm,
  instruction:
    'The plan: {research_plan?}. Run one or two searches that close the gap named in your request, then report what they add, with sources.',
  tools: [search],
  outputKey: 'enhanced_findings',
})

const reportComposer = new LlmAgent({
  name: 'report_composer',
  description: 'Writes the report out of the findings.',
  model: llm,
  instruction:
    'Write a short report in markdown: a title, one section per finding, and a list of sources. Use only what you are given.',
  outputKey: 'report',
})

const planGenerator = new LlmAgent({
  name: 'plan_generator',
  description: 'Plans a research question and sees it through to a report.',
  model: llm,
  instruction: `Think about the question, look around with one search, save a plan of two to four sections, then consult section_researcher once per section, all in one turn.
Then let enhanced_search_executor close the gaps, give everything to report_composer, and hand its report to the user.`,
  tools: [search, savePlan, ...specialists([sectionResearcher, searchExecutor, reportComposer])],
})

export const rootAgent = new LlmAgent({
  name: 'dispatcher',
  description,
  model: llm,
  instruction: 'Hand research questions over to plan_generator. Answer questions about what you can do yourself.',
  subAgents: [planGenerator],
})
