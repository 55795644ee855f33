/** One side of a comparison: a session, or one run of it. */
export interface ComparedSide {
  readonly session: string
  readonly run?: string
}

/** The sides as the address has them: `a,b` are two sessions, `a:r1,a:r2` two runs of one. */
export function printSides(sides: readonly ComparedSide[]): string {
  return sides
    .map(({ session, run }) => [session, ...(run === undefined ? [] : [run])].map(encodeURIComponent).join(':'))
    .join(',')
}

/** Reads them. A single session is compared with the one that is open. */
export function readSides(text: string, open: string): readonly ComparedSide[] {
  const sides = text
    .split(',')
    .filter((each) => each !== '')
    .map((each): ComparedSide => {
      const [session = '', run] = each.split(':').map(decoded)
      return run === undefined ? { session } : { session, run }
    })
  return sides.length === 1 ? [{ session: open }, ...sides] : sides
}

/** A link that was cut must not take the page down. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const sideKey = (side: ComparedSide): string => printSides([side])
