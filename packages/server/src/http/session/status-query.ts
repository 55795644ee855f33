import { defined, type SessionQuery } from '@millrace/core'
import { z } from 'zod'

/** The fields of a query that choose sessions by their status. */
export const statusFields = {
  status: z.enum(['idle', 'running', 'done', 'failed', 'cancelled', 'interrupted']).optional(),
  cutOff: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: only sessions whose last run was cut off, which are `failed`; `false`: none of them'),
}

export function statusQuery({
  status,
  cutOff,
}: z.infer<z.ZodObject<typeof statusFields>>): Pick<SessionQuery, 'status' | 'cutOff'> {
  return defined({ status, cutOff: cutOff === undefined ? undefined : cutOff === 'true' })
}
