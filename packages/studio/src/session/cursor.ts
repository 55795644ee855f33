import { navigate } from '../app/route.ts'

/** Moves the cursor that every panel shows; `undefined` is the live end. */
export function goTo(at: number | undefined): void {
  navigate({ at })
}
