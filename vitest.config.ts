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

const apart = ['**/dist/**', '**/node_modules/**']

/** After so long a test hangs. No test is judged by the clock, so that a busy machine changes no result. */
const hangs = { testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: { timeout: 120_000 } } }

/**
 * `unit` and `built` load each module once for all their files, which halves their time. `slow` (processes, browsers,
 * load) gives each file a process of its own and runs two at a time, because they wait for most of theirs.
 */
export default defineConfig({
  test: {
    passWithNoTests: false,
    sequence: { sequencer: LongestFirst },
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
          setupFiles: ['test/kit/property-seed.ts'],
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
          setupFiles: ['test/kit/property-seed.ts'],
          isolate: false,
          ...hangs,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'slow',
          include: [
            '**/*.slow.test.ts',
            'test/browser/**/*.test.ts',
            'test/consumer/*.test.ts',
            'test/packed/*.test.ts',
          ],
          exclude: apart,
          globalSetup: ['test/kit/built-packages.ts', 'test/kit/test-database.ts'],
          maxWorkers: 2,
          // One project has other workers than the rest, so that vitest must not run them as one group.
          sequence: { groupOrder: 1 },
          ...hangs,
        },
      },
    ],
  },
})
