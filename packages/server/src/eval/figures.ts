/** A number as a text shows it, such as `1,240.5` or `87 %`. */
interface Figure {
  readonly shown: string
  readonly value: number
  readonly decimals: number
  readonly percent: boolean
}

/** Numbers below this count as words ("two of three"), unless they have decimals or a percent sign. */
const smallest = 10

/** The figures of a text that no source has. A figure may be rounded, or a share that is shown in percent. */
export function unsupportedFigures(text: string, sources: readonly string[]): readonly string[] {
  const known = sources.flatMap(figuresIn).map(({ value }) => value)
  const wanted = figuresIn(withoutListNumbers(text)).filter(
    ({ value, decimals, percent }) => value >= smallest || decimals > 0 || percent,
  )
  const missing = wanted.filter((figure) => !known.some((value) => isShownAs(value, figure)))
  return [...new Set(missing.map(({ shown }) => shown))]
}

function isShownAs(value: number, { value: shown, decimals, percent }: Figure): boolean {
  const near = (one: number): boolean => Math.abs(one - shown) <= 0.5 * 10 ** -decimals + 1e-9
  return near(value) || (percent && near(value * 100))
}

function figuresIn(text: string): readonly Figure[] {
  return [...text.matchAll(/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g)].map((match) => {
    const [shown] = match
    return {
      shown,
      value: Number(shown.replaceAll(',', '')),
      decimals: shown.split('.')[1]?.length ?? 0,
      percent: /^\s?%/.test(text.slice(match.index + shown.length)),
    }
  })
}

const withoutListNumbers = (text: string): string => text.replace(/^[\s#>*]*\d+[.)]\s/gm, '')
