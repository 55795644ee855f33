import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { jsonSchema } from './route-schema.ts'

/** The shapes of answers in the OpenAPI document. Tests validate real answers against them. */
const callCounts = z.object({ modelCalls: z.int(), toolCalls: z.int() })
const session = z.object({
  id: z.string(),
  user: z.string(),
  agent: z.string(),
  title: z.string(),
  status: z.enum(['idle', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
  cutOff: z
    .literal(true)
    .optional()
    .describe('The last run failed because the server or the recording stopped; how its work ended is not known'),
  lastRun: z.string().optional(),
  lastSeq: z.int(),
  events: z.int(),
  runs: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
  forkOf: z.object({ session: z.string(), seq: z.int() }).optional(),
})
const task = z.object({
  id: z.string(),
  sessionId: z.string(),
  title: z.string(),
  description: z.string(),
  status: z.enum(['pending', 'in_progress', 'done', 'failed']),
  order: z.int(),
  createdAt: z.string(),
  result: z.string().optional(),
  reflection: z.string().optional(),
})
const artifact = z.object({
  id: z.string(),
  sessionId: z.string(),
  name: z.string(),
  type: z.string(),
  version: z.int(),
  createdAt: z.string(),
  taskId: z.string().optional(),
})
const message = z.object({
  id: z.string(),
  sessionId: z.string(),
  role: z.enum(['user', 'assistant']),
  content: z.string(),
  author: z.string(),
  createdAt: z.string(),
})
const json = z.record(z.string(), z.unknown())
const graphNode = z.object({
  id: z.string(),
  parent: z.string().optional(),
  kind: z.enum(['agent', 'tool', 'step', 'start', 'end']),
  description: z.string().optional(),
  instruction: z.string().optional(),
  model: z.string().optional(),
})
const project = z.object({ id: z.string(), name: z.string(), description: z.string(), updated_at: z.string() })

const found = z.object({
  session: z.string(),
  seq: z.int(),
  at: z.number(),
  run: z.string(),
  kind: z.enum(['message', 'tool', 'state', 'error', 'agent', 'plan']),
  author: z.string().describe('The agent whose text it is, or `user`'),
  snippet: z.object({
    text: z.string(),
    marks: z.array(z.array(z.int())).describe('Start and end of each match in the text, in UTF-16 units'),
  }),
})

const shapes = {
  Session: session,
  ChangeRefusal: z.object({ refusal: z.string() }),
  ChangePlan: z.object({
    agent: z.string(),
    run: z.string(),
    seq: z.int().describe('The last row that is reused'),
    reused: callCounts.describe('Calls of the changed run whose results are reused'),
    again: callCounts.describe('Calls that the changed run had made from there on'),
  }),
  FoundPage: z.object({
    found: z.array(found),
    sessions: z.array(session).describe('The sessions of what was found'),
    next: z.string().optional().describe('The cursor of the next page; absent on the last one'),
    indexing: z
      .object({ done: z.int(), of: z.int() })
      .optional()
      .describe('Rows that are indexed, and rows there are; absent when all of them can be found'),
  }),
  PlanSession: session.extend({
    status: z.string().describe('The status of the plan'),
    run: session.shape.status.describe('The status of the last run'),
    createdAt: z.string(),
    updatedAt: z.string(),
    tasks: z.array(task),
    messages: z.array(message),
    artifacts: z.array(artifact),
    summary: z.unknown(),
  }),
  Task: task,
  Artifact: artifact,
  ArtifactContent: artifact.extend({
    content: z.string().nullable(),
    inlineData: z.looseObject({ mimeType: z.string().optional(), data: z.string().optional() }).optional(),
  }),
  DataItem: z.object({
    id: z.string(),
    sessionId: z.string(),
    itemType: z.string(),
    data: z.unknown(),
    updatedAt: z.string(),
    taskId: z.string().optional(),
  }),
  Agent: z.object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string(),
    engine: z
      .string()
      .describe(
        'Which engine runs it; `broken` when it could not be loaded, `loading` while it is, `python` for one to run elsewhere',
      ),
    engineLabel: z.string().optional(),
    capabilities: z
      .object({
        parallelToolCalls: z.boolean().optional(),
        clientTools: z.boolean().optional(),
        reasoning: z.boolean().optional(),
        openQuestions: z.boolean().optional(),
        runsOn: z.boolean().optional(),
        changedPrompts: z.boolean().optional(),
      })
      .optional(),
    graph: z.object({
      nodes: z.array(graphNode),
      edges: z.array(z.object({ from: z.string(), to: z.string(), label: z.string().optional() })),
    }),
    examples: z.array(z.string()),
    resumable: z.boolean(),
    checkpoints: z
      .enum(['log', 'own'])
      .optional()
      .describe('Where the agent’s own checkpoints are kept: in the log, or in a store that its author chose'),
    checkpointer: z.string().optional().describe('The class of that store, where its author chose one'),
    redoesNodes: z.boolean().optional().describe('After a crash, a resumed run runs its open nodes again'),
    model: z.object({ name: z.string(), offline: z.boolean() }).optional(),
    tools: z.array(z.string()).optional(),
    isolated: z.boolean().optional().describe('Its code runs in a process of its own'),
    loaded: z
      .boolean()
      .optional()
      .describe('Whether that process has its code loaded now; the next run starts one that has ended'),
    toolDescriptions: z.record(z.string(), z.string()).optional(),
    error: z.string().optional(),
    editError: z.string().optional().describe('Why its newest edit does not run; the version before it does'),
  }),
  AdkEvent: z.looseObject({ id: z.string(), author: z.string(), invocationId: z.string(), timestamp: z.number() }),
  AdkSession: z.object({
    id: z.string(),
    appName: z.string(),
    userId: z.string(),
    state: json,
    events: z.array(json),
    lastUpdateTime: z.number().describe('Seconds'),
  }),
  AdkPart: z.looseObject({ text: z.string().optional(), inlineData: z.looseObject({}).optional() }),
  Span: z.object({
    name: z.string(),
    span_id: z.string(),
    trace_id: z.string(),
    start_time: z.number().describe('Nanoseconds'),
    end_time: z.number(),
    parent_span_id: z.string().nullable(),
    attributes: json,
  }),
  Project: project,
  ProjectDetail: project.extend({
    version: z.string(),
    created_at: z.string(),
    settings: z.looseObject({ default_model: z.string(), env_vars: json }),
    agents: z.record(
      z.string(),
      z.object({
        type: z.string(),
        model: z.string().optional(),
        instruction: z.string(),
        description: z.string(),
        tools: z.array(z.string()),
        sub_agents: z.array(z.string()),
        position: z.object({ x: z.number(), y: z.number() }),
      }),
    ),
    tools: z.record(z.string(), z.object({ type: z.string(), config: json, description: z.string() })),
    tool_configs: json,
    actionNodes: z.record(z.string(), z.looseObject({ id: z.string(), type: z.string() })),
    workflow: z.object({
      type: z.string(),
      edges: z.array(z.object({ from: z.string(), to: z.string(), condition: z.string().optional() })),
      conditions: z.array(json),
    }),
  }),
} as const satisfies Record<string, z.ZodType>

type ShapeName = keyof typeof shapes
type Schema = Readonly<Record<string, unknown>>

/** Adds each shape to the document once, so that routes can refer to it. */
export function shareShapes(app: FastifyInstance): void {
  for (const [$id, shape] of Object.entries(shapes)) {
    app.addSchema({ $id, ...jsonSchema(shape, 'output') })
  }
}

export const shapeOf = (name: ShapeName): Schema => ({ $ref: `${name}#` })
export const listShape = (name: ShapeName): Schema => ({ type: 'array', items: shapeOf(name) })

/** An object with these properties, all required. */
export const objectShape = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
