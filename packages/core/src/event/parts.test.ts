import { expect, test } from 'vitest'
import { isToolError } from './parts.ts'

test.each([undefined, null, false, '', 0])('a result whose error is %j is none of a tool that failed', (error) =>
  expect(isToolError(error)).toBe(false),
)

test.each(['gone', true, 7, {}, []])('a result whose error is %j is that of a tool that failed', (error) =>
  expect(isToolError(error)).toBe(true),
)
