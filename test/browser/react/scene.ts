/** What a scene reports to its test: counts of renders by component, and values by name. */
export interface Report {
  readonly renders: Record<string, number>
  readonly values: Record<string, unknown>
  readonly acts: Record<string, (...args: never[]) => unknown>
}

declare global {
  interface Window {
    report: Report
  }
}

export const report: Report = { renders: {}, values: {}, acts: {} }

/** Called in a component's body: one more render of it. */
export function rendered(name: string): void {
  report.renders[name] = (report.renders[name] ?? 0) + 1
}
