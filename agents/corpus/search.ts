import MiniSearch from 'minisearch'
import { documents } from './documents.ts'

export interface SearchResult {
  readonly title: string
  readonly url: string
  readonly snippet: string
  readonly date?: string
}

/** Words that occur in every text and so do not distinguish texts. */
const common = new Set(
  'a an and are as at be by for from how in is it its of on or that the this to what which with'.split(' '),
)

/** Results below this share of the best score are left out: they only have a word in common with the query. */
const worthwhile = 0.3

/** A real full-text index over the bundled library: stemmed by prefix, forgiving of a typo, titles weigh more. */
const index = new MiniSearch<{ id: string }>({
  fields: ['title', 'text'],
  storeFields: ['id'],
  processTerm: (term) => {
    const word = term.toLowerCase()
    return common.has(word) ? null : word
  },
  searchOptions: {
    boost: { title: 2 },
    prefix: (term) => term.length > 3,
    fuzzy: (term) => (term.length > 5 ? 0.2 : 0),
  },
})
index.addAll(documents.map(({ id, title, text }) => ({ id, title, text })))

const byId = new Map(documents.map((document) => [document.id, document]))

/**
 * Searches: Tavily where `TAVILY_API_KEY` is set, a SearXNG instance where `SEARXNG_URL` is, else the bundled library.
 * An endpoint that fails is an error that the agent receives; there is no silent fallback to other data.
 */
export async function webSearch(
  query: string,
  limit = 4,
  signal?: AbortSignal,
): Promise<{ readonly results: readonly SearchResult[]; readonly engine: string }> {
  const { TAVILY_API_KEY: tavilyKey, SEARXNG_URL: searxng } = process.env
  if (tavilyKey !== undefined && tavilyKey !== '')
    return { engine: 'tavily', results: await tavily(query, limit, tavilyKey, signal) }
  if (searxng !== undefined && searxng !== '')
    return { engine: 'searxng', results: await searx(query, limit, searxng, signal) }
  return { engine: 'bundled library', results: searchLibrary(query, limit) }
}

export function searchLibrary(query: string, limit = 4): readonly SearchResult[] {
  const found = index.search(query)
  const least = (found[0]?.score ?? 0) * worthwhile
  return found
    .filter(({ score }) => score >= least)
    .slice(0, limit)
    .flatMap(({ id }) => {
      const document = byId.get(id)
      if (document === undefined) return []
      const { title, url, date, text } = document
      return [{ title, url, date, snippet: snippet(text, query) }]
    })
}

/** The two sentences that share the most words with the query. */
function snippet(text: string, query: string): string {
  const words = new Set(query.toLowerCase().match(/\p{L}{3,}/gu) ?? [])
  const sentences = text.match(/[^.]+\.?/g) ?? [text]
  const score = (sentence: string): number =>
    (sentence.toLowerCase().match(/\p{L}{3,}/gu) ?? []).filter((word) => words.has(word)).length
  const best = sentences
    .map((sentence, at) => ({ sentence, at, score: score(sentence) }))
    .toSorted((a, b) => b.score - a.score || a.at - b.at)
  return best
    .slice(0, 2)
    .toSorted((a, b) => a.at - b.at)
    .map(({ sentence }) => sentence.trim())
    .join(' ')
}

async function searx(
  query: string,
  limit: number,
  base: string,
  signal?: AbortSignal,
): Promise<readonly SearchResult[]> {
  const url = new URL('search', base.endsWith('/') ? base : `${base}/`)
  url.search = new URLSearchParams({ q: query, format: 'json' }).toString()
  const found = (await answerOf(await fetch(url, signal === undefined ? {} : { signal }))) as {
    results?: { title?: string; url?: string; content?: string }[]
  }
  return (found.results ?? [])
    .slice(0, limit)
    .map(({ title = '', url: place = '', content = '' }) => ({ title, url: place, snippet: content }))
}

async function tavily(
  query: string,
  limit: number,
  key: string,
  signal?: AbortSignal,
): Promise<readonly SearchResult[]> {
  const answer = await fetch(process.env.TAVILY_URL ?? 'https://api.tavily.com/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, max_results: limit }),
    ...(signal === undefined ? {} : { signal }),
  })
  const found = (await answerOf(answer)) as { results?: { title?: string; url?: string; content?: string }[] }
  return (found.results ?? [])
    .slice(0, limit)
    .map(({ title = '', url = '', content = '' }) => ({ title, url, snippet: content }))
}

async function answerOf(answer: Response): Promise<unknown> {
  // SearXNG gives 403 to JSON until its settings allow that format.
  const hint = answer.status === 403 ? '; allow the format json in its settings' : ''
  if (!answer.ok) throw new Error(`the search engine answered ${answer.status}${hint}`)
  return answer.json()
}
