import { defined } from '@millrace/core'
import type { ModelSettings } from '@millrace/server'
import type { DoctorFinding } from './doctor.ts'

interface Provider {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** How long a provider may take to answer, in ms. */
const patience = 8000

/** Asks each provider that has a key for its list of models: that costs nothing, and shows that the key works. */
export async function modelFinding(settings: ModelSettings, offline: boolean): Promise<DoctorFinding> {
  const what = 'model'
  const providers = settings.model === 'offline' ? [] : providersOf(settings)
  if (providers.length === 0) return { what, state: 'good', says: 'the offline model, which needs nothing' }
  if (offline) return { what, state: 'warn', says: 'not called, because of --offline' }
  const answers = await Promise.all(providers.map(answerOf))
  const bad = answers.filter(({ problem }) => problem !== undefined)
  const says = answers.map(({ name, problem = 'answers' }) => `${name} ${problem}`).join('; ')
  if (bad.length === 0) return { what, state: 'good', says }
  return { what, state: 'bad', says, advice: 'check the key, the base URL and the network' }
}

function providersOf(settings: ModelSettings): readonly Provider[] {
  const { googleApiKey, anthropicApiKey, openaiApiKey, openaiBaseUrl, anthropicBaseUrl } = settings
  const google = settings.googleBaseUrl ?? 'https://generativelanguage.googleapis.com'
  return [
    ...(googleApiKey === undefined
      ? []
      : [
          {
            name: 'Gemini',
            url: `${bare(google)}/v1beta/models?pageSize=1`,
            headers: { 'x-goog-api-key': googleApiKey },
          },
        ]),
    ...(anthropicApiKey === undefined
      ? []
      : [
          {
            name: 'Claude',
            url: `${bare(anthropicBaseUrl ?? 'https://api.anthropic.com')}/v1/models?limit=1`,
            headers: { 'x-api-key': anthropicApiKey, 'anthropic-version': '2023-06-01' },
          },
        ]),
    ...(openaiApiKey === undefined && openaiBaseUrl === undefined
      ? []
      : [
          {
            name: openaiBaseUrl === undefined ? 'OpenAI' : new URL(openaiBaseUrl).host,
            url: `${bare(openaiBaseUrl ?? 'https://api.openai.com/v1')}/models`,
            headers: openaiApiKey === undefined ? {} : { authorization: `Bearer ${openaiApiKey}` },
          },
        ]),
  ]
}

async function answerOf({
  name,
  url,
  headers,
}: Provider): Promise<{ readonly name: string; readonly problem?: string }> {
  try {
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(patience) })
    await answer.body?.cancel()
    const problem = answer.ok
      ? undefined
      : answer.status === 401 || answer.status === 403
        ? 'refuses the key'
        : `answers ${answer.status}`
    return { name, ...defined({ problem }) }
  } catch (error) {
    const { cause, message } = error as { cause?: { code?: string }; message: string }
    return { name, problem: `cannot be reached (${cause?.code ?? message})` }
  }
}

const bare = (url: string): string => url.replace(/\/+$/, '')
