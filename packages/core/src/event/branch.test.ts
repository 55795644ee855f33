import { expect, test } from 'vitest'
import { inferredPath, isBelow, parentBranch } from './branch.ts'
import { nodePath } from './node-path.ts'

test('a branch is below its prefixes, name by name, and every branch is below the main conversation', () => {
  expect(isBelow('fanout.r1', 'fanout')).toBe(true)
  expect(isBelow('fanout2', 'fanout')).toBe(false)
  expect(isBelow('fanout', 'fanout')).toBe(false)
  expect(isBelow('fanout', '')).toBe(true)
  expect(isBelow('', '')).toBe(false)
})

test('the parent of a branch leaves its last name out', () => {
  expect(parentBranch('fanout.r1')).toBe('fanout')
  expect(parentBranch('fanout')).toBe('')
  expect(parentBranch('')).toBe('')
})

test('an inferred path has the names of the branch and its author once', () => {
  expect(inferredPath('consult@adk-1.burn_analyst@1', 'burn_analyst')).toBe('consult/burn_analyst')
  expect(inferredPath('fanout.r1', 'writer')).toBe('fanout/r1/writer')
  expect(inferredPath('', 'writer')).toBe('writer')
})

test('the path of a node leaves the number of its execution out', () => {
  expect(nodePath('coordinator/burn_analyst@2')).toBe('coordinator/burn_analyst')
  expect(nodePath('plain')).toBe('plain')
  expect(nodePath('@1')).toBe('@1')
})
