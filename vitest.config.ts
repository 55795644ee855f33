import { defineConfig } from 'vitest/config'
import { LongestFirst } from './scripts/longest-first.mjs'
import { packedImports } from './scripts/packed-imports.mjs'
import { strippedSources } from './scripts/strip.mjs'

/** Our own packages run on sources. Only that condition: with `import` in it, CommonJS dependencies would load ESM. */
const onSources = {
  oxc: false as const,
  plugins: [strippedSources()],
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
}

/** Our own packages run as they ship: packed, unpacked, and loaded by Node itself. */
const onPackages = { oxc: false as const, plugins: [packedImports(), strippedSources()] }

/** Both projects of processes take their workers from the same four. Projects with other numbers must be another group. */
const slowLane = { maxWorkers: 4, sequence: { groupOrder: 1 } }

const apart = ['**/dist/**', '**/node_modules/**']

/** After so long a test hangs. No test is judged by the clock, so that a busy machine changes no result. */
const hangs = { testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: { timeout: 120_000 } } }

/**
 * What the official AG-UI client and ADK's server print when a test refuses or breaks something on purpose. Among the
 * results of thousands of tests it looks like a failure of the run.
 */
const noiseOfOthers = /^(?:Agent execution failed|Failed to apply state patch)|\[ADK|ADK API Server/

/**
 * Files that share a process load each module once for all of them, which halves their time. Only the agents of authors
 * (`slow-apart`) and what changes a package of others get a process for each file. Processes and browsers wait for most of
 * their time, so that there are more workers than processors.
 */
export default defineConfig({
  test: {
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
    onConsoleLog: (text) => !noiseOfOthers.test(text),
    coverage: {
      provider: 'v8',
      include: ['packages/core/src/**/*.ts'],
      exclude: ['**/*.test.ts', 'packages/core/src/testing/**'],
      reporter: ['text-summary', 'json-summary'],
      // A gate: `npm test` fails below it. It is measured over the whole unit suite, so a part of it must not be judged.
      ...(process.env.CI === 'true' ? { thresholds: { lines: 95, branches: 95 } } : {}),
    },
    projects: [
      {
        ...onSources,
        test: {
          name: 'unit',
          include: ['packages/{core,studio}/src/**/*.test.{ts,tsx}', 'test/*.test.ts', 'test/contract/*.test.ts'],
          exclude: [...apart, '**/*.slow.test.ts'],
          setupFiles: ['test/kit/cpu-time.ts', 'test/kit/property-seed.ts'],
          isolate: false,
          ...hangs,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'built',
          include: [
            'packages/{server,react,cli}/src/**/*.test.{ts,tsx}',
            'test/{attack,http}/*.test.ts',
            'agents/**/*.test.ts',
          ],
          exclude: [...apart, '**/*.slow.test.ts'],
          globalSetup: ['test/kit/built-packages.ts', 'test/kit/test-database.ts'],
          setupFiles: ['test/kit/cpu-time.ts', 'test/kit/property-seed.ts'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
          ...hangs,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'slow',
          include: ['test/{attack,http,process}/*.slow.test.ts', 'test/{consumer,packed}/*.test.ts'],
          exclude: apart,
          globalSetup: ['test/kit/built-packages.ts', 'test/kit/test-database.ts'],
          setupFiles: ['test/kit/cpu-time.ts'],
          isolate: false,
          ...slowLane,
          ...hangs,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'slow-apart',
          // All that the project above has not, so that none is left out.
          include: ['**/*.slow.test.ts'],
          exclude: [...apart, 'test/{attack,http,process}/*'],
          globalSetup: ['test/kit/built-packages.ts', 'test/kit/test-database.ts'],
          setupFiles: ['test/kit/cpu-time.ts'],
          ...slowLane,
          ...hangs,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          exclude: apart,
          globalSetup: ['test/kit/built-packages.ts', 'test/kit/test-database.ts'],
          setupFiles: ['test/kit/cpu-time.ts'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          ...hangs,
        },
      },
    ],
  },
})
