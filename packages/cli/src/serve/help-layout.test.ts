import { expect, test } from 'vitest'
import { laidOut } from './help-layout.ts'
import { serveHelp } from './settings.ts'

const flags = [...serveHelp.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, flag]) => flag)

test('what the flags do begins in one column, and no line is wider than the terminal', () => {
  const lines = laidOut(serveHelp, 100).split('\n')
  const ofFlags = lines.filter((line) => line.startsWith('  --'))
  expect(ofFlags.map((line) => line.trim().split(' ')[0])).toEqual(flags)
  for (const line of ofFlags) expect(line.slice(28), line).toMatch(/^ {2}\S/)
  expect(lines.filter((line) => line.length > 100)).toEqual([])
})

test('in a narrow terminal it is below the flag', () => {
  const lines = laidOut(serveHelp, 40).split('\n')
  const at = lines.indexOf('  --jwt-operator CLAIM=VALUE')
  expect(lines.slice(at, at + 3)).toEqual([
    '  --jwt-operator CLAIM=VALUE',
    '      users with this value in this',
    '      claim are operators',
  ])
})

test('nothing of the help is lost', () => {
  const words = (text: string): readonly string[] => text.split(/\s+/)
  const shown = laidOut(serveHelp, 60)
  expect(words(shown).slice(0, words(serveHelp).length)).toEqual(words(serveHelp))
})
