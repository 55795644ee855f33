/** Round values for the axis: about one tick for every `wanted` pixels. */
export function ticks(total: number, width: number, wanted = 110): readonly number[] {
  const rough = (total / Math.max(1, width)) * wanted
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10
  const made: number[] = []
  for (let at = step; at < total && made.length < 400; at += step) made.push(at)
  return made
}
