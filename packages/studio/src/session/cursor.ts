import { navigate, useRoute } from '../app/route.ts'

/** The moment every panel shows, and the way to move it. `undefined` is the live end. */
export function useCursor(): { readonly at: number | undefined; readonly go: (at: number | undefined) => void } {
  return { at: useRoute().at, go: goTo }
}

export function goTo(at: number | undefined): void {
  navigate({ at })
}
