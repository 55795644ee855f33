import { defineConfig } from 'vitest/config'
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

/** `unit` and `built` run in parallel; `slow` (processes, browsers, load) runs one file at a time. */
export default defineConfig({
  test: {
    passWithNoTests: false,
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...onPackages,
        test: {
          name: 'built',
          include: [
            'packages/{server,react,cli}/src/**/*.test.{ts,tsx}',
            'test/{http,attack}/*.test.ts',
            'agents/**/*.test.ts',
          ],
          exclude: [...apart, '**/*.slow.test.ts'],
          globalSetup: ['test/kit/built-packages.ts'],
          setupFiles: ['test/kit/property-seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
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
          globalSetup: ['test/kit/built-packages.ts'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
