// The contract suites that every implementation runs: `@millrace/core/testing`.

export * from './event-log/index.ts'
