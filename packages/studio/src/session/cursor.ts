import { navigate } from '../app/route.ts'

/** Moves the cursor that every panel shows; `undefined` is the latest. */
export function goTo(at: number | undefined): void {
  navigate({ at })
}
