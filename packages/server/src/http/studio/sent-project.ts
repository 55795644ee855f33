import { z } from 'zod'

/** A project as the page sends it back. What the page keeps for itself (places, settings, prompts) may be anything. */
export const sentProject = z.looseObject({
  name: z.string(),
  description: z.string(),
  agents: z.record(
    z.string(),
    z.looseObject({
      type: z.string(),
      instruction: z.string().optional(),
      model: z.string().optional(),
      tools: z.array(z.string()).optional(),
    }),
  ),
  workflow: z.looseObject({ edges: z.array(z.looseObject({ from: z.string(), to: z.string() })) }),
})
interface SentProject {
  readonly name: string
  readonly description: string
  readonly agents: Readonly<Record<string, SentAgent>>
  readonly workflow: { readonly edges: readonly { readonly from: string; readonly to: string }[] }
}
interface SentAgent {
  readonly type: string
  readonly instruction?: string | undefined
  readonly model?: string | undefined
  readonly tools?: readonly string[] | undefined
}

/** Whether two projects say the same about their agents: the page sends one whenever a node moves or a person types. */
export function isSameProject(one: SentProject, other: SentProject): boolean {
  return facts(one) === facts(other)
}

function facts({ name, description, agents, workflow }: SentProject): string {
  const about = Object.entries(agents).map(([id, { type, instruction = '', model = '', tools = [] }]) =>
    JSON.stringify([id, type, instruction, model, tools.toSorted()]),
  )
  const edges = workflow.edges.map(({ from, to }) => JSON.stringify([from, to]))
  return JSON.stringify([name, description, about.toSorted(), edges.toSorted()])
}
