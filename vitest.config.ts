import { defineConfig } from 'vitest/config'

/** Our own packages run on sources. Only that condition: with `import` in it, CommonJS dependencies would load ESM. */
const source = {
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'], externalConditions: ['source'] } },
}

/** `unit` runs in parallel on sources; `slow` (processes, browsers, load) runs one file at a time. */
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
        ...source,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.{ts,tsx}',
            'test/*.test.ts',
            'test/{contract,http}/*.test.ts',
            'agents/**/*.test.ts',
          ],
          exclude: ['**/dist/**', '**/node_modules/**', '**/*.slow.test.ts'],
          setupFiles: ['test/kit/property-seed.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...source,
        test: {
          name: 'slow',
          include: ['**/*.slow.test.ts', 'test/browser/**/*.test.ts'],
          exclude: ['**/dist/**', '**/node_modules/**'],
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
