import { defined, isJsonObject, type Json, type JsonObject } from '@millrace/core'

/** The decisions of LangChain's human-in-the-loop middleware. */
const decisionTypes = ['approve', 'edit', 'reject', 'respond'] as const
export type DecisionType = (typeof decisionTypes)[number]

/** One tool call that the agent wants to make. */
export interface ReviewedAction {
  readonly name: string
  readonly args: JsonObject
  readonly description?: string
  readonly allowed: readonly DecisionType[]
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject
}

export interface Review {
  readonly actions: readonly ReviewedAction[]
  /** Whether the question has the names of LangChain in Python (`action_requests`); the answer then has them too. */
  readonly snake: boolean
}

export interface Decision {
  readonly type: DecisionType
  readonly args?: JsonObject
  readonly message?: string
}

/** The review that an interrupt asks for; undefined when it asks for something else. */
export function reviewOf(payload: Json | undefined): Review | undefined {
  if (!isJsonObject(payload)) return undefined
  const snake = Array.isArray(payload.action_requests)
  const requests = snake ? payload.action_requests : payload.actionRequests
  if (!Array.isArray(requests) || requests.length === 0) return undefined
  const given = snake ? payload.review_configs : payload.reviewConfigs
  const configs = (Array.isArray(given) ? given : []).filter(isJsonObject)
  const actions = requests.filter(isJsonObject).flatMap((request) => {
    const { name, args, description } = request
    if (typeof name !== 'string') return []
    const config = configs.find((each) => (each.action_name ?? each.actionName) === name) ?? {}
    const listed = config.allowed_decisions ?? config.allowedDecisions
    const allowed = decisionTypes.filter((type) => Array.isArray(listed) && listed.includes(type))
    const schema = config.args_schema ?? config.argsSchema
    return [
      defined({
        name,
        args: isJsonObject(args) ? args : {},
        description: typeof description === 'string' ? description : undefined,
        allowed: allowed.length > 0 ? allowed : (['approve', 'reject'] as const),
        schema: isJsonObject(schema) ? schema : undefined,
      }),
    ]
  })
  // The middleware wants one decision for each request, so a request that cannot be read makes the whole unusable.
  return actions.length === requests.length ? { actions, snake } : undefined
}

/** The answer as LangChain documents it: one decision for each action, in the order of the actions. */
export function answerOf({ actions, snake }: Review, decisions: readonly Decision[]): JsonObject {
  return {
    decisions: actions.map(({ name, args: original }, i): JsonObject => {
      const { type = 'reject', args = original, message = '' } = decisions[i] ?? {}
      if (type === 'edit') return { type, [snake ? 'edited_action' : 'editedAction']: { name, args } }
      return message === '' || type === 'approve' ? { type } : { type, message }
    }),
  }
}

const past = { approve: 'approved', edit: 'approved, edited', reject: 'rejected', respond: 'answered' } as const

/** What a person decided, in words; undefined when the answer has no decisions. */
export function decidedWords(answer: Json | undefined): string | undefined {
  if (!isJsonObject(answer) || !Array.isArray(answer.decisions) || answer.decisions.length === 0) return undefined
  const words = answer.decisions.map((each) => {
    const type = isJsonObject(each) ? decisionTypes.find((known) => known === each.type) : undefined
    return type === undefined ? 'answered' : past[type]
  })
  return [...new Set(words)].join(' / ')
}
