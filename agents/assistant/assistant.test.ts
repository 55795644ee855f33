import { describe, expect, test } from 'vitest'
import { said, testSession } from '../../test/kit/agent-session.ts'
import { weatherOf } from './weather.ts'

describe('assistant, offline', () => {
  test('greets, and begins with an empty list', async () => {
    const session = testSession('assistant')
    expect(said(await session.run('Hello'))).toEqual(['Hello! How can I help you?'])
    expect(session.state()).toEqual({ proverbs: [] })
  })

  test('adds, lists and removes proverbs through state', async () => {
    const session = testSession('assistant')
    await session.run('Add a proverb: Still waters run deep')
    await session.run('Add a proverb: Many hands make light work')
    expect(session.state().proverbs).toEqual(['Still waters run deep', 'Many hands make light work'])
    expect(said(await session.run('List my proverbs')).join()).toContain('2. Many hands make light work')
    await session.run('Remove the last')
    expect(session.state().proverbs).toEqual(['Still waters run deep'])
    expect(said(await session.run('Remove proverb 9')).join()).toContain('There is no proverb 9')
  })

  test.each([
    ['resolved', { confirmed: true }, [], 'Done: 1 proverb deleted.'],
    ['resolved', { confirmed: false }, ['One'], 'nothing was deleted'],
    ['cancelled', undefined, ['One'], 'nothing was deleted'],
  ] as const)('asks before it deletes all (%s %j)', async (status, payload, left, answer) => {
    const session = testSession('assistant')
    await session.run('Add a proverb: One')
    const asked = await session.run('Delete all proverbs')
    const question = asked.find((event) => event.kind === 'interrupt')
    expect(question).toMatchObject({ reason: 'confirmation', message: 'Delete the only proverb?' })
    expect(asked.at(-1)).toMatchObject({ kind: 'run.finished', outcome: 'interrupted' })
    expect(session.state().proverbs).toEqual(['One'])
    const interrupt = question?.kind === 'interrupt' ? question.id : ''
    const events = await session.run({ resume: [{ interrupt, status, ...(payload === undefined ? {} : { payload }) }] })
    expect(said(events).join()).toContain(answer)
    expect(session.state().proverbs).toEqual(left)
  })

  test('asks even when the list is empty', async () => {
    const asked = await testSession('assistant').run('Delete all proverbs')
    expect(asked.some((event) => event.kind === 'interrupt')).toBe(true)
  })

  test('answers about the weather with the tool’s own figures', async () => {
    const events = await testSession('assistant').run('What is the weather in Lisbon?')
    const weather = weatherOf('lisbon')
    expect(said(events).join()).toContain(
      'highCelsius' in weather ? `${weather.lowCelsius} to ${weather.highCelsius} °C` : '',
    )
    expect(weatherOf('Sao Paulo')).toMatchObject({ city: 'São Paulo' })
    expect(said(await testSession('assistant').run('What is the weather in Atlantis?')).join()).toContain(
      'No data for Atlantis',
    )
  })

  test('thinks aloud before a sum', async () => {
    const events = await testSession('assistant').run('What is 17 * 23?')
    expect(said(events)).toEqual(['17 * 23 = 391'])
    expect(JSON.stringify(events)).toContain('"thought":true')
  })

  test('counts in many partials', async () => {
    const events = await testSession('assistant').run('Count slowly to 200')
    expect(events.filter((event) => event.kind === 'agent' && event.event.partial).length).toBeGreaterThanOrEqual(200)
    expect(said(events)[0]).toMatch(/^1 2 3 .* 199 200$/)
  })

  test('a simulated failure fails the run with its reason', async () => {
    const events = await testSession('assistant').run('Simulate a model failure')
    expect(events.at(-1)).toMatchObject({ kind: 'run.finished', outcome: 'failed', error: { code: 'model-error' } })
  })
})
