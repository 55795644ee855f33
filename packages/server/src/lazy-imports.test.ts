import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { staticImports } from '../../../test/kit/static-imports.ts'

/** Loading one of these takes between 30 ms and 2 s, but a start must answer on its port within one second. */
const heavy =
  /^(@google\/adk|@langchain\/|@opentelemetry\/|@ag-ui\/|@anthropic-ai\/|@millrace\/core\/report|jiti|openai|pg$)/

test('importing the server loads no agent library and no other slow module that a start does not need', () => {
  const imports = staticImports(fileURLToPath(new URL('./index.ts', import.meta.url)))
  expect(imports.filter(({ target }) => heavy.test(target))).toEqual([])
  expect(imports.length).toBeGreaterThan(100)
})
