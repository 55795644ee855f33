import { expect, test } from 'vitest'
import { unsupportedFigures } from './figures.ts'

test.each<[string, string, readonly string[], readonly string[]]>([
  ['a figure of a tool', 'There are 1,240 acres.', ['{"acres":1240}'], []],
  ['a figure that no tool has', 'There are 1,241 acres.', ['{"acres":1240}'], ['1,241']],
  ['a rounded figure', 'It costs 12.3 euros.', ['{"cost":12.345}'], []],
  ['a figure that is rounded wrongly', 'It costs 12.4 euros.', ['{"cost":12.345}'], ['12.4']],
  ['a share in percent', 'About 42 % burned.', ['{"share":0.4202}'], []],
  ['a share that is not in percent', 'About 42 burned.', ['{"share":0.4202}'], ['42']],
  ['numbers of a list, and small counts', '12. Two of 3 are closed.', [], []],
  ['a percentage below ten', 'Only 3% are closed.', [], ['3']],
  ['each figure once', '77 and 77', [], ['77']],
])('%s', (_name, text, sources, missing) => expect(unsupportedFigures(text, sources)).toEqual(missing))
