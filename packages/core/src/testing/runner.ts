/** The three functions of vitest (or jest, or node:test with an expect) that the suites need: core imports no runner. */
export interface Runner {
  describe(name: string, body: () => void): unknown
  test(name: string, body: () => Promise<void> | void): unknown
  expect(actual: unknown): Matchers
}

export interface Matchers {
  toBe(expected: unknown): void
  toEqual(expected: unknown): void
  toMatchObject(expected: object): void
  toBeLessThan(expected: number): void
  toBeGreaterThan(expected: number): void
}
