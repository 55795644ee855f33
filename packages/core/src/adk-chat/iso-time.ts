/** Milliseconds as ISO 8601 in UTC. A time outside the range of a Date becomes the epoch: a wire can send any number. */
export function isoTime(milliseconds: number): string {
  const isDate = Math.abs(milliseconds) <= 8.64e15
  // biome-ignore lint/style/noRestrictedGlobals: a Date built from a number reads no clock
  return new Date(isDate ? milliseconds : 0).toISOString()
}
