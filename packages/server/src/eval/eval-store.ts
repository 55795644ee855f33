import type { EvalSet, EvalSetResult } from './eval-set.ts'

/** Whose sets they are. Without tokens there is one user, '', as on ADK's own servers. */
export interface EvalOwner {
  readonly user: string
  readonly app: string
}

/** Keeps evaluation sets and results. */
export interface EvalStore {
  /** The ids of the sets, in alphabetical order. */
  sets(owner: EvalOwner): Promise<readonly string[]>
  set(owner: EvalOwner, id: string): Promise<EvalSet | undefined>
  /** Writes what `edit` makes of the set as it is; undefined removes it. One edit at a time, so that none is lost. */
  change(owner: EvalOwner, id: string, edit: (before: EvalSet | undefined) => EvalSet | undefined): Promise<void>
  /** The ids of the results, in alphabetical order. */
  results(owner: EvalOwner): Promise<readonly string[]>
  result(owner: EvalOwner, id: string): Promise<EvalSetResult | undefined>
  saveResult(owner: EvalOwner, result: EvalSetResult): Promise<void>
  /** Deletes the sets and results of a user with every app. */
  forgetUser(user: string): Promise<void>
}

/** Sets and results that last as long as the process. */
export function memoryEvalStore(): EvalStore {
  const sets = new Map<string, EvalSet>()
  const results = new Map<string, EvalSetResult>()
  const keyOf = ({ user, app }: EvalOwner, id: string): string => JSON.stringify([user, app, id])
  const idsOf = (kept: ReadonlyMap<string, unknown>, { user, app }: EvalOwner): readonly string[] =>
    [...kept.keys()]
      .map((key) => JSON.parse(key) as string[])
      .flatMap(([of, by, id = '']) => (of === user && by === app ? [id] : []))
      .sort()
  return {
    sets: async (owner) => idsOf(sets, owner),
    set: async (owner, id) => sets.get(keyOf(owner, id)),
    async change(owner, id, edit) {
      const key = keyOf(owner, id)
      const after = edit(sets.get(key))
      if (after === undefined) sets.delete(key)
      else sets.set(key, after)
    },
    results: async (owner) => idsOf(results, owner),
    result: async (owner, id) => results.get(keyOf(owner, id)),
    async saveResult(owner, result) {
      results.set(keyOf(owner, result.evalSetResultId), result)
    },
    async forgetUser(user) {
      for (const kept of [sets, results])
        for (const key of kept.keys()) if ((JSON.parse(key) as string[])[0] === user) kept.delete(key)
    },
  }
}
