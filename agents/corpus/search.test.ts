import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Answer, json, type ModelServer, modelServer } from '../../test/kit/model-server.ts'
import { searchLibrary, webSearch } from './search.ts'

let server: ModelServer | undefined
afterEach(async () => {
  vi.unstubAllEnvs()
  await server?.close()
  server = undefined
})
async function engine(answer: Answer): Promise<ModelServer> {
  server = await modelServer([answer])
  return server
}

describe('the bundled library', () => {
  test('finds by words, prefixes and with a typo', () => {
    expect(searchLibrary('quantm error corection')[0]?.title).toBe('Quantum error correction')
    expect(searchLibrary('xyzzy')).toEqual([])
  })
  test('leaves out what only shares a common word', () => {
    const titles = searchLibrary('competitor analysis of the CRM market', 10).map(({ title }) => title)
    expect(titles).toContain('The CRM market')
    expect(titles).not.toContain('The price of solar power')
    expect(searchLibrary('of the')).toEqual([])
  })
  test('is what is searched when nothing else is configured', async () => {
    expect(await webSearch('qubit', 1)).toMatchObject({
      engine: 'bundled library',
      results: [{ title: 'What a qubit is' }],
    })
  })
})

describe('a search engine by configuration', () => {
  const found = { title: 'A page', url: 'https://example.org/a', content: 'What it says.' }
  const result = { title: 'A page', url: 'https://example.org/a', snippet: 'What it says.' }

  test('SearXNG', async () => {
    const { url, requests } = await engine(json({ results: [found, found, found] }))
    vi.stubEnv('SEARXNG_URL', `${url}/sub`)
    expect(await webSearch('fire & water', 2)).toEqual({ engine: 'searxng', results: [result, result] })
    expect(requests[0]?.path).toBe('/sub/search?q=fire+%26+water&format=json')
  })

  test('Tavily, with its key and limit', async () => {
    const { url, requests } = await engine(json({ results: [found] }))
    vi.stubEnv('TAVILY_API_KEY', 'key')
    vi.stubEnv('TAVILY_URL', `${url}/search`)
    expect(await webSearch('fire', 2)).toEqual({ engine: 'tavily', results: [result] })
    expect(requests[0]).toMatchObject({
      path: '/search',
      headers: { authorization: 'Bearer key' },
      body: { query: 'fire', max_results: 2 },
    })
  })

  test.each<[string, Answer, RegExp]>([
    ['500', json({}, 500), /answered 500$/],
    ['403, which is how SearXNG refuses JSON', json({}, 403), /answered 403; allow the format json/],
  ])('%s is an error, never other data', async (_, answer, reason) => {
    vi.stubEnv('SEARXNG_URL', (await engine(answer)).url)
    await expect(webSearch('fire')).rejects.toThrow(reason)
  })

  test('stopping stops the search', async () => {
    const { url } = await engine(() => undefined)
    vi.stubEnv('SEARXNG_URL', url)
    const stop = new AbortController()
    const searching = webSearch('fire', 2, stop.signal)
    stop.abort()
    await expect(searching).rejects.toThrow(/abort/i)
  })
})
