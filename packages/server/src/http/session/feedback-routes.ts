import { defined, type FeedbackGiven, MillraceError } from '@millrace/core'
import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { HttpDeps } from '../deps.ts'
import { sessionForRequest } from '../doors/session-access.ts'
import { validateBody } from '../doors/validate-body.ts'
import { documented } from '../surface.ts'

const id = z.string().min(1).max(500)
const about = z
  .object({
    run: id,
    message: id.optional().describe('The id of a message of the run'),
    call: id.optional().describe('The id of a call of a model or a tool in the run'),
    node: id.optional().describe('An execution of a node, such as `writer@1`'),
  })
  .refine(({ message, call, node }) => [message, call, node].filter((each) => each !== undefined).length <= 1, {
    message: 'must name a message, a call or a node, not several of them',
  })
  .describe('What it is about; the whole run where it names nothing else')
const feedbackBody = z.object({
  about,
  rating: z.enum(['up', 'down']).optional(),
  note: z.string().max(4000).optional(),
})
const given = feedbackBody.extend({ by: z.string().optional(), seq: z.number().int(), at: z.number() })

/** What persons think of answers and steps. Feedback that is given again replaces what the same person gave before. */
export const feedbackRoutes =
  (deps: HttpDeps): FastifyPluginAsync =>
  async (app) => {
    app.put<{ Params: { id: string } }>(
      '/sessions/:id/feedback',
      documented({
        effect: 'write',
        summary: 'Rate or comment an answer or a step; without a rating and a note, take it back',
        body: feedbackBody,
        answer: 'The feedback, as the view `feedback` has it',
        result: given,
      }),
      async (request) => {
        const { about, rating, note } = validateBody(feedbackBody, request.body)
        const session = await sessionForRequest(deps, request, request.params.id)
        const { log } = deps.own(request)
        if ((await log.startOf(session.id, about.run)) === undefined)
          throw new MillraceError('not-found', `unknown run ${about.run}`)
        const event: FeedbackGiven = {
          kind: 'feedback',
          about: { ...defined(about), run: about.run },
          ...defined({ rating, note: note?.trim() === '' ? undefined : note?.trim(), by: request.principal }),
        }
        const [row] = await log.append(session.id, [{ run: '', event }])
        const { kind: _, ...feedback } = event
        return { ...feedback, ...defined({ seq: row?.seq, at: row?.at }) }
      },
    )
  }
