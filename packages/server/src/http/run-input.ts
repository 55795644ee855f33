import { z } from 'zod'

/** The door for a canonical RunInput; the other surfaces read their own shapes and make one of these. */
const part = z.looseObject({ text: z.string().optional() })
const message = z.object({
  id: z.string().min(1).max(200),
  role: z.enum(['user', 'system', 'developer', 'tool', 'assistant']),
  content: z.object({ role: z.string().optional(), parts: z.array(part).max(100).optional() }),
})
const resume = z.object({
  interrupt: z.string().min(1).max(500),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.json().optional(),
})

export const runInput = z.object({
  messages: z.array(message).max(1000),
  state: z.record(z.string(), z.json()).optional(),
  tools: z
    .array(
      z.object({
        name: z.string().min(1).max(200),
        description: z.string().max(10_000),
        parameters: z.record(z.string(), z.json()).optional(),
      }),
    )
    .max(200)
    .optional(),
  context: z
    .array(z.object({ description: z.string(), value: z.string() }))
    .max(100)
    .optional(),
  resume: z.array(resume).max(100).optional(),
  props: z.record(z.string(), z.json()).optional(),
})
