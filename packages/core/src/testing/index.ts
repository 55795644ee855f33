// The contract suites that every log, dialect and view runs, Millrace's own and yours: `@millrace/core/testing`.

export * from './dialect/index.ts'
export * from './event-log/index.ts'
export { recorded } from './recorded.ts'
export type { Matchers, Runner } from './runner.ts'
export * from './view/index.ts'
