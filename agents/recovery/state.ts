import type { Context, LlmResponse } from '@google/adk'
import type { assessBurn } from './assess-burn.ts'
import type { assessSalvage } from './assess-salvage.ts'
import type { assessTrails } from './assess-trails.ts'
import { fireIn } from './data/fires.ts'

/** What each specialist found, in the session's state under a key of its own: four of them write at the same time. */
export type FindingsKey = 'burn_findings' | 'trail_findings' | 'timber_findings' | 'nepa_findings'

/** Passes on what a tool computed, and keeps it in the state without its evidence, which the answer carries. */
export function keepFindings<T extends object>(key: FindingsKey, result: T, context: Context | undefined): T {
  if ('error' in result) return result
  const { proof_layer: _evidence, ...findings } = result as T & { proof_layer?: unknown }
  context?.state.set(key, findings)
  return result
}

/** The coordinator's own part of the state: the incident when it asks its specialists, the priorities when it answers. */
export function keepBriefing({ context, response }: { context: Context; response: LlmResponse }): undefined {
  if (response.partial === true) return undefined
  const calls = (response.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
  if (calls.length === 0) {
    const priorities = prioritiesOf(context)
    if (priorities.length > 0) context.state.set('priorities', priorities)
    return undefined
  }
  const named = fireIn(String(calls[0]?.args?.request ?? ''))
  if ('fire' in named) context.state.set('incident', { ...named.fire, data: 'illustrative' })
  return undefined
}

type Found<T extends (...args: never[]) => object> = Exclude<ReturnType<T>, { error: string }> | undefined

/** What to do first, from the findings: people's safety, then the soil, then the timber that loses value. */
function prioritiesOf({ state }: Context): readonly { action: string; because: string; by: string }[] {
  const trails = state.get('trail_findings') as Found<typeof assessTrails>
  const burn = state.get('burn_findings') as Found<typeof assessBurn>
  const timber = state.get('timber_findings') as Found<typeof assessSalvage>
  return [
    ...(trails?.closures ?? []).map(({ trail, because }) => ({
      action: `Keep ${trail} closed`,
      because: because.join('; '),
      by: 'trail_assessor',
    })),
    ...(burn?.erosion_concern ?? []).map((sector) => ({
      action: `Stabilise sector ${sector}`,
      because: 'high severity on steep ground',
      by: 'burn_analyst',
    })),
    ...(timber?.priority ?? []).slice(0, 3).map(({ plot, value_usd }) => ({
      action: `Offer plot ${plot}`,
      because: `worth $${value_usd.toLocaleString('en-US')} before another year of decay`,
      by: 'cruising_assistant',
    })),
  ]
}
