import type { Stretch } from './scale.ts'

export interface Tick {
  /** The place on the scale, and the milliseconds since the first event. */
  readonly place: number
  readonly real: number
}

/** Round values for the axis: about one tick for every `wanted` pixels, none inside a break. */
export function ticks(parts: readonly Stretch[], total: number, width: number, wanted = 110): readonly Tick[] {
  const rough = (total / Math.max(1, width)) * wanted
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10
  const made: Tick[] = []
  for (const { place, real, length } of parts) {
    for (let at = (Math.floor(real / step) + 1) * step; at < real + length && made.length < 400; at += step) {
      made.push({ place: place + at - real, real: at })
    }
  }
  return made
}
