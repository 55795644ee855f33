import type { Stretch } from './scale.ts'

export interface Tick {
  /** The place on the scale, and the milliseconds since the first event. */
  readonly place: number
  readonly real: number
}

/**
 * Round values for the axis: about one tick for every `wanted` pixels, none inside a break. With as many breaks as ticks,
 * round values are at odd distances, or there are none: then the ticks are at even places.
 */
export function ticks(parts: readonly Stretch[], total: number, width: number, wanted = 110): readonly Tick[] {
  const rough = (total / Math.max(1, width)) * wanted
  const round = roundTicks(parts, rough)
  const [labels, isWhole] = [width / wanted, parts.length < 2]
  return isWhole || (parts.length < labels && round.length >= labels / 4) ? round : evenTicks(parts, total, rough)
}

function roundTicks(parts: readonly Stretch[], rough: number): readonly Tick[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10
  const made: Tick[] = []
  for (const { place, real, length } of parts) {
    for (let at = (Math.floor(real / step) + 1) * step; at < real + length && made.length < 400; at += step) {
      // Two stretches may end and begin with a round value each.
      const next = place + at - real
      const last = made.at(-1)
      if (last === undefined || next - last.place >= rough * 0.6) made.push({ place: next, real: at })
    }
  }
  return made
}

/** A place inside a break has no time of its own: its tick moves to where the break ends. */
function evenTicks(parts: readonly Stretch[], total: number, step: number): readonly Tick[] {
  const made: Tick[] = []
  let index = 0
  for (let at = step; at < total && made.length < 400; at += step) {
    while (index < parts.length - 1 && at > endOf(parts[index])) index += 1
    const part = parts[index]
    if (part === undefined) break
    const place = Math.min(Math.max(at, part.place), endOf(part))
    const last = made.at(-1)
    if (last === undefined || place - last.place >= step * 0.6)
      made.push({ place, real: part.real + place - part.place })
  }
  return made
}

function endOf(part: Stretch | undefined): number {
  return part === undefined ? 0 : part.place + part.length
}
